"""The test that may be looked at all the time: exact, never too sure, and quick where it can be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import beta

from models.evaluation.interleaving import team_draft
from models.evaluation.sequential import MIXTURE, Finding, interval, log_e_value, verdict

ALPHA, MARGIN = 0.05, 0.1
counts = st.integers(0, 300)


def simulated(p: float, *, people: int = 1_000, outcomes: int = 2_000):
    """Wins and losses (people, outcomes) up to each outcome of a coin."""
    tossed = np.random.default_rng(20261201).random((people, outcomes)) < p
    wins = np.cumsum(tossed, axis=1)
    return wins, np.arange(1, outcomes + 1) - wins


def test_the_e_value_is_the_ratio_to_the_mixture():
    expected = beta(MIXTURE + 7, MIXTURE + 3) / beta(MIXTURE, MIXTURE) * 2**10
    assert math.exp(log_e_value(7, 3)) == pytest.approx(expected)
    assert log_e_value(0, 0) == 0


@settings(deadline=None)
@given(wins=counts, losses=counts)
def test_under_a_fair_coin_the_next_outcome_leaves_it_as_it_is(wins, losses):
    """On average: this is what makes it a martingale, and Ville's inequality hold."""
    after = (np.exp(log_e_value(wins + 1, losses)) + np.exp(log_e_value(wins, losses + 1))) / 2
    assert after == pytest.approx(np.exp(log_e_value(wins, losses)), rel=1e-9)


def test_without_a_difference_one_is_rarely_found_however_often_one_looks():
    wins, losses = simulated(0.5)
    is_stopped = (log_e_value(wins, losses) >= -math.log(ALPHA)).any(axis=1)
    assert is_stopped.mean() <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / len(wins))


def test_people_who_choose_by_place_alone_find_no_difference():
    """The whole way: shared slates, savers who take what is high up, a voice a day."""
    rng = np.random.default_rng(20261201)
    one, other = np.arange(10), np.arange(9, -1, -1)
    chance = 0.5 / np.arange(1, 11)
    outcomes = np.array(
        [
            np.sign(np.where(team_draft(one, other, limit=10, rng=rng).second, 1, -1) @ saved)
            for saved in rng.random((9_000, 10)) < chance
        ]
    ).reshape(150, 60)
    wins, losses = np.cumsum(outcomes > 0, axis=1), np.cumsum(outcomes < 0, axis=1)
    is_stopped = (log_e_value(wins, losses) >= -math.log(ALPHA)).any(axis=1)
    assert is_stopped.mean() <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / 150)


def test_six_of_ten_are_found_half_of_the_time_within_two_hundred():
    wins, losses = simulated(0.6)
    is_strong = log_e_value(wins, losses) >= -math.log(ALPHA)
    assert is_strong.any(axis=1).all()
    assert np.median(is_strong.argmax(axis=1) + 1) < 200
    at = is_strong.argmax(axis=1)
    rows = np.arange(len(wins))
    assert (wins[rows, at] > losses[rows, at]).mean() > 0.99, "and it is the right side"


@pytest.mark.parametrize("p", [0.3, 0.5, 0.65])
def test_the_interval_holds_the_truth_at_all_looks_together(p):
    wins, losses = simulated(p)
    ever_outside = (log_e_value(wins, losses, p) >= -math.log(ALPHA)).any(axis=1)
    assert ever_outside.mean() <= ALPHA + 2 * math.sqrt(ALPHA * (1 - ALPHA) / len(wins))


@settings(deadline=None)
@given(wins=counts, losses=counts)
def test_the_interval_is_where_the_e_value_is_small(wins, losses):
    low, high = interval(wins, losses, alpha=ALPHA)
    assert 0 <= low <= high <= 1
    for end in (low, high):
        if 0 < end < 1 - 1e-9:  # nearer to 1 a float no longer tells them apart
            assert log_e_value(wins, losses, end) == pytest.approx(-math.log(ALPHA), abs=1e-3)
    if wins + losses:
        assert low <= wins / (wins + losses) <= high


def test_nothing_seen_says_nothing():
    assert interval(0, 0, alpha=ALPHA) == (0, 1)
    nothing = np.zeros(0, np.int64)
    assert verdict(nothing, nothing, alpha=ALPHA, margin=MARGIN).finding is Finding.OPEN


def test_a_side_wins_at_the_first_look_that_shows_it():
    wins, losses = np.array([5, 14, 15, 16]), np.array([0, 0, 0, 0])
    found = verdict(wins, losses, alpha=ALPHA, margin=MARGIN)
    assert (found.finding, found.look) == (Finding.WINS, 2)
    assert verdict(losses, wins, alpha=ALPHA, margin=MARGIN).finding is Finding.LOSES


def test_what_was_found_stays_found():
    wins, losses = np.array([15, 15]), np.array([0, 15])
    assert verdict(wins, losses, alpha=ALPHA, margin=MARGIN).finding is Finding.WINS


def test_an_even_course_ends_as_no_difference():
    wins = np.arange(0, 400)
    found = verdict(wins, wins, alpha=ALPHA, margin=MARGIN)
    assert found.finding is Finding.NO_DIFFERENCE
    assert found.look is not None
    assert 80 < found.look < 150
    narrow = verdict(wins, wins, alpha=ALPHA, margin=0.05)
    assert narrow.finding is Finding.OPEN, "a smaller difference takes longer to rule out"


@settings(deadline=None)
@given(wins=counts, losses=counts)
def test_no_difference_is_an_interval_within_the_margin(wins, losses):
    found = verdict(np.array([wins]), np.array([losses]), alpha=ALPHA, margin=MARGIN).finding
    low, high = interval(wins, losses, alpha=ALPHA)
    if low > 0.5 or high < 0.5:
        assert found in {Finding.WINS, Finding.LOSES}
    else:
        is_within = low > 0.5 - MARGIN and high < 0.5 + MARGIN
        assert found is (Finding.NO_DIFFERENCE if is_within else Finding.OPEN)


def test_a_difference_beyond_the_margin_is_not_called_none():
    wins, losses = simulated(0.65, people=100, outcomes=600)
    found = [
        verdict(w, lo, alpha=ALPHA, margin=MARGIN).finding
        for w, lo in zip(wins, losses, strict=True)
    ]
    assert found.count(Finding.NO_DIFFERENCE) <= 5
    assert found.count(Finding.WINS) >= 90
