"""What a recommender has to beat. Each gives scores (m,) float32 for one person's liked items."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.fold_in import solve_row
from models.collaborative.joint_als import fit_joint
from models.config import Config
from models.interactions import empty_csr, liked, people_per_item

TUNED_ALS: Mapping[str, Any] = {
    "factors": 512,
    "regularization": 260.0,
    "alpha": 260.0,
    "term_weight": 0.0,
}
"""The best that was found for ALS on the saves alone, on the warm validation part of CiteULike-t
(``benchmarks/als.py``): nDCG@20 .126; the best of 256 factors .123, of 128 .120, of 64 .111."""
KNN_SHRINKAGE = 10.0
"""Without it pairs that rest on one person crowd the top: nDCG@20 .05 instead of .10."""
KNN_BLOCK = 256
"""Items of a person looked at together; bounds memory."""
Scorer: TypeAlias = Callable[[IntArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a baseline may learn from: ``user_items`` (n, m) signed confidences in bookmarks and
    ``term_weights`` (m, v) textbook TF-IDF, both CSR float32, and the settings of the model."""

    user_items: sp.csr_matrix
    term_weights: sp.csr_matrix
    config: Config
    seed: int


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
    """Sum of item-item cosines with shrinkage 10, over all neighbours; people are not scaled.

    The likenesses are computed as they are asked for: all of them would not fit where somebody
    keeps a hundred thousand items.
    """
    likes = liked(user_items)
    by_item = likes.T.tocsr()
    lengths = np.sqrt(np.asarray(likes.multiply(likes).sum(axis=0)).ravel())

    def score(rows: IntArray) -> FloatArray:
        scores = np.zeros(likes.shape[1], np.float64)
        for start in range(0, len(rows), KNN_BLOCK):
            block = rows[start : start + KNN_BLOCK]
            together = sp.csr_matrix(by_item[block] @ likes)
            own = np.repeat(lengths[block], np.diff(together.indptr))
            near = together.data / (own * lengths[together.indices] + KNN_SHRINKAGE)
            scores += np.bincount(together.indices, near, minlength=len(scores))
        return scores.astype(np.float32)

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


def ease(user_items: sp.csr_matrix, *, regularization: float = 50.0) -> Scorer:
    """Steck, "Embarrassingly Shallow Autoencoders for Sparse Data", WWW 2019: a linear model of
    items by items without a diagonal, from a dense inverse of (m, m) float32. Not among the
    BASELINES: 17,000 items take minutes and 3 GB."""
    likes = liked(user_items)
    likes.data[:] = 1
    gram = np.asarray((likes.T @ likes).todense(), np.float32)
    gram[np.diag_indices_from(gram)] += np.float32(regularization)
    factor, _ = scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    inverse, _ = scipy.linalg.lapack.spotri(factor, lower=1, overwrite_c=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    weights = -inverse / np.diag(inverse)
    weights[np.diag_indices_from(weights)] = 0
    return lambda rows: np.asarray(weights[rows].sum(axis=0), np.float32)


BASELINES: Mapping[str, Callable[[Known], Scorer]] = {
    "popularity": lambda known: popularity(known.user_items),
    "TF-IDF profile": lambda known: tfidf_profile(known.term_weights),
    "item-kNN": lambda known: item_knn(known.user_items),
    "ALS": lambda known: plain_als(
        known.user_items, replace(known.config, **TUNED_ALS), seed=known.seed
    ),
}
"""By the name in the tables, in their order."""
