"""What a person is interested in: the liked papers in groups that lie apart and hold together.

Papers are compared by what their words mean: the sum of the factors of their terms, so that a word
and its synonym meet. (The factors of the papers themselves will not do: one's own list is in the
training and pulls all that is on it together. Of 500 lists none had two interests then.) The
leading ``AXES`` eigenvectors of the matrix of cosines make a small space (kernel PCA, Schölkopf,
Smola & Müller, 1998, uncentred), in which groups are begun by average linkage and finished by
spherical k-means (Dhillon & Modha, 2001). Before any training it is the bare words.

How many groups there are is decided by two things. *Stability*: groups that are there are found
again in other parts of the library (Ben-Hur, Elisseeff & Guyon, PSB 2002; von Luxburg,
"Clustering Stability", 2010). Stability alone also finds halves of one topic, again and again; so
groups must also lie *apart*, by the likeness of papers across them against that within them. One
group is a possible answer and the usual one.

Measured by the adjusted Rand index of the groups with whose paper it was, on mixed lists of
CiteULike-t. When told the number (150 mixtures of 2 and of 3 lists of people who were not in the
training): bare words .28 and .32, factors of papers .43 and .44, both together .54 and .50, factors
of terms .57 and .53. With the number found by itself (40 mixtures each, trained as one person's):
.64 for 2 lists, .49 for 3, .36 for a list and a tenth of another. Lists are themselves of several
topics, so 1 is out of reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import eigh

from models import AnyIntArray, BoolArray, FloatArray, IntArray
from models.ranking.model import Model

LEAST_PAPERS = 8
"""Fewer are one interest: halves of seven papers can't be told from chance."""
MOST_INTERESTS = 8
"""More than a person can name; a slate of 20 has two places for each."""
SAMPLE = 300
"""Papers that groups are made from; the others join the nearest. Bounds the work: it grows with
the square of this and only linearly with the library."""
AXES = 6
"""4, 6 and 10 axes: .58, .57 and .49 for 2 lists, .54, .53 and .49 for 3; .45, .47 and .48 (8 axes)
for 5."""
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
NEAR_ENOUGH = 0.5
"""A paper belongs to an interest if it is that near, relative to the interest's median paper."""
SWEEPS = 20
SMALLEST_AXIS = 1e-6
TINY = 1e-9
Tree: TypeAlias = npt.NDArray[np.float64]
"""As scipy links: a row a merger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interests:
    """n liked papers in g groups, the largest first.

    ``item_ids`` (n,) int64 ascending; ``groups`` (n,) int64; ``likeness`` (n,) float32, how typical
    each is. ``axes`` (v, d) lead from words into the space of the groups, ``centres`` (g, d) have
    length 1 in it; ``nearness`` (g,) is how near the median paper of a group is to its centre, when
    what the few axes leave out is counted too.
    """

    item_ids: IntArray
    groups: IntArray
    likeness: FloatArray
    axes: FloatArray
    centres: FloatArray
    nearness: FloatArray

    @property
    def n_groups(self) -> int:
        return len(self.centres)

    def members(self, group: int) -> IntArray:
        """The papers of one group, the most typical first; equals by id. int64."""
        own = np.flatnonzero(self.groups == group)
        order = np.lexsort((self.item_ids[own], -self.likeness[own]))
        return np.asarray(self.item_ids[own[order]])

    def belonging(self, model: Model, rows: IntArray) -> IntArray:
        """The group of each paper (k,) int64, -1 for a paper that is near to none."""
        near: FloatArray = _described(model, rows)[1] @ self.axes @ self.centres.T
        groups: IntArray = np.argmax(near, axis=1).astype(np.int64)
        bounds = np.maximum(NEAR_ENOUGH * self.nearness, TINY)
        return np.asarray(
            np.where(near[np.arange(len(rows)), groups] >= bounds[groups], groups, -1), np.int64
        )


def find_interests(model: Model, item_ids: IntArray) -> Interests:
    """The interests of somebody who likes these papers; those the model does not know are left out.

    The same papers in any order give the same groups. Papers of which nothing is known go with the
    largest group. No papers, no groups.
    """
    known = np.unique(np.asarray(item_ids, np.int64))
    known = known[model.items.look_up(known)[1]]
    rows = model.items.positions(known)
    gram, words = _described(model, rows[_sample(known)], with_gram=True)
    axes, points = _space(model, gram, words)
    centres = _centres(points, gram)
    if len(centres) == 0 and len(rows):
        centres = np.zeros((1, axes.shape[1]), np.float32)
    groups, likeness = _assigned(_unit(model.content.weights[rows] @ axes), centres)
    order = np.argsort(-np.bincount(groups, minlength=len(centres)), kind="stable")
    return Interests(
        item_ids=known,
        groups=np.argsort(order, kind="stable")[groups],
        likeness=likeness,
        axes=axes,
        centres=centres[order],
        nearness=_nearness(words @ axes, centres)[order],
    )


def _assigned(points: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    near = points @ centres.T
    if near.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    groups = np.argmax(near, axis=1).astype(np.int64)
    groups[~np.any(points, axis=1)] = np.argmax(np.bincount(groups))
    return groups, near[np.arange(len(near)), groups].astype(np.float32)


def _nearness(placed: FloatArray, centres: FloatArray) -> FloatArray:
    near = placed @ centres.T
    groups = np.argmax(near, axis=1) if near.size else np.zeros(0, np.int64)
    own = [near[groups == group, group] for group in range(len(centres))]
    return np.array([np.median(one) if len(one) else 0.0 for one in own], np.float32)


# ---- The space ---------------------------------------------------------------------------------


def _sample(item_ids: IntArray) -> IntArray:
    """Places of at most SAMPLE papers, chosen by a hash of their ids: a few saves more change the
    sample by a few papers only."""
    return np.sort(np.argsort(scattered(item_ids), kind="stable")[:SAMPLE]).astype(np.int64)


def scattered(item_ids: IntArray) -> AnyIntArray:
    """A well-mixed uint64 for each id, the finaliser of SplitMix64 (Steele, Lea & Flood, 2014)."""
    x = np.asarray(item_ids, np.int64).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _described(
    model: Model, rows: IntArray, *, with_gram: bool = False
) -> tuple[FloatArray, sp.csr_matrix]:
    """Cosines (k, k) of the papers, if asked for, and their words (k, v) on the same scale."""
    words = model.content.weights[rows]
    meanings = _meanings(model)
    if len(meanings):
        dense = np.asarray(words[:, model.factors.terms] @ meanings, np.float32)
        gram = dense @ dense.T if with_gram else np.zeros((0, 0), np.float32)
        lengths = np.linalg.norm(dense, axis=1)
    else:
        gram = (words @ words.T).toarray() if with_gram else np.zeros((0, 0), np.float32)
        lengths = np.sqrt(np.asarray(words.multiply(words).sum(axis=1)).ravel())
    scale = np.where(lengths > TINY, 1 / np.maximum(lengths, TINY), 0).astype(np.float32)
    if with_gram:
        gram = gram * scale[:, None] * scale
    scaled = sp.csr_matrix(sp.diags_array(scale) @ words, dtype=np.float32)
    return np.asarray(gram, np.float32), scaled


def _space(model: Model, gram: FloatArray, words: sp.csr_matrix) -> tuple[FloatArray, FloatArray]:
    """The axes (v, d), and the papers in their space as directions (k, d)."""
    if not np.any(gram):
        return np.zeros((words.shape[1], 1), np.float32), np.zeros((len(gram), 1), np.float32)
    first = max(0, len(gram) - AXES)
    values, vectors = eigh(gram.astype(np.float64), subset_by_index=(first, len(gram) - 1))
    kept = values > SMALLEST_AXIS * float(values[-1])
    scaled = (vectors[:, kept] / np.sqrt(values[kept])).astype(np.float32)
    axes = np.asarray(words.T @ scaled, np.float32)
    meanings = _meanings(model)
    if len(meanings):
        through = meanings @ (meanings.T @ axes[model.factors.terms])
        axes = np.zeros_like(axes)
        axes[model.factors.terms] = through
    return axes, _unit(words @ axes)


def _meanings(model: Model) -> FloatArray:
    """Factors of the terms (t, f) without the direction of the whole catalogue; (0, f) of none.

    What all papers have in common says nothing of what one is about, and in a small catalogue it
    would make everything alike ("all but the top", Mu & Viswanath, ICLR 2018).
    """
    terms = model.factors.term_factors
    if not np.any(terms):
        return terms[:0]
    usual = np.asarray(model.content.weights.sum(axis=0), np.float32).ravel()
    common = usual[model.factors.terms] @ terms
    common /= max(float(np.linalg.norm(common)), TINY)
    return np.asarray(terms - np.outer(terms @ common, common), np.float32)


def _unit(vectors: FloatArray) -> FloatArray:
    """Rows of length 1; those of no length stay 0."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scale = np.where(lengths > TINY, 1 / np.maximum(lengths, TINY), 0)
    return np.asarray(vectors * scale, np.float32)


