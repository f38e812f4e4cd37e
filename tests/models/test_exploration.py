"""A share of the slate is drawn, and the chances that are reported are the chances there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ranking.explore import explore, propensities
from models.ranking.model import Model
from models.recommending import Request, recommend
from tests.models.papers import ask, ids_of, saved

DRAWS = 20_000
POOL = np.array([7, 3, 9, 1, 12, 5, 20, 4, 15, 2, 11, 8])


@pytest.mark.parametrize("share", [0.04, 0.3, 0.5])
def test_papers_come_as_often_as_is_reported(share: float):
    chosen, rng = POOL[[0, 2, 1, 4, 3, 6]], np.random.default_rng(0)
    came = dict.fromkeys(POOL.tolist(), 0)
    reported: dict[int, float] = {}
    for _ in range(DRAWS):
        slate = explore(chosen, POOL, share, rng=rng)
        for row, chance in zip(slate.rows.tolist(), slate.propensities.tolist(), strict=True):
            came[row] += 1
            assert reported.setdefault(row, chance) == chance
    assert set(reported) == set(POOL.tolist())
    assert sum(reported.values()) == pytest.approx(len(chosen))
    for row, chance in reported.items():
        error = 4.5 * np.sqrt(chance * (1 - chance) / DRAWS) + 1e-9
        assert came[row] / DRAWS == pytest.approx(chance, abs=error)


@given(
    n_pool=st.integers(1, 60),
    n=st.integers(1, 60),
    share=st.floats(0.0, 0.6),
    seed=st.integers(0, 999),
)
def test_the_chances_of_the_whole_pool_sum_to_the_length_of_the_slate(
    n_pool: int, n: int, share: float, seed: int
):
    rng = np.random.default_rng(seed)
    pool = rng.permutation(100)[:n_pool]
    chosen = pool[: min(n, n_pool)]
    slate = explore(chosen, pool, share, rng=rng)
    assert len(set(slate.rows.tolist())) == len(slate.rows) == len(chosen)
    assert set(slate.rows.tolist()) <= set(pool.tolist())
    assert np.all((slate.propensities > 0) & (slate.propensities <= 1 + 1e-12))
    expected = min(share, 0.5) * len(chosen)
    if n_pool > len(chosen) and expected > 0:
        whole = propensities(pool, chosen, n_pool, expected)
        assert whole.sum() == pytest.approx(len(chosen))
        assert slate.is_drawn.sum() in {int(expected), int(expected) + 1}


def test_the_places_kept_are_the_first_and_in_their_order():
    slate = explore(POOL[:8], POOL, 0.5, rng=np.random.default_rng(1))
    assert slate.rows[:4].tolist() == POOL[:4].tolist()
    assert slate.is_drawn.tolist() == [False] * 4 + [True] * 4
    assert slate.propensities[:4].tolist() == [1.0] * 4
    assert slate.propensities[4:] == pytest.approx([4 / 8] * 4)


def test_with_nothing_below_the_slate_nothing_is_drawn():
    slate = explore(POOL, POOL, 0.5, rng=np.random.default_rng(1))
    assert slate.rows.tolist() == POOL.tolist()
    assert not slate.is_drawn.any()


def test_without_exploration_everything_shown_was_certain(model: Model):
    items = ask(model, saved("moat")).items
    assert {(item.propensity, item.explored) for item in items} == {(1.0, False)}


def test_a_slate_says_what_was_drawn_and_how_likely_it_was(model: Model):
    usual = ids_of(ask(model, saved("moat"), 4))
    slate = ask(model, saved("moat"), 4, exploration=0.25)
    assert ids_of(slate)[:3] == usual[:3]
    assert [item.explored for item in slate.items] == [False, False, False, True]
    assert [item.propensity for item in slate.items] == pytest.approx([1, 1, 1, 1 / 20])


def test_the_same_generator_draws_the_same_slate(model: Model):
    def drawn(seed: int) -> list[int]:
        request = Request(limit=6, exploration=0.5)
        return ids_of(recommend(model, saved("moat"), request, rng=np.random.default_rng(seed)))

    assert drawn(3) == drawn(3)
    assert len({tuple(drawn(seed)) for seed in range(20)}) > 10
