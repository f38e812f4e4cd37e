"""Which of the new groups is which of the interests that are known already.

Groups are made anew after each save and each training; what a person calls an interest, and how
much they want of it, goes with the papers. Two sets are compared by a sketch of each: the papers
with the smallest hashes. Of two such sketches the smallest hashes of their union are a fair sample
of the union of the sets (bottom-k, Broder, "On the resemblance and containment of documents",
1997), so that a library of 100,000 papers needs no more room than one of 200.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from models import IntArray
from models.ranking.interests import scattered

ANCHORS = 200
"""Papers in a sketch: the overlap is off by 1/√200 = 7 % at most in two of three cases."""
SAME = 0.2
"""The least overlap of an interest and what has become of it. Of one that has doubled it is .5; of
one that was cut into four, .25 for each part; two that share no topic have 0."""


def anchors_of(item_ids: IntArray) -> IntArray:
    """The sketch (≤ ANCHORS,) int64 of a set of papers, the smallest hash first."""
    return np.asarray(item_ids[np.argsort(scattered(item_ids), kind="stable")][:ANCHORS], np.int64)


def overlap(first: IntArray, second: IntArray) -> float:
    """Jaccard index of two sets from their sketches, 0 to 1; exact for sets of ANCHORS or fewer."""
    union = anchors_of(np.union1d(first, second))
    shared = np.isin(union, first) & np.isin(union, second)
    return float(shared.sum()) / max(1, len(union))


def contained(part: IntArray, whole: IntArray) -> float:
    """The share of one set that is in another, from their sketches, 0 to 1."""
    if len(part) == 0 or len(whole) == 0:
        return 0.0
    compared = part
    if len(whole) >= ANCHORS:  # of a larger set the sketch knows only what hashes lower than this
        compared = part[scattered(part) <= scattered(whole).max()]
    return float(np.isin(compared, whole).mean()) if len(compared) else 0.0


def matched(known: Sequence[IntArray], groups: Sequence[IntArray]) -> list[int | None]:
    """For each group, given as a sketch, the place of the known interest that it is, or None.

    Each interest is at most one group. The sum of overlaps is as large as it can be (Kuhn, "The
    Hungarian method", 1955).
    """
    if not known or not groups:
        return [None] * len(groups)
    shared = np.array([[overlap(old, new) for old in known] for new in groups])
    shared[shared < SAME] = 0
    found: list[int | None] = [None] * len(groups)
    for row, column in zip(*linear_sum_assignment(shared, maximize=True), strict=True):
        if shared[row, column] > 0:
            found[int(row)] = int(column)
    return found
