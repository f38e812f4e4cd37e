"""How many groups points make, and which: begun by average linkage, finished by spherical k-means.

How many groups there are is decided by two things. *Stability*: groups that are there are found
again in other parts of the library (Ben-Hur, Elisseeff & Guyon, PSB 2002; von Luxburg,
"Clustering Stability", 2010). Stability alone also finds halves of one topic, again and again; so
groups must also lie *apart*, by the likeness of papers across them against that within them. One
group is a possible answer and the usual one.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import ClusterNode, fcluster, linkage, to_tree
from scipy.spatial.distance import squareform

from models import AnyIntArray, BoolArray, FloatArray, IntArray

LEAST_PAPERS = 8
"""Fewer are one interest: halves of seven papers can't be told from chance."""
MOST_INTERESTS = 8
"""More than a person can name; a slate of 20 has two places for each."""
LEAST_GROUP = 3
LEAST_SHARE = 0.04
"""A group is begun by that share of the library and three papers at least; fewer are outliers. In a
part of the library, of which a fifth is missing, two will do."""
LEAST_STABILITY = 0.5
"""Mean adjusted Rand index of the groups found in two parts of the library ..."""
ROUNDS = 5
PART = 0.8
"""... of this size, so many times."""
MOST_LIKENESS = 0.25
"""Likeness across two groups, relative to that within them. All of 40 neighbourhoods of one paper
(15 to 80 papers) stay whole up to .35; .15, .25 and .35 give .61, .64 and .59 for 2 lists and .47,
.49 and .50 for 3. Of 40 real lists 27 are one interest. By stability alone half the neighbourhoods
fell apart."""
FACET_APART = 0.6
"""The same for two facets of an interest. Of 40 lists of CiteULike-t, each with near papers of
somebody else's as a tenth of it, so many have none that is owed to these in a slate of 20: of 18
and 2 papers 3 (.8: 2; no facets: 33; no interests: 37), 27 and 3: 2 (1; 8; 37), 36 and 4: 5 (3; 6;
34), 54 and 6: 5 (5; 9; 32). nDCG@20 of 400 people's own lists: .1550 (.8: .1531; no facets:
.1569)."""
SWEEPS = 20
TINY = 1e-9
Tree: TypeAlias = npt.NDArray[np.float64]
"""As scipy links: a row a merger."""


