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

KNN_SHRINKAGE = 10.0
"""Without it pairs that rest on one person crowd the top: nDCG@20 .05 instead of .10."""
Scorer: TypeAlias = Callable[[IntArray], FloatArray]


def popularity(user_items: sp.csr_matrix) -> Scorer:
    """How many people like each item, whoever asks."""
    counts = people_per_item(user_items)
    return lambda _rows: counts


def tfidf_profile(unit_weights: sp.csr_matrix) -> Scorer:
    """Cosine of each item to the sum of the person's; ``unit_weights`` (m, v), rows of length 1."""

    def score(rows: IntArray) -> FloatArray:
        profile = np.asarray(unit_weights[rows].sum(axis=0), np.float32).ravel()
        return np.asarray(unit_weights @ profile, np.float32)

    return score


def item_knn(user_items: sp.csr_matrix) -> Scorer:
    """Sum of item-item cosines with shrinkage 10, over all neighbours; people are not scaled."""
    likes = liked(user_items)
    lengths = np.sqrt(np.asarray(likes.multiply(likes).sum(axis=0)).ravel())
    together = sp.csr_matrix(likes.T @ likes)
    owner = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
    together.data = together.data / (lengths[owner] * lengths[together.indices] + KNN_SHRINKAGE)
    return lambda rows: np.asarray(together[rows].sum(axis=0), np.float32).ravel()


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
