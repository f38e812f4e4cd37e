"""Which papers may be recommended at all, and the best of them."""

import numpy as np

from models import BoolArray, FloatArray, IntArray
from models.ids import IdIndex


def candidates(items: IdIndex, allowed: IntArray | None, *excluded: IntArray) -> IntArray:
    """Rows (c,) int64 ascending of the papers ``allowed`` (None: all) and in none of ``excluded``.

    Ids may be unknown or repeated.
    """
    open_rows: BoolArray = np.full(len(items), allowed is None, np.bool_)
    if allowed is not None:
        open_rows[items.positions(np.asarray(allowed, np.int64))] = True
    for ids in excluded:
        open_rows[items.positions(np.asarray(ids, np.int64))] = False
    return np.flatnonzero(open_rows).astype(np.int64)


def best(scores: FloatArray, rows: IntArray, limit: int, tie_break: FloatArray) -> IntArray:
    """The ``limit`` rows of highest score, best first; all of them if there are fewer.

    Equal scores are ordered by ``tie_break`` (m,), then by row; nothing is left to chance. A score
    that is not a number ranks last.
    """
    values = np.nan_to_num(scores[rows], nan=-np.inf, posinf=-np.inf)
    if 0 < limit < len(rows):
        threshold = np.partition(values, len(rows) - limit)[len(rows) - limit]
        kept = values >= threshold
        rows, values = rows[kept], values[kept]
    order = np.lexsort((rows, -tie_break[rows], -values))
    return np.asarray(rows[order][: max(0, limit)], np.int64)
