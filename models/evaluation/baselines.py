"""What a recommender has to beat. Each gives scores (m,) float32 for one person's liked items."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.fold_in import solve_row
from models.collaborative.joint_als import fit_joint
from models.config import Config
from models.interactions import empty_csr, liked, people_per_item

Scorer: TypeAlias = Callable[[IntArray], FloatArray]


def popularity(user_items: sp.csr_matrix) -> Scorer:
    """How many people like each item, whoever asks."""
    counts = people_per_item(user_items)
    return lambda _rows: counts


def tfidf_profile(unit_weights: sp.csr_matrix) -> Scorer:
    """Cosine of each item to the sum of the person's; ``unit_weights`` (m, v) has rows of length 1."""

    def score(rows: IntArray) -> FloatArray:
        profile = np.asarray(unit_weights[rows].sum(axis=0), np.float32).ravel()
        return np.asarray(unit_weights @ profile, np.float32)

    return score


def item_knn(user_items: sp.csr_matrix) -> Scorer:
    """Sum of plain item-item cosines, over all neighbours; no shrinkage, no scaling of people."""
    likes = liked(user_items)
    lengths = np.sqrt(np.asarray(likes.multiply(likes).sum(axis=0)).ravel())
    unit = sp.csr_matrix(likes @ sp.diags_array(1 / np.maximum(lengths, 1e-9)))

    def score(rows: IntArray) -> FloatArray:
        people = unit[:, rows].sum(axis=1)
        return np.asarray(unit.T @ np.asarray(people).ravel(), np.float32)

    return score


def plain_als(user_items: sp.csr_matrix, config: Config, *, seed: int = 0) -> Scorer:
    """Hu, Koren & Volinsky (2008) on the interactions alone, the person folded in."""
    no_terms = empty_csr(user_items.shape[1], 0)
    factors = fit_joint(user_items, no_terms, config, seed=seed)

    def score(rows: IntArray) -> FloatArray:
        confidence = np.full(len(rows), config.alpha, np.float32)
        person = solve_row(
            factors.items[rows],
            factors.gram,
            confidence,
            regularization=config.regularization,
        )
        return np.asarray(factors.items @ person, np.float32)

    return score
