"""Factors over people and words, and folding in; ``implicit`` is the oracle."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from models.collaborative.fold_in import solve_normal, solve_row
from models.collaborative.joint_als import extend_joint, fit_joint, ridge
from models.collaborative.neighbours import nearest_items, neighbour_shares, score_neighbours
from models.config import Config
from models.content.tfidf import index_texts
from models.ids import IdIndex
from models.interactions import empty_csr, stacked, user_item_matrix
from tests.models.papers import PAPERS, history_of

CONFIG = Config(factors=8, iterations=5)


@pytest.fixture(scope="module")
def user_items() -> sp.csr_matrix:
    rng = np.random.default_rng(1)
    cells = (rng.random((30, len(PAPERS))) < 0.2) * rng.choice([1.0, 2.5, -1.0], (30, len(PAPERS)))
    return sp.csr_matrix(cells, dtype=np.float32)


@pytest.fixture(scope="module")
def weights() -> sp.csr_matrix:
    return index_texts(list(PAPERS.values()), slope=0.5).weights


def oracle(factors, regularization, n_factors):
    from implicit.cpu.als import AlternatingLeastSquares

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model = AlternatingLeastSquares(
            factors=n_factors, regularization=regularization, alpha=1.0, num_threads=1
        )
    model.user_factors = model.item_factors = np.ascontiguousarray(factors)
    return model


def test_a_person_folds_in_as_implicit_does_it(user_items, weights):
    factors = fit_joint(user_items, weights, CONFIG, seed=0)
    row = user_items[3] * np.float32(CONFIG.alpha)
    ours = solve_row(factors.items[row.indices], factors.gram, row.data, regularization=1.0)
    theirs = oracle(factors.items, 1.0, factors.items.shape[1]).recalculate_user(0, row)
    np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_words_foretell_factors_as_ridge_regression_does(weights):
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((weights.shape[0], 5)).astype(np.float32)
    theirs = Ridge(alpha=1.0, fit_intercept=False).fit(weights.toarray(), factors)
    np.testing.assert_allclose(ridge(weights, factors, 1.0), theirs.coef_.T, atol=1e-4)


def test_a_new_paper_has_the_factors_that_its_words_foretell(user_items, weights):
    factors = fit_joint(user_items, weights, CONFIG, seed=0)
    grown = extend_joint(factors, weights[:4])
    words = weights[:4][:, factors.terms].toarray()
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    np.testing.assert_allclose(grown.items[len(PAPERS) :], words @ factors.term_map.rows, atol=1e-5)
    np.testing.assert_allclose(grown.gram, grown.items.T @ grown.items, atol=1e-4)


def test_a_paper_that_is_in_the_catalogue_unread_is_as_one_that_comes_later(user_items, weights):
    factors = fit_joint(user_items, weights, CONFIG, seed=0)
    unread = np.asarray((user_items > 0).sum(axis=0)).ravel() == 0
    assert unread.any()
    assert not unread.all()
    grown = extend_joint(factors, weights)
    same = np.isclose(grown.items[: len(PAPERS)], grown.items[len(PAPERS) :], atol=1e-5).all(axis=1)
    np.testing.assert_array_equal(same, unread, "only papers without readers are their words alone")
    assert factors.items.dtype == np.float32


def test_the_same_seed_gives_the_same_factors(user_items, weights):
    first, again, other = (fit_joint(user_items, weights, CONFIG, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.items, again.items)
    assert not np.array_equal(first.items, other.items)


def test_a_checkerboard_gives_back_the_withheld_item():
    board = np.indices((20, 20)).sum(axis=0) % 2 == 0
    board[4, 6] = False
    cells = sp.csr_matrix(board.astype(np.float32))
    factors = fit_joint(cells, empty_csr(20, 0), Config(factors=4), seed=0)
    seen = np.flatnonzero(board[4])
    confidence = np.full(len(seen), 20, np.float32)
    person = solve_row(factors.items[seen], factors.gram, confidence, regularization=1.0)
    scores = factors.items @ person
    scores[seen] = -np.inf
    assert int(np.argmax(scores)) == 6


def test_stacked_rows_are_people_then_terms(user_items, weights):
    terms = np.array([2, 5])
    rows = stacked(user_items, weights, terms, weight=3.0)
    assert rows.shape == (32, len(PAPERS))
    np.testing.assert_allclose(rows[30].toarray()[0], 3 * weights[:, 2].toarray()[:, 0])


def test_of_two_rows_for_one_cell_the_stronger_counts():
    history = history_of(7, 7, ratings=[1, 0])
    cells = user_item_matrix(np.array([1, 1]), history, IdIndex(np.array([7])))
    assert cells.toarray().tolist() == [[-2.0]]


def test_a_singular_system_is_solved_all_the_same():
    solved = solve_normal(np.zeros((2, 2), np.float32), np.zeros(2, np.float32))
    assert np.all(np.isfinite(solved))


def test_neighbours_are_those_kept_together(user_items):
    cells = sp.csr_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], np.float32))
    near = nearest_items(cells, Config(shrinkage=1.0)).toarray()
    lengths = np.sqrt([1.0, 1.5, 0.5])
    assert near[0, 1] == pytest.approx(1 / (lengths[0] * lengths[1] + 1))
    assert near[0, 2] == 0
    assert np.all(np.diag(near) == 0)
    np.testing.assert_allclose(near, near.T, rtol=1e-6)


def test_only_the_nearest_are_kept_and_dislikes_subtract(user_items):
    near = nearest_items(user_items, Config(neighbours=3))
    assert np.diff(near.indptr).max() <= 3
    rows, confidence = np.array([0, 1]), np.array([1.0, -1.0], np.float32)
    scores = score_neighbours(near, rows, confidence)
    np.testing.assert_allclose(scores, near[0].toarray()[0] - near[1].toarray()[0], atol=1e-6)
    shares = neighbour_shares(near, rows, confidence, np.arange(len(PAPERS)))
    np.testing.assert_allclose(shares.sum(axis=1), scores, atol=1e-6)
