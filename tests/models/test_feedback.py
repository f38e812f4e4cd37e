"""Evidence becomes signed confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.feedback import FLOOR, HALF_LIFE_DAYS, History, to_confidence
from tests.models.papers import history_of


def confidence(**columns: object) -> float:
    return float(to_confidence(history_of(1, **columns))[0])


def test_a_bookmark_is_the_unit():
    assert confidence() == 1.0


def test_opening_and_finishing_add_and_high_ratings_add_more():
    plain, opened, finished = confidence(), confidence(opens=1), confidence(finished=True)
    assert plain < opened < finished < confidence(ratings=4) < confidence(ratings=5)


def test_opening_often_stops_adding():
    assert confidence(opens=100) == confidence(opens=10_000)


@pytest.mark.parametrize("rating", [1, 2])
def test_a_low_rating_of_a_saved_and_finished_paper_is_a_dislike(rating):
    assert confidence(saved=True, finished=True, opens=9, ratings=rating) < 0


def test_one_star_weighs_more_than_two():
    assert confidence(ratings=1) < confidence(ratings=2)


def test_three_stars_are_a_mild_yes():
    assert 0 < confidence(saved=False, ratings=3) < confidence(saved=False, ratings=4)


def test_a_dismissal_beats_a_bookmark_and_a_good_rating_beats_a_dismissal():
    assert confidence(saved=True, dismissed=True) < 0
    assert confidence(dismissed=True, ratings=5) > 0


def test_no_evidence_is_no_signal():
    assert confidence(saved=False) == 0.0


def test_evidence_fades_to_a_floor():
    assert confidence(age_days=HALF_LIFE_DAYS) == pytest.approx(FLOOR + (1 - FLOOR) / 2)
    assert confidence(age_days=1e6) == pytest.approx(FLOOR)
    assert confidence(age_days=float("nan")) == 1.0


def test_columns_have_one_length():
    empty = History.empty()
    columns = {name: getattr(empty, name) for name in History.__slots__}
    with pytest.raises(ValueError, match="one length"):
        History(**{**columns, "item_ids": np.array([1])})


@given(
    saved=st.booleans(),
    dismissed=st.booleans(),
    opens=st.integers(0, 10**6),
    rating=st.integers(0, 5),
    age=st.floats(0, 1e5),
)
def test_confidence_is_finite_and_bounded(saved, dismissed, opens, rating, age):
    value = confidence(saved=saved, dismissed=dismissed, opens=opens, ratings=rating, age_days=age)
    assert -2.0 <= value <= 4.5
