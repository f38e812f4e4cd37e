"""Team draft: one list of two, fair to both."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evaluation.interleaving import draft_chances, team_draft

ranked = st.lists(st.integers(0, 30), unique=True, max_size=20)


def draft(first, second, *, limit=10, seed=0):
    return team_draft(
        np.array(first, np.int64),
        np.array(second, np.int64),
        limit=limit,
        rng=np.random.default_rng(seed),
    )


@settings(deadline=None)
@given(first=ranked, second=ranked, limit=st.integers(0, 25), seed=st.integers(0, 99))
def test_it_is_as_long_as_it_can_be_and_has_nothing_twice(first, second, limit, seed):
    ids = draft(first, second, limit=limit, seed=seed).item_ids.tolist()
    assert len(ids) == len(set(ids)) == min(limit, len({*first, *second}))


@settings(deadline=None)
@given(first=ranked, second=ranked, seed=st.integers(0, 99))
def test_each_team_keeps_the_order_of_its_list(first, second, seed):
    made = draft(first, second, limit=40, seed=seed)
    for team, own in ((False, first), (True, second)):
        places = [own.index(i) for i in made.item_ids[made.second == team].tolist()]
        assert places == sorted(places)


@settings(deadline=None)
@given(first=st.permutations(range(20)), second=st.permutations(range(20)), seed=st.integers(0, 99))
def test_teams_are_as_large_at_every_place(first, second, seed):
    made = draft(first, second, limit=20, seed=seed)
    lead = np.cumsum(np.where(made.second, 1, -1))
    assert np.abs(lead).max() <= 1
    assert not lead[1::2].any()


def test_the_best_of_both_come_first():
    assert {*draft([1, 2, 3], [7, 8, 9]).item_ids[:2].tolist()} == {1, 7}
    assert draft([1, 2, 3], [1, 2, 3]).item_ids.tolist() == [1, 2, 3]


def test_a_list_that_has_run_out_leaves_the_rest_to_the_other():
    made = draft([1], [2, 3, 4])
    assert made.item_ids[made.second].tolist() == [2, 3, 4]
    assert draft([], []).item_ids.tolist() == []


def test_the_same_generator_gives_the_same_list():
    one, two = (draft(range(10), range(5, 15), seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.item_ids, two.item_ids)
    np.testing.assert_array_equal(one.second, two.second)


def test_who_has_no_preference_gives_either_team_as_much():
    """Always the third paper of the list, whatever it is: no team may gain by that."""
    third = [draft(range(10), range(9, -1, -1), seed=seed).second[2] for seed in range(2_000)]
    assert abs(np.mean(third) - 0.5) < 0.04


class Coins:
    """A generator whose coins are known, tails after the last of them."""

    def __init__(self, coins):
        self.left = list(coins)

    def integers(self, _n):
        return self.left.pop(0) if self.left else 0


short = st.lists(st.integers(0, 8), unique=True, max_size=6)


@settings(deadline=None, max_examples=60)
@given(first=short, second=short, limit=st.integers(0, 7))
def test_the_chances_are_those_of_all_coins(first, second, limit):
    throws = list(product((0, 1), repeat=7))
    counted = dict.fromkeys([*first, *second], 0)
    for coins in throws:
        lists = np.array(first, np.int64), np.array(second, np.int64)
        for item in team_draft(*lists, limit=limit, rng=Coins(coins)).item_ids.tolist():
            counted[item] += 1
    told = draft_chances(np.array(first), np.array(second), limit=limit)
    assert told == {item: n / len(throws) for item, n in counted.items()}


@settings(deadline=None)
@given(first=ranked, second=ranked, limit=st.integers(0, 25))
def test_the_chances_sum_to_the_length(first, second, limit):
    chances = draft_chances(np.array(first), np.array(second), limit=limit).values()
    assert sum(chances) == pytest.approx(min(limit, len({*first, *second})))
    assert all(0 <= chance <= 1 for chance in chances)
