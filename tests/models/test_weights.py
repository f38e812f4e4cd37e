"""What the parts weigh: by paper, person and community."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.weights import _pool
from models import FloatArray, IntArray
from models.feedback import History
from models.ranking.blend import blend
from models.ranking.model import Model
from models.ranking.part import Evidence
from models.ranking.weights import (
    DENSE,
    LEARNED,
    OF_READERS,
    OF_UNREAD,
    SPARSE,
    density,
    weight_of,
)
from models.training import train
from tests.models.papers import IDS, PAPERS, training_set


@pytest.fixture(scope="module")
def model() -> Model:
    history = History.of_saved(np.array([IDS["moat"], IDS["atlas"]]))
    return train(training_set(list(PAPERS.values()), user_ids=np.array([1, 1]), history=history))


def read_by(model: Model, people: list[float], n_people: int) -> Model:
    """The same papers, of which the first few have so many readers."""
    counts = np.zeros(len(model.items), np.float32)
    counts[: len(people)] = people
    return replace(model, people=counts, n_people=n_people)


def of_rows(rows: IntArray) -> Evidence:
    return Evidence(rows=rows, confidence=np.ones(len(rows), np.float32))


def of(n_papers: int) -> Evidence:
    return of_rows(np.arange(n_papers))


def weights(name: str, model: Model, n_papers: int = 7) -> FloatArray:
    return weight_of(name, model, of(n_papers))


def test_density_goes_from_sparse_to_dense_by_the_papers_that_are_read(model: Model):
    found = [density(read_by(model, [n, n, n], 100)) for n in (0, 1, SPARSE, 6, DENSE, 500)]
    assert found[:3] == [0, 0, 0]
    assert 0 < found[3] < 1
    assert found[4:] == [1, 1]
    assert density(read_by(model, [SPARSE, DENSE], 100)) == pytest.approx(
        np.log((SPARSE + DENSE) / 2 / SPARSE) / np.log(DENSE / SPARSE)
    )


def test_weights_are_the_learned_numbers_of_paper_person_and_density(model: Model):
    dense = read_by(model, [9.0, 11.0], 1_000_000)
    for name, (base, by_paper, by_person, by_density, by_both) in LEARNED.items():
        for n_papers in (1, 7):
            grown = np.log(n_papers) - 2
            for row, known in ((0, 9 / 12), (1, 11 / 14), (5, 0.0)):
                told = base + by_person * grown + by_density + (by_paper + by_both) * known
                found = weights(name, dense, n_papers)[row]
                assert found == pytest.approx(max(told, 0), abs=1e-4)


def test_for_a_person_alone_it_makes_no_difference_who_keeps_a_paper(model: Model):
    alone = read_by(model, [1.0, 1.0], 1)
    for name in LEARNED:
        assert np.ptp(weights(name, alone)) == 0
    blended = blend(alone, of(2))
    for name in ("collaborative", "similarity", "neighbours", "prior"):
        assert not np.any(blended.gains[name] * blended.parts[name].raw)


def test_no_weight_is_negative(model: Model):
    crowded = read_by(model, [1e6] * len(model.items), 10_000_000)
    assert all(weights(name, crowded, n).min() >= 0 for name in LEARNED for n in (1, 150, 10_000))


def test_what_is_learned_is_what_is_served(model: Model):
    """The features of the benchmark, times the learned numbers, are the scores of the blend."""
    rng = np.random.default_rng(0)
    people = rng.integers(0, 12, len(model.items)).astype(float)
    busy = train(
        training_set(
            list(PAPERS.values()),
            user_ids=np.repeat(np.arange(40), 4),
            history=History.of_saved(rng.choice(list(IDS.values()), 160)),
        )
    )
    crowded = read_by(busy, people.tolist(), 10**9)
    own = np.array([0, 3, 5])
    pool = _pool(crowded, own, np.array([1]), np.setdiff1d(np.arange(len(crowded.items)), own))
    by_kind = np.array(list(LEARNED.values())).T.ravel()
    prior = np.array([OF_READERS, OF_UNREAD]).T.ravel()
    told = pool.features() @ np.concatenate([by_kind, prior])
    served = blend(crowded, of_rows(own))
    unclipped = np.all([served.gains[name][pool.rows] > 0 for name in LEARNED], axis=0)
    assert np.count_nonzero(unclipped) >= 5
    np.testing.assert_allclose(told[unclipped], served.scores[pool.rows][unclipped], atol=1e-4)