# ---- The groups --------------------------------------------------------------------------------


def _centres(points: FloatArray, gram: FloatArray) -> FloatArray:
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
    return _unit(points.sum(axis=0, keepdims=True)) if len(points) else points


def _grown(points: FloatArray, tree: Tree, k: int, least: int) -> FloatArray | None:
    """Middles (k, d) by k-means from the k largest branches, none of fewer than ``least``."""
    least = max(least, int(np.ceil(LEAST_SHARE * len(points))))
    begun = _branches(tree, len(points), k, least)
    if begun is None:
        return None
    centres = _unit(np.stack([points[branch].sum(axis=0) for branch in begun]))
    for _ in range(SWEEPS):
        near = np.argmax(points @ centres.T, axis=1)
        if len(np.unique(near)) < k:
            return None
        moved = _unit(np.stack([points[near == group].sum(axis=0) for group in range(k)]))
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
    belongs = np.eye(k, dtype=np.float64)[groups]
    sums = belongs.T @ gram @ belongs
    counts = belongs.sum(axis=0)
    within = (np.diag(sums) - belongs.T @ np.diag(gram)) / np.maximum(counts * (counts - 1), 1)
    between = sums / np.outer(counts, counts)
    ratio = between / np.sqrt(np.maximum(np.outer(within, within), TINY))
    return float(ratio[~np.eye(k, dtype=np.bool_)].max())


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
