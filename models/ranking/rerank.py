"""A slate of papers that differ: greedy MAP of a determinantal point process.

Chen, Zhang & Zhou, "Fast Greedy MAP Inference for Determinantal Point Process to Improve
Recommendation Diversity", NeurIPS 2018. Maximal marginal relevance (Carbonell & Goldstein, SIGIR
1998) looks at the nearest paper taken only; the determinant looks at all of them together. What
that is worth is measured by ``benchmarks/diversity.py``.
"""

import numpy as np
import numpy.typing as npt

from models import FloatArray, IntArray
from models.content.similar import cosine
from models.content.tfidf import TermIndex

OWN = 1e-3
"""Each paper has that much of its own, beside its words: copies add little, not minus infinity."""


def diversified(
    index: TermIndex, rows: IntArray, scores: FloatArray, *, limit: int, diversity: float
) -> IntArray:
    """``limit`` of the candidates ``rows`` (c,), whose ``scores`` (c,) descend.

    Each step takes the candidate of the highest (1 - diversity) · score + diversity · ln d², with
    the score relative to the best and d² the share of its term vector, of length 1, that those
    taken before do not span: the logarithm of the determinant of all cosines grows by that. The
    best candidate stays first. ``diversity`` 0 changes nothing; it is cut to 0 to 1.
    """
    share = float(np.clip(diversity, 0.0, 1.0))
    if share == 0 or len(rows) <= 2 or limit <= 1:
        return rows[:limit]
    near = np.minimum(cosine(index, rows).astype(np.float64), 1.0)
    chosen = _greedy_map((1 - share) * _relative(scores), near, share, min(limit, len(rows)))
    return np.asarray(rows[chosen], np.int64)


def _greedy_map(
    relevance: FloatArray, near: npt.NDArray[np.float64], share: float, limit: int
) -> IntArray:
    """Places (limit,) of the greedy choice; O(c · limit²) by a Cholesky factor that grows."""
    n = len(relevance)
    factor = np.zeros((limit, n))
    gain = np.full(n, 1.0 + OWN)
    is_open = np.ones(n, np.bool_)
    chosen = np.zeros(limit, np.int64)
    for step in range(1, limit):
        last = chosen[step - 1]
        is_open[last] = False
        spanned = factor[: step - 1, last] @ factor[: step - 1]
        factor[step - 1] = (near[last] - spanned) / np.sqrt(gain[last])
        gain = np.maximum(gain - factor[step - 1] ** 2, OWN / 2)
        value = relevance + share * np.log(gain)
        chosen[step] = np.argmax(np.where(is_open, value, -np.inf))
    return chosen


def _relative(scores: FloatArray) -> FloatArray:
    top, bottom = float(scores[0]), float(scores[-1])
    return (scores - min(bottom, 0.0)) / max(top - min(bottom, 0.0), 1e-9)
