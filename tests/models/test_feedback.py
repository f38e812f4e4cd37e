"""Evidence becomes signed confidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.feedback import (
    FLOOR,
    HALF_LIFE_DAYS,
    LOW_QUALITY,
    OPENING_COUNTS_DAYS,
    History,
    to_confidence,
)
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


def test_more_like_this_is_worth_a_bookmark():
    assert confidence(saved=False, more_like_this=True) == confidence()
    assert confidence(more_like_this=True) == 2 * confidence()


def test_low_quality_is_a_milder_dislike_than_another_topic():
    mild = confidence(saved=False, low_quality=True)
    assert mild == pytest.approx(LOW_QUALITY)
    assert confidence(saved=False, dismissed=True) < mild < 0


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({"ratings": 1}, {"dismissed": True}),
        ({"ratings": 1}, {"low_quality": True}),
        ({"ratings": 2}, {"more_like_this": True}),
        ({"ratings": 5}, {"dismissed": True}),
        ({"ratings": 5}, {"low_quality": True}),
        ({"dismissed": True}, {"low_quality": True, "more_like_this": True, "ratings": 3}),
        ({"low_quality": True}, {"more_like_this": True, "ratings": 3, "opens": 4}),
    ],
)
def test_of_contradictions_the_first_in_the_order_counts(first, then):
    assert confidence(**first, **then) == confidence(**first)


def test_an_opening_is_forgotten_if_nothing_comes_of_it():
    young, old = OPENING_COUNTS_DAYS - 1, OPENING_COUNTS_DAYS
    assert confidence(saved=False, opens=1, age_days=young) > 0
    assert confidence(saved=False, opens=9, age_days=old) == 0
    assert confidence(saved=True, opens=1, age_days=old) > confidence(age_days=old)
    history = history_of(1, 2, 3, saved=[False, False, True], opens=1, age_days=[young, old, old])
    assert history.known_ids.tolist() == [1, 3]


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
    low_quality=st.booleans(),
    more_like_this=st.booleans(),
    opens=st.integers(0, 10**6),
    rating=st.integers(0, 5),
    age=st.floats(0, 1e5),
)
def test_confidence_is_bounded_and_no_evidence_is_a_candidate(rating, age, **said):
    history = history_of(1, ratings=rating, age_days=age, **said)
    value = float(to_confidence(history)[0])
    assert -2.0 <= value <= 5.5
    assert value == 0 or history.known_ids.tolist() == [1]
