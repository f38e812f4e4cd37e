"""Learned likeness of papers: what it finds, what it leaves alone, and its slopes."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from models import config
from models.collaborative import item_similarity
from models.collaborative.item_similarity import (
    LONGEST_LIST,
    ItemSimilarity,
    _batches,
    _halves,
    _Learner,
    _softmax_errors,
    _weights_of,
    extend_similarity,
    fit_similarity,
    person_weights,
)
from models.config import Config
from models.interactions import empty_csr, unit_rows

CONFIG = Config(embedding=8, hold_own=0.3)
"""Sixty people may move more than the thousands do for whom the defaults are."""
N_GROUPS, GROUP = 3, 8
"""Papers 0 to 7 are kept by one circle of people, 8 to 15 by another, 16 to 23 by a third."""
M = N_GROUPS * GROUP


def circles(n_people: int = 60, seed: int = 0) -> sp.csr_matrix:
    """Each person keeps five of the papers of one circle."""
    rng = np.random.default_rng(seed)
    cells = np.zeros((n_people, M), np.float32)
    for person in range(n_people):
        group = person % N_GROUPS
        cells[person, group * GROUP + rng.choice(GROUP, 5, replace=False)] = 1
    return sp.csr_matrix(cells)


def words_of(groups: np.ndarray) -> sp.csr_matrix:
    """Papers of a group have two words of it in common; all have a third."""
    cells = np.zeros((len(groups), 2 * N_GROUPS + 1), np.float32)
    for row, group in enumerate(groups):
        cells[row, [2 * group, 2 * group + 1, -1]] = 1
    return sp.csr_matrix(cells)


GROUPS = np.repeat(np.arange(N_GROUPS), GROUP)
WORDS = words_of(GROUPS)
NO_WORDS = empty_csr(M, 0)


def ranked(items: np.ndarray, rows: list[int]) -> np.ndarray:
    scores = items @ (person_weights(np.ones(len(rows), np.float32)) @ items[rows])
    scores[rows] = -np.inf
    return np.argsort(-scores, kind="stable")


@pytest.mark.parametrize("words", [WORDS, NO_WORDS], ids=["with words", "by people alone"])
def test_two_papers_bring_the_rest_of_their_circle(words: sp.csr_matrix):
    similarity = fit_similarity(circles(), words, CONFIG, seed=0)
    assert similarity.items.dtype == np.float32
    for group in range(N_GROUPS):
        first = group * GROUP
        top = ranked(similarity.items, [first, first + 1])[: GROUP - 2]
        assert set(top) == set(range(first + 2, first + GROUP))


def test_a_paper_that_nobody_keeps_is_ranked_by_its_words():
    kept = circles().toarray()
    unread = [2, 10, 18]
    kept[:, unread] = 0
    similarity = fit_similarity(sp.csr_matrix(kept), WORDS, CONFIG, seed=0)
    for group, row in enumerate(unread):
        order = list(ranked(similarity.items, [group * GROUP, group * GROUP + 1]))
        others = [row for row in range(M) if GROUPS[row] != group]
        assert order.index(row) < min(order.index(other) for other in others)


def test_a_paper_in_the_catalogue_unread_is_as_one_that_comes_later():
    kept = circles().toarray()
    kept[:, 5] = 0
    similarity = fit_similarity(sp.csr_matrix(kept), WORDS, CONFIG, seed=0)
    grown = extend_similarity(similarity, WORDS, rows=np.arange(M, 2 * M))
    same = np.isclose(similarity.items, grown.items[M:], atol=1e-6).all(axis=1)
    assert np.flatnonzero(same).tolist() == [5]
    np.testing.assert_array_equal(grown.items[:M], similarity.items)
    replaced = extend_similarity(similarity, WORDS[:1], rows=np.array([5]))
    np.testing.assert_allclose(replaced.items[5], grown.items[M], atol=1e-6)
    assert len(replaced.items) == M


def test_the_words_of_an_unread_paper_account_for_its_score():
    kept = circles().toarray()
    kept[:, 5] = 0
    similarity = fit_similarity(sp.csr_matrix(kept), WORDS, CONFIG, seed=0)
    person = similarity.items[3]
    shares = similarity.term_map.shares(WORDS[5], person)
    assert shares.sum() == pytest.approx(float(similarity.items[5] @ person), abs=1e-5)
    assert set(shares.indices) <= set(WORDS[5].indices)


def test_the_same_seed_gives_the_same_embeddings():
    first, again, other = (fit_similarity(circles(), WORDS, CONFIG, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.items, again.items)
    assert not np.array_equal(first.items, other.items)


@pytest.mark.parametrize(
    "cells",
    [
        np.zeros((0, 0)),
        np.zeros((0, 4)),
        np.zeros((3, 0)),
        np.ones((1, 4)),
        np.eye(4),
        -np.ones((5, 4)),
    ],
    ids=["nothing", "no people", "no papers", "one person", "one paper each", "only dislikes"],
)
def test_where_no_two_people_keep_two_papers_nothing_is_learned(cells: np.ndarray):
    words = sp.csr_matrix(np.ones((cells.shape[1], 2), np.float32))
    similarity = fit_similarity(sp.csr_matrix(cells, dtype=np.float32), words, CONFIG, seed=0)
    assert similarity.items.shape == (cells.shape[1], 0)
    grown = extend_similarity(
        similarity, sp.csr_matrix(np.ones((1, 3), np.float32)), rows=np.array([cells.shape[1]])
    )
    assert grown.items.shape == (cells.shape[1] + 1, 0)


def test_people_who_keep_everything_and_texts_that_are_empty_are_no_trouble():
    cells = sp.csr_matrix(np.ones((4, 3), np.float32))
    similarity = fit_similarity(cells, empty_csr(3, 5), CONFIG, seed=0)
    assert similarity.items.shape == (3, 8)
    assert np.all(np.isfinite(similarity.items))


def test_halves_are_disjoint_never_empty_and_of_bounded_length():
    rng = np.random.default_rng(0)
    cells = np.zeros((3, 5_000), np.float32)
    cells[0, [1, 7]] = 1
    cells[1] = 1
    cells[2, 10:40] = 2
    known, wanted = _halves(sp.csr_matrix(cells), rng)
    assert known.multiply(wanted).nnz == 0
    for half in (known, wanted):
        assert np.diff(half.indptr).min() >= 1
        assert np.all(half.toarray() <= cells)
    together = np.diff(known.indptr) + np.diff(wanted.indptr)
    assert together.tolist() == [2, LONGEST_LIST, 30]
    again, _ = _halves(sp.csr_matrix(cells), rng)
    assert (again != known).nnz > 0, "other halves each time"


def loss(scores: np.ndarray, wanted: np.ndarray, known: np.ndarray) -> float:
    """What the slopes are of, said another way."""
    total = 0.0
    for line, found, shut in zip(scores, wanted, known, strict=True):
        chance = np.where(shut > 0, 0, np.exp(line))
        chance = chance / chance.sum()
        told = found > 0
        total -= float((found[told] * np.log(chance[told])).sum()) / np.sqrt(found.sum())
    return total


def test_the_slope_of_the_loss_is_what_finite_differences_give():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((3, 6))
    known = np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]], float)
    wanted = np.array([[0, 1, 0, 2, 0, 0], [0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0]], float)
    slope = _softmax_errors(scores.copy(), sp.csr_matrix(wanted), sp.csr_matrix(known))
    for cell in np.ndindex(scores.shape):
        nudged = [scores.copy(), scores.copy()]
        nudged[0][cell] += 1e-5
        nudged[1][cell] -= 1e-5
        rise = loss(nudged[0], wanted, known) - loss(nudged[1], wanted, known)
        assert slope[cell] == pytest.approx(rise / 2e-5, abs=1e-6)


def test_a_step_goes_down_the_loss_in_words_own_parts_and_bias(monkeypatch: pytest.MonkeyPatch):
    """The slopes that a step descends by, against finite differences of the whole loss, with some
    of the papers' own parts left out, and held."""
    monkeypatch.setattr(item_similarity, "DRAWN", M)
    monkeypatch.setattr(item_similarity, "MOST_SCORES", 2 * M)  # two people at once
    kept, rng = circles(6), np.random.default_rng(0)
    held = Config(embedding=3, hold_own=0.6, hold_words=0.3)
    people = np.asarray(kept.sum(axis=0)).ravel()
    words = unit_rows(WORDS)
    learner = _Learner(words, people, 6, held, rng)
    masks = {"sources": np.zeros(0), "candidates": np.zeros(0)}

    def drawn_mask(n: int) -> np.ndarray:
        """In the order in which a step draws them; that of a step is kept for the loss."""
        name = "candidates" if len(masks["sources"]) else "sources"
        masks[name] = (rng.random((n, 1)) >= item_similarity.LEFT_OUT).astype(np.float32)
        return masks[name]

    monkeypatch.setattr(learner, "_kept", drawn_mask)
    learner._own.value[:] = rng.standard_normal(learner._own.value.shape)
    known, wanted = _halves(kept, rng)

    def whole() -> float:
        given, own = words @ learner.words.value, np.zeros((M, 3))
        own[np.flatnonzero(people)] = learner._own.value
        sources = np.unique(known.indices)
        from_items = given[sources] + own[sources] * masks["sources"]
        to_items = given + own * masks["candidates"]
        scores = (_weights_of(known)[:, sources] @ from_items) @ to_items.T + learner._bias.value
        hold = 0.6 * float((own**2).sum()) + 0.3 * float((learner.words.value**2).sum())
        return (loss(scores, wanted.toarray(), known.toarray()) + hold) / known.shape[0]

    matrices = {"words": learner.words, "own": learner._own, "bias": learner._bias}
    slopes: dict[str, np.ndarray] = {}
    before = {name: matrix.value.copy() for name, matrix in matrices.items()}
    for name, matrix in matrices.items():
        rows = np.arange(len(matrix.value))

        def note(slope, _rate, touched=rows, *, name=name, shape=matrix.value.shape):
            slopes[name] = np.zeros(shape)
            slopes[name][touched] = slope

        monkeypatch.setattr(matrix, "descend", note)
    learner.step(known, wanted, rate=1.0)
    for name, matrix in matrices.items():
        np.testing.assert_array_equal(matrix.value, before[name])
        for cell in list(np.ndindex(matrix.value.shape))[::5]:
            kept_value, rises = matrix.value[cell], []
            for nudge in (1e-2, -1e-2):
                matrix.value[cell] = kept_value + np.float32(nudge)
                rises.append(whole())
            matrix.value[cell] = kept_value
            rise = (rises[0] - rises[1]) / 2e-2
            assert slopes[name][cell] == pytest.approx(rise, abs=2e-3), (name, cell)