def centres_of(points: FloatArray, gram: FloatArray) -> FloatArray:
    """Middles (g, d) of the largest number of groups that lie apart and are stable, or of one."""
    told = np.any(points, axis=1)
    points, gram = points[told], gram[told][:, told]
    if len(points) >= LEAST_PAPERS:
        tree = _tree(points)
        parts = None
        for k in range(min(MOST_INTERESTS, len(points) // LEAST_GROUP), 1, -1):
            found = _grown(points, tree, k, LEAST_GROUP)
            if (
                found is None
                or _across(gram, np.argmax(points @ found.T, axis=1), k) > MOST_LIKENESS
            ):
                continue
            parts = parts or _parts(points)
            if _stability(points, parts, k) >= LEAST_STABILITY:
                return found
    return unit(points.sum(axis=0, keepdims=True)) if len(points) else points


def facets_of(gram: FloatArray, least: int) -> IntArray:
    """The facets (k,) of papers by their likeness (k, k): numbered from 0, -1 for what is in none.

    The tree of average linkage is followed from its root: two branches of ``least`` papers or more
    that lie apart are looked at each by itself, what is smaller is left behind, and what lies
    together is a facet. They need not be stable, as interests do.
    """
    n = len(gram)
    facets: IntArray = np.full(n, -1, np.int64)
    if n < max(least, 2):
        return facets
    distance = np.clip(1 - gram.astype(np.float64), 0, None)
    np.fill_diagonal(distance, 0)
    branches = [to_tree(linkage(squareform(distance, checks=False), "average"))]
    number = 0
    while branches:
        whole = branches.pop()
        halves = filter(None, (whole.get_left(), whole.get_right()))
        large = [half for half in halves if half.get_count() >= least]
        if len(large) == 1 or (len(large) == 2 and _lie_apart(gram, large)):
            branches.extend(large)
        else:
            facets[whole.pre_order()] = number
            number += 1
    return facets


def _lie_apart(gram: FloatArray, branches: Sequence[ClusterNode]) -> bool:
    both = np.concatenate([branch.pre_order() for branch in branches])
    groups = np.repeat([0, 1], [branch.get_count() for branch in branches])
    return float(likenesses(gram[np.ix_(both, both)], groups, 2).max()) <= FACET_APART


def _grown(points: FloatArray, tree: Tree, k: int, least: int) -> FloatArray | None:
    """Middles (k, d) by k-means from the k largest branches, none of fewer than ``least``."""
    least = max(least, int(np.ceil(LEAST_SHARE * len(points))))
    begun = _branches(tree, len(points), k, least)
    if begun is None:
        return None
    centres = unit(np.stack([points[branch].sum(axis=0) for branch in begun]))
    for _ in range(SWEEPS):
        near = np.argmax(points @ centres.T, axis=1)
        if len(np.unique(near)) < k:
            return None
        moved = unit(np.stack([points[near == group].sum(axis=0) for group in range(k)]))
        if np.allclose(moved, centres, atol=1e-6):
            break
        centres = moved
    return centres


def _tree(points: FloatArray) -> Tree:
    return np.asarray(linkage(points, "average"), np.float64)


def _branches(tree: Tree, n: int, k: int, least: int) -> list[BoolArray] | None:
    """The k largest branches where the tree is first cut so that k of them are large enough."""
    for n_cut in range(k, min(n, 3 * k + 6)):
        branch = fcluster(tree, n_cut, "maxclust")
        sizes = np.bincount(branch)
        if np.count_nonzero(sizes >= least) >= k:
            return [branch == one for one in np.argsort(-sizes, kind="stable")[:k]]
    return None


def _across(gram: FloatArray, groups: AnyIntArray, k: int) -> float:
    """The largest mean likeness across two groups over the geometric mean of those within."""
    return float(likenesses(gram, groups, k).max(initial=0))


def likenesses(gram: FloatArray, groups: AnyIntArray, k: int) -> npt.NDArray[np.float64]:
    """The same of each two groups, (k, k); 0 on the diagonal, and where a group is one paper."""
    belongs = np.eye(k, dtype=np.float64)[groups]
    sums = belongs.T @ gram @ belongs
    counts = belongs.sum(axis=0)
    within = (np.diag(sums) - belongs.T @ np.diag(gram)) / np.maximum(counts * (counts - 1), 1)
    between = sums / np.maximum(np.outer(counts, counts), 1)
    ratio = between / np.sqrt(np.maximum(np.outer(within, within), TINY))
    told = counts > 1
    return np.where(np.outer(told, told) & ~np.eye(k, dtype=np.bool_), ratio, 0)


def _parts(points: FloatArray) -> list[list[tuple[IntArray, Tree]]]:
    """ROUNDS times two random parts of the library, each with its tree."""
    rng = np.random.default_rng(0)
    size = int(np.ceil(PART * len(points)))
    drawn = [
        [np.sort(rng.permutation(len(points))[:size]) for _ in range(2)] for _ in range(ROUNDS)
    ]
    return [[(part, _tree(points[part])) for part in pair] for pair in drawn]


def _stability(
    points: FloatArray, parts: Sequence[Sequence[tuple[IntArray, Tree]]], k: int
) -> float:
    agreements = []
    for pair in parts:
        found = [_grown(points[part], tree, k, LEAST_GROUP - 1) for part, tree in pair]
        if any(one is None for one in found):
            agreements.append(0.0)
        else:
            first, second = (np.argmax(points @ one.T, axis=1) for one in found if one is not None)
            agreements.append(adjusted_rand(first, second))
    return float(np.mean(agreements))


def adjusted_rand(first: AnyIntArray, second: AnyIntArray) -> float:
    """Agreement of two groupings (n,) of the same things: 1 the same, 0 as good as chance.

    Hubert & Arabie, "Comparing partitions", Journal of Classification 2, 1985.
    """
    table = np.zeros((int(first.max()) + 1, int(second.max()) + 1))
    np.add.at(table, (first, second), 1)
    pairs = _pairs(table)
    by_first, by_second = _pairs(table.sum(axis=1)), _pairs(table.sum(axis=0))
    expected = by_first * by_second / max(_pairs(np.array([len(first)], np.float64)), 1)
    most = (by_first + by_second) / 2
    return 1.0 if most == expected else float((pairs - expected) / (most - expected))


def _pairs(counts: npt.NDArray[np.float64]) -> float:
    return float((counts * (counts - 1) / 2).sum())


def unit(vectors: FloatArray) -> FloatArray:
    """Rows of length 1; those of no length stay 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scale = np.where(lengths > TINY, 1 / np.maximum(lengths, TINY), 0)
    return np.asarray(vectors * scale, np.float32)
