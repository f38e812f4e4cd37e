"""Every score can be taken apart without a rest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.feedback import History
from models.ranking.blend import PARTS, blend
from models.ranking.explain import shares
from models.ranking.model import Model
from models.recommending import evidence_of
from models.training import train
from tests.models.papers import IDS, PAPERS, ask, history_of, saved, training_set


@pytest.fixture(scope="module")
def busy() -> Model:
    """The invented papers and forty people, so that all three parts have something to say."""
    rng = np.random.default_rng(3)
    user_ids = np.repeat(np.arange(40), 6)
    items = np.concatenate([rng.choice(list(IDS.values()), 6, replace=False) for _ in range(40)])
    return train(
        training_set(list(PAPERS.values()), user_ids=user_ids, history=History.of_saved(items))
    )


def test_parts_sum_to_the_score(busy):
    for history in (saved("moat", "atlas"), History.empty(), history_of(IDS["moat"], ratings=1)):
        for item in ask(busy, history, 20).items:
            assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)
            assert set(PARTS) <= set(item.parts)


def test_all_three_parts_speak(busy):
    top = ask(busy, saved("moat", "atlas", "keel"), 20).items
    assert all(any(item.parts[name] > 0 for item in top) for name in PARTS)


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.sampled_from(list(PAPERS)), min_size=1, max_size=24, unique=True),
    ratings=st.lists(st.sampled_from([0, 3, 4, 5]), min_size=24, max_size=24),
    ages=st.lists(st.floats(0, 5000), min_size=24, max_size=24),
)
def test_shares_of_the_persons_papers_sum_to_the_score(busy, names, ratings, ages):
    n = len(names)
    history = history_of(*(IDS[x] for x in names), ratings=ratings[:n], age_days=ages[:n])
    blended = blend(busy, evidence_of(busy, history))
    targets = np.arange(len(PAPERS))
    amounts = shares(blended, targets)
    scale = max(1.0, float(np.abs(blended.scores).max()))
    np.testing.assert_allclose(amounts.sum(axis=1), blended.scores, atol=1e-5 * scale)


def test_the_reason_for_a_relative_is_the_relative(busy):
    slate = ask(busy, saved("moat", "atlas", "abacus"), 10)
    ebb = next(item for item in slate.items if item.item_id == IDS["ebb"])
    assert ebb.because[0].item_id == IDS["moat"]
    assert len(ebb.because) <= 3
    assert all(reason.amount > 0 for reason in ebb.because)


def test_reasons_are_left_out_when_not_wanted(busy):
    assert all(not i.because for i in ask(busy, saved("moat"), 5, explain=False).items)


def test_reasons_name_liked_papers_only(busy):
    history = history_of(IDS["moat"], IDS["atlas"], ratings=[0, 1])
    reasons = {r.item_id for item in ask(busy, history, 20).items for r in item.because}
    assert reasons == {IDS["moat"]}