def own_parts(similarity: ItemSimilarity) -> float:
    return float(np.abs(similarity.items - similarity.term_map.foretold(WORDS)).mean())


def test_what_is_held_stays_small():
    usual, own, words = (
        fit_similarity(circles(), WORDS, replace(CONFIG, **more), seed=0)
        for more in ({}, {"hold_own": 30.0}, {"hold_words": 30.0})
    )
    assert own_parts(own) < own_parts(usual) / 2
    size_of_words = [np.abs(one.term_map.rows).mean() for one in (usual, words)]
    assert size_of_words[1] < size_of_words[0] / 2


def test_more_epochs_are_more_steps_where_there_are_people_enough(monkeypatch: pytest.MonkeyPatch):
    assert [CONFIG.steps_for(n) for n in (1, 6, 10, 1_000)] == [96, 96, 160, 480]
    once, twice = (replace(CONFIG, epochs=n) for n in (1, 2))
    few = {"n_items": M, "n_people": 60}
    assert once.differing(twice, **few) == frozenset(), "96 steps each"
    many = {"n_items": M, "n_people": 100_000}
    assert once.differing(twice, **many) == frozenset({"epochs"})
    monkeypatch.setattr(config, "LEAST_STEPS", 1)
    first, second = (fit_similarity(circles(), WORDS, one, seed=0) for one in (once, twice))
    assert not np.allclose(first.items, second.items)


def test_a_step_looks_at_so_many_people_as_have_so_many_papers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(item_similarity, "MOST_PAPERS", 10)
    sizes = np.array([3, 3, 3, 3, 50, 1, 2])
    rounds = []
    for batch in _batches(sizes, np.random.default_rng(0)):
        rounds.append(batch)
        if sum(map(len, rounds)) == len(sizes):
            break
    assert sorted(np.concatenate(rounds)) == list(range(len(sizes)))
    assert all(len(batch) == 1 or sizes[batch].sum() <= 10 for batch in rounds)
    assert min(map(len, rounds)) == 1, "who has more than fits is alone, and not left out"
