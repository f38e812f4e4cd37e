"""How good a ranked list is. Lists are ids best first; nothing here knows a model."""

from collections.abc import Sequence

import numpy as np

from models import AnyIntArray, FloatArray


def recall_at(ranked: AnyIntArray, relevant: AnyIntArray, k: int) -> float:
    """Share of the relevant items among the first k, 0 to 1; NaN if nothing is relevant."""
    if len(relevant) == 0:
        return float("nan")
    return float(np.isin(ranked[:k], relevant).sum() / len(np.unique(relevant)))


def ndcg_at(ranked: AnyIntArray, relevant: AnyIntArray, k: int) -> float:
    """Binary nDCG@k (Järvelin & Kekäläinen, TOIS 2002), ideal cut at k; NaN without relevant."""
    n_ideal = min(k, len(np.unique(relevant)))
    if n_ideal == 0:
        return float("nan")
    hits = np.isin(ranked[:k], relevant)
    return float((hits * _discounts(len(hits))).sum() / _discounts(n_ideal).sum())


def coverage(lists: Sequence[AnyIntArray], n_items: int) -> float:
    """Share of the catalogue of ``n_items`` that is in at least one list, 0 to 1."""
    if n_items == 0 or len(lists) == 0:
        return 0.0
    return len(np.unique(np.concatenate(lists))) / n_items


def novelty(lists: Sequence[AnyIntArray], people_per_item: FloatArray, n_people: int) -> float:
    """Mean of -log2 p(item) over all recommended items, in bits; p with add-one smoothing.

    ``people_per_item`` (m,) is indexed by the lists. Castells, Hurley & Vargas, "Novelty and
    Diversity in Recommender Systems", 2015.
    """
    shown = np.concatenate(lists) if len(lists) else np.zeros(0, np.int64)
    if len(shown) == 0:
        return float("nan")
    share = (people_per_item[shown] + 1) / (n_people + 1)
    return float(-np.log2(np.minimum(share, 1.0)).mean())


def intra_list_diversity(likeness: FloatArray) -> float:
    """1 - mean likeness over the pairs of a list, from its (n, n) matrix; NaN below two items.

    Ziegler, McNee, Konstan & Lausen, WWW 2005.
    """
    n = len(likeness)
    if n < 2:
        return float("nan")
    off_diagonal = likeness.sum() - np.trace(likeness)
    return float(1 - off_diagonal / (n * (n - 1)))


def bootstrap_interval(
    values: FloatArray, *, rng: np.random.Generator, level: float = 0.95, rounds: int = 1000
) -> tuple[float, float]:
    """Percentile interval of the mean of per-person values (n,), NaN left out."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return float("nan"), float("nan")
    means = np.array([rng.choice(known, len(known)).mean() for _ in range(rounds)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _discounts(n: int) -> FloatArray:
    return np.asarray(1 / np.log2(np.arange(2, n + 2)), np.float32)
