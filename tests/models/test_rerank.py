"""Marginal relevance against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.content.similar import cosine
from models.ranking.model import Model
from models.ranking.rerank import diversified
from models.training import train
from tests.models.papers import training_set

ROWS = np.array([8, 3, 10, 17, 9, 2, 5, 21, 0, 14])
SCORES = np.linspace(1.0, 0.1, len(ROWS)).astype(np.float32)


@pytest.mark.parametrize("diversity", [0.1, 0.5, 0.9, 1.0])
def test_each_step_takes_what_the_definition_says(model: Model, diversity: float):
    found = diversified(model.content, ROWS, SCORES, limit=6, diversity=diversity).tolist()
    relevance = dict(zip(ROWS.tolist(), SCORES.tolist(), strict=True))
    near = cosine(model.content, np.arange(len(model.items)))
    for step in range(1, 6):
        value = {
            row: (1 - diversity) * relevance[row] - diversity * near[row, found[:step]].max()
            for row in ROWS.tolist()
            if row not in found[:step]
        }
        assert value[found[step]] == pytest.approx(max(value.values()), abs=1e-6)


@given(limit=st.integers(0, 12), diversity=st.floats(-1, 2))
def test_a_slate_is_of_candidates_each_once_and_the_best_is_first(
    model: Model, limit: int, diversity: float
):
    found = diversified(model.content, ROWS, SCORES, limit=limit, diversity=diversity)
    assert len(set(found.tolist())) == len(found) == min(limit, len(ROWS))
    assert set(found.tolist()) <= set(ROWS.tolist())
    assert found[:1].tolist() == ROWS[: min(limit, 1)].tolist()


def test_without_diversity_the_order_is_that_of_the_scores(model: Model):
    assert diversified(model.content, ROWS, SCORES, limit=7, diversity=0).tolist() == list(ROWS[:7])


def test_the_most_diverse_slate_is_less_alike_than_the_best_scores(model: Model):
    mixed = diversified(model.content, ROWS, SCORES, limit=4, diversity=1.0)
    assert cosine(model.content, mixed).sum() < cosine(model.content, ROWS[:4]).sum()


def test_copies_and_empty_texts_do_not_break_it():
    same = train(training_set(["graph networks for tables"] * 5 + [""] * 3))
    found = diversified(same.content, np.arange(8), np.ones(8, np.float32), limit=8, diversity=1.0)
    assert sorted(found.tolist()) == list(range(8))
