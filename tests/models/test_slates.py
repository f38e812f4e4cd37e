"""Whatever the model and whatever is asked: what no slate ever has, and what every slate has."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import IntArray
from models.config import Config
from models.feedback import History
from models.ranking.model import Model
from models.ranking.twins import twins
from models.recommending import Request, Slate, recommend
from models.training import train
from tests.models.papers import history_of, ids_of, saved, training_set

WORDS = [f"{first}{second}" for first in "bcdfgklmnprst" for second in ("andor", "elium", "oster")]
UNKNOWN = 7
"""An id that no catalogue here has."""


@dataclass(frozen=True)
class Asked:
    model: Model
    history: History
    request: Request
    slate: Slate

    @property
    def met(self) -> set[int]:
        request = self.request
        return {
            int(item_id)
            for ids in (self.history.item_ids, request.exclude, request.seeds)
            for item_id in ids
        }

    @property
    def open(self) -> set[int]:
        """What fits and was not met."""
        allowed = self.request.allowed
        fitting = self.model.item_ids if allowed is None else allowed
        return (set(fitting.tolist()) & set(self.model.item_ids.tolist())) - self.met

    def have_twins(self, ids: set[int], others: set[int]) -> set[int]:
        """Which of the papers have a twin, other than themselves, among the others."""
        left, right = self._rows(ids), self._rows(others)
        i, j = twins(self.model.content, self.model.title_keys, left, right)
        is_other = left[i] != right[j]
        return set(self.model.item_ids[left[i[is_other]]].tolist())

    def _rows(self, ids: set[int]) -> IntArray:
        return self.model.items.positions(np.array(sorted(ids), np.int64))


@st.composite
def models_(draw: st.DrawFn) -> Model:
    """Up to 30 papers: abstracts, near copies of them, bare titles, nothing; up to 6 people."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    texts: list[str] = []
    for kind in draw(st.lists(st.sampled_from("acte"), max_size=30)):
        long = [text for text in texts if len(text) > 200]
        if kind == "c" and long:
            texts.append(f"{long[int(rng.integers(len(long)))]} {rng.choice(WORDS)}")
        elif kind == "e":
            texts.append("")
        else:
            texts.append(" ".join(rng.choice(WORDS, 45 if kind in "ac" else 5)))
    m = len(texts)
    n_saves = int(rng.integers(0, 40)) if m else 0
    data = training_set(
        texts,
        user_ids=rng.integers(1, 7, n_saves),
        history=History.of_saved(100 + rng.integers(0, max(m, 1), n_saves)),
    )
    years = np.where(rng.random(m) < 0.5, np.nan, 2026 - rng.integers(0, 30, m)).astype(np.float32)
    keys = rng.integers(0, 9, (m, 2)) * (rng.random((m, 1)) < 0.4)
    whole = replace(data, published_year=years, title_keys=keys)
    return train(whole, Config(factors=4, iterations=1, threads=1))


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    model = draw(models_())
    ids = st.sampled_from([*model.item_ids.tolist(), UNKNOWN])
    few = st.lists(ids, max_size=4).map(lambda found: np.array(found, np.int64))
    mine = draw(st.lists(ids, max_size=12, unique=True))
    flags = [draw(st.lists(st.booleans(), min_size=len(mine), max_size=len(mine))) for _ in "sd"]
    stars = draw(st.lists(st.integers(0, 5), min_size=len(mine), max_size=len(mine)))
    history = history_of(*mine, saved=flags[0], dismissed=flags[1], ratings=stars)
    request = Request(
        limit=draw(st.integers(0, 35)),
        allowed=draw(st.none() | st.lists(ids).map(lambda found: np.array(found, np.int64))),
        exclude=draw(few),
        seeds=draw(few),
        diversity=draw(st.floats(0, 1)),
        freshness=draw(st.floats(0, 1)),
        exploration=draw(st.sampled_from([0.0, 0.1, 0.5])),
    )
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return Asked(model, history, request, recommend(model, history, request, rng=rng))


@settings(max_examples=150, deadline=None)
@given(asked=asked())
def test_never_what_must_never_be(asked: Asked):
    found = ids_of(asked.slate)
    assert len(set(found)) == len(found) <= asked.request.limit
    assert set(found) <= asked.open
    assert asked.have_twins(set(found), set(found)) == set()
    assert asked.have_twins(set(found), asked.met) == set()
    for item in asked.slate.items:
        assert np.isfinite(item.score)
        assert sum(item.parts.values()) == pytest.approx(item.score, rel=1e-5, abs=1e-5)
        assert 0 < item.propensity <= 1 + 1e-9
        assert not item.explored or asked.request.exploration > 0


@settings(max_examples=150, deadline=None)
@given(asked=asked())
def test_a_slate_is_short_only_when_nothing_is_left(asked: Asked):
    found = set(ids_of(asked.slate))
    if len(found) < asked.request.limit:
        left = asked.open - found
        assert left == asked.have_twins(left, found | asked.met)


# ---- Freshness ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dated(model: Model) -> Model:
    """The invented papers, every second from 2026, the others ten years older."""
    years = np.where(np.arange(len(model.items)) % 2, 2016, 2026).astype(np.float32)
    return replace(model, published_year=years).with_prior()


def slate_of(model: Model, history: History, **wanted: object) -> Slate:
    request = Request(limit=23, diversity=0.0, **wanted)
    return recommend(model, history, request, rng=np.random.default_rng(0))


def test_freshness_is_a_part_of_its_own_that_doubles_what_is_new(dated: Model):
    plain = {item.item_id: item.score for item in slate_of(dated, saved("moat")).items}
    for item in slate_of(dated, saved("moat"), freshness=1.0).items:
        gain = (2.0 if item.item_id % 2 == 0 else 1 + 2**-5) if plain[item.item_id] > 0 else 1.0
        assert item.score == pytest.approx(gain * plain[item.item_id], abs=1e-6)
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-6)
        assert item.parts["freshness"] >= 0


def test_the_fresher_the_higher_are_new_papers(dated: Model):
    def mean_place(freshness: float) -> float:
        found = ids_of(slate_of(dated, saved("mycel"), freshness=freshness))
        return float(np.mean([place for place, item_id in enumerate(found) if item_id % 2 == 0]))

    assert mean_place(1.0) < mean_place(0.3) < mean_place(0.0)


def test_without_freshness_there_is_no_such_part(dated: Model):
    assert all("freshness" not in item.parts for item in slate_of(dated, saved("moat")).items)
