"""Figures against values worked out by hand."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from models.config import Config
from models.evaluation import baselines
from models.evaluation.metrics import (
    bootstrap_interval,
    coverage,
    intra_list_diversity,
    ndcg_at,
    novelty,
    recall_at,
)
from models.evaluation.split import split_by_time
from tests.models.papers import history_of

RANKED = np.array([7, 3, 9, 1])


def test_recall():
    relevant = np.array([3, 1, 5])
    assert recall_at(RANKED, relevant, 2) == pytest.approx(1 / 3)
    assert recall_at(RANKED, relevant, 4) == pytest.approx(2 / 3)


def test_ndcg():
    relevant = np.array([3, 1, 5])
    found = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at(RANKED, relevant, 4) == pytest.approx(found / ideal)
    assert ndcg_at(RANKED, relevant, 1) == 0.0
    assert ndcg_at(RANKED, np.array([7]), 4) == 1.0


def test_nothing_relevant_is_no_number():
    assert math.isnan(recall_at(RANKED, np.array([]), 2))
    assert math.isnan(ndcg_at(RANKED, np.array([]), 2))


def test_coverage():
    assert coverage([np.array([1, 2]), np.array([2, 3])], 6) == 0.5
    assert coverage([], 6) == coverage([np.array([], int)], 0) == 0.0


def test_novelty():
    people = np.array([3.0, 0.0], np.float32)
    lists = [np.array([0]), np.array([1])]
    assert novelty(lists, people, 7) == pytest.approx((1.0 + 3.0) / 2)
    assert math.isnan(novelty([], people, 7))


def test_intra_list_diversity():
    likeness = np.array([[1, 0.5, 0.0], [0.5, 1, 0.25], [0.0, 0.25, 1]], np.float32)
    assert intra_list_diversity(likeness) == pytest.approx(1 - 0.25)
    assert math.isnan(intra_list_diversity(likeness[:1, :1]))


def test_an_interval_holds_the_mean_and_ignores_what_is_no_number():
    values = np.array([0.0, 1.0] * 50 + [np.nan], np.float32)
    low, high = bootstrap_interval(values, rng=np.random.default_rng(0))
    assert 0.38 < low < 0.5 < high < 0.62
    assert all(map(math.isnan, bootstrap_interval(values[-1:], rng=np.random.default_rng(0))))


@given(st.permutations(range(12)), st.sets(st.integers(0, 11), min_size=1), st.integers(1, 12))
def test_figures_stay_within_bounds_and_the_ideal_is_one(order, relevant, k):
    wanted = np.array(sorted(relevant))
    assert 0 <= recall_at(np.array(order), wanted, k) <= 1
    assert 0 <= ndcg_at(np.array(order), wanted, k) <= 1 + 1e-6
    ideal = np.array(sorted(order, key=lambda item: item not in relevant))
    assert ndcg_at(ideal, wanted, k) == pytest.approx(1)


def test_the_latest_liked_papers_are_hidden():
    history = history_of(
        *range(10, 16),
        20,
        21,
        ages := 0,
        ratings=[0, 0, 0, 0, 0, 1, 0, 0, 0],
        age_days=[5, 4, 3, 2, 1, 0, 9, 8, 7],
    )
    del ages
    users = np.array([1, 1, 1, 1, 1, 1, 2, 2, 3])
    split = split_by_time(users, history, share=0.4)
    assert history.where(split.hidden).item_ids.tolist() == [13, 14]
    assert np.array_equal(split.known, ~split.hidden)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.floats(0, 99)), max_size=40),
    st.floats(0.05, 0.95),
)
def test_nobody_loses_everything(rows, share):
    users = np.array([row[0] for row in rows], np.int64)
    history = history_of(
        *range(len(rows)), ratings=[r[1] for r in rows], age_days=[r[2] for r in rows]
    )
    split = split_by_time(users, history, share=share)
    for user in set(users[split.hidden]):
        assert np.any(split.known & (users == user))


BLOCKS = sp.csr_matrix(np.kron(np.eye(2), np.ones((6, 5))).astype(np.float32))


def test_every_baseline_finds_the_rest_of_the_block():
    cells = BLOCKS.tolil()
    cells[0, 4] = 0
    matrix = cells.tocsr()
    scorers = {
        "knn": baselines.item_knn(matrix),
        "als": baselines.plain_als(matrix, Config(factors=2)),
        "words": baselines.tfidf_profile(sp.csr_matrix(BLOCKS.T / math.sqrt(6))),
    }
    for name, score in scorers.items():
        scores = score(np.arange(4))
        assert scores[4] > scores[5:].max(), name


def test_popularity_counts_people():
    assert baselines.popularity(BLOCKS)(np.array([0])).tolist() == [6.0] * 10


def test_ease_is_the_closed_form():
    likes = np.random.default_rng(0).random((40, 12)) < 0.3
    score = baselines.ease(sp.csr_matrix(likes, dtype=np.float32), regularization=2.0)
    inverse = np.linalg.inv(likes.T.astype(float) @ likes + 2.0 * np.eye(12))
    weights = np.where(np.eye(12), 0, -inverse / np.diag(inverse))
    np.testing.assert_allclose(score(np.array([1, 5])), weights[[1, 5]].sum(axis=0), atol=1e-4)
