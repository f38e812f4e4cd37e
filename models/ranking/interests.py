"""What a person is interested in: the liked papers in groups that lie apart and hold together.

Papers are compared by what their words mean: the sum of the factors of their terms, so that a word
and its synonym meet. (The factors of the papers themselves will not do: one's own list is in the
training and pulls all that is on it together. Of 500 lists none had two interests then.) The
leading ``AXES`` eigenvectors of the matrix of cosines make a small space (kernel PCA, Schölkopf,
Smola & Müller, 1998, uncentred), in which groups are begun by average linkage and finished by
spherical k-means (Dhillon & Modha, 2001). Before any training it is the bare words. How many groups
there are is decided in ``interest_groups.py``.

Measured by the adjusted Rand index of the groups with whose paper it was, on mixed lists of
CiteULike-t. When told the number (150 mixtures of 2 and of 3 lists of people who were not in the
training): bare words .28 and .32, factors of papers .43 and .44, both together .54 and .50, factors
of terms .57 and .53. With the number found by itself (40 mixtures each, trained as one person's):
.64 for 2 lists, .49 for 3, .36 for a list and a tenth of another. Lists are themselves of several
topics, so 1 is out of reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from models import AnyIntArray, FloatArray, IntArray
from models.ranking.interest_groups import (
    LEAST_GROUP,
    LEAST_PAPERS,
    TINY,
    centres_of,
    facets_of,
    likenesses,
    unit,
)
from models.ranking.model import Model

SAMPLE = 300
"""Papers that groups are made from; the others join the nearest. Bounds the work: it grows with
the square of this and only linearly with the library."""
AXES = 6
"""4, 6 and 10 axes: .58, .57 and .49 for 2 lists, .54, .53 and .49 for 3; .45, .47 and .48 (8 axes)
for 5."""
STILL_APART = 0.5
"""In the place of ``MOST_LIKENESS`` for an interest that was found before, so that none goes when a
training moves the words a little. A library of 12 papers, 9 and 3 of two topics, was two interests
before a training and one after it, and might have been two again after the next."""
MOSTLY = 0.8
"""A new group is a part of one interest if so much of what is known in it was in that ..."""
PRESENT = 0.2
"""... and an interest draws new papers from a new group that has so much of it; less are strays."""
NEAR_ENOUGH = 0.5
"""A paper belongs to an interest if it is that near, relative to the interest's median paper."""
LEAST_FACET = 0.1
"""Of the library, and two papers."""
SMALLEST_AXIS = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Interests:
    """n liked papers in g groups, the largest first.

    ``item_ids`` (n,) int64 ascending; ``groups`` (n,) int64; ``likeness`` (n,) float32, how typical
    each is. ``axes`` (v, d) lead from words into the space of the groups, ``centres`` (g, d) have
    length 1 in it; ``nearness`` (g,) is how near the median paper of a group is to its centre, when
    what the few axes leave out is counted too. ``known`` (g,) int64 is the place of each among the
    interests that were known before, -1 for a new one. ``facets`` (n,) int64 cut the groups
    further, into what a slate must not pass over: see :func:`_facets`; ``group_of`` (f,) int64 is
    the group of each.
    """

    item_ids: IntArray
    groups: IntArray
    likeness: FloatArray
    axes: FloatArray
    centres: FloatArray
    nearness: FloatArray
    known: IntArray
    facets: IntArray
    group_of: IntArray

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An interest as it was found before: papers (k,) int64 it had, a sample perhaps.

    ``is_set``: the person has named, weighed, muted or merged it, so that it must not dissolve.
    """

    item_ids: IntArray
    is_set: bool


def find_interests(model: Model, item_ids: IntArray, known: Sequence[Known] = ()) -> Interests:
    """The interests of somebody who likes these papers; those the model does not know are left out.

    The same papers in any order give the same groups. Papers of which nothing is known go with the
    largest group. No papers, no groups. ``known``: what was found before, see :func:`_held`; of two
    that claim a paper the first has it.
    """
    ids = np.unique(np.asarray(item_ids, np.int64))
    ids = ids[model.items.look_up(ids)[1]]
    rows, sample = model.items.positions(ids), _sample(ids)
    gram, words = _described(model, rows[sample], with_gram=True)
    axes, points = _space(model, gram, words)
    centres = centres_of(points, gram)
    if len(centres) == 0 and len(rows):
        centres = np.zeros((1, axes.shape[1]), np.float32)
    placed = unit(model.content.weights[rows] @ axes)
    groups, likeness = _assigned(placed, centres)
    groups, places = _with_known(ids, known, groups, placed, sample, gram)
    if np.any(places >= 0):
        centres = _middles(placed, groups, len(places))
        likeness = (placed * centres[groups]).sum(axis=1).astype(np.float32)
    order = np.argsort(-np.bincount(groups, minlength=len(centres)), kind="stable")
    by_size = np.argsort(order, kind="stable")[groups]
    facets, group_of = _facets(by_size, sample, gram, placed)
    return Interests(
        item_ids=ids,
        groups=by_size,
        likeness=likeness,
        axes=axes,
        centres=centres[order],
        nearness=_nearness(words @ axes, centres, groups[sample])[order],
        known=places[order],
        facets=facets,
        group_of=group_of,
    )


def _facets(
    groups: IntArray, sample: IntArray, gram: FloatArray, placed: FloatArray
) -> tuple[IntArray, IntArray]:
    """The facet of each paper (n,), and the group of each facet (f,).

    A tenth of a library may be too few papers to be told from chance, and is still not to be missed
    in a slate. So each group is cut into branches of LEAST_FACET of the library or more; what is in
    no branch is a facet, too. Papers outside the sample go with the nearest of their group.
    """
    least = max(2, int(np.ceil(LEAST_FACET * len(sample) - 1e-9)))
    facets: IntArray = np.zeros(len(groups), np.int64)
    group_of: list[int] = []
    for group in np.unique(groups).tolist():
        mine = np.flatnonzero(groups[sample] == group)
        found = facets_of(gram[np.ix_(mine, mine)], least)
        names, found = np.unique(found, return_inverse=True)
        own = groups == group
        if len(names) > 1:
            middles = _middles(placed[sample[mine]], found, len(names))
            facets[own] = np.argmax(placed[own] @ middles.T, axis=1)
            facets[sample[mine]] = found
        facets[own] += len(group_of)
        group_of.extend([group] * max(1, len(names)))
    return facets, np.array(group_of, np.int64)


def _assigned(points: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    near = points @ centres.T
    if near.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    groups = np.argmax(near, axis=1).astype(np.int64)
    groups[~np.any(points, axis=1)] = np.argmax(np.bincount(groups))
    return groups, near[np.arange(len(near)), groups].astype(np.float32)


def _nearness(placed: FloatArray, centres: FloatArray, groups: IntArray) -> FloatArray:
    near = placed @ centres.T
    own = [near[groups == group, group] for group in range(len(centres))]
    return np.array([np.median(one) if len(one) else 0.0 for one in own], np.float32)


# ---- What was found before ---------------------------------------------------------------------


def _with_known(
    ids: IntArray,
    known: Sequence[Known],
    groups: IntArray,
    placed: FloatArray,
    sample: IntArray,
    gram: FloatArray,
) -> tuple[IntArray, IntArray]:
    """The groups (n,) with what is known held on to, and the place of each group (g,), -1 if new.

    One that is set is held as long as it has a paper; another while it has as many as a new group
    needs and lies no nearer than STILL_APART to another that is not set. To be found takes more
    than to stay.
    """
    before: IntArray = np.full(len(ids), -1, np.int64)
    for place, one in enumerate(known):
        before[(before < 0) & np.isin(ids, one.item_ids)] = place
    loose = np.array([not one.is_set for one in known], np.bool_)
    sizes = np.bincount(before[before >= 0], minlength=len(known))
    gone = loose & ((sizes < LEAST_GROUP) | (len(ids) < LEAST_PAPERS))
    before[np.isin(before, np.flatnonzero(gone))] = -1
    held, places = _held(placed, groups, before)
    likeness_of = likenesses(gram, held[sample], len(places))
    # What is set must not swallow its neighbours, and its weight or mute hold for them, too.
    likeness_of[:, np.isin(places, np.flatnonzero(~loose))] = 0
    near = likeness_of.max(axis=1, initial=0)
    gone = loose & np.isin(np.arange(len(known)), places[near > STILL_APART])
    if not gone.any():
        return held, places
    before[np.isin(before, np.flatnonzero(gone))] = -1
    return _held(placed, groups, before)


def _held(placed: FloatArray, groups: IntArray, before: IntArray) -> tuple[IntArray, IntArray]:
    """Groups (n,) that hold the interests of ``before`` (n,) together, and the place of each (g,).

    Two interests are never made one. One is cut where two or more of the new ``groups`` are all but
    its own; what is largest goes on as the interest. Papers that were in none go to the nearest of
    the interests that are in their new group, and are a group of their own if there is none.
    """
    if not np.any(before >= 0):
        return groups, np.full(len(np.unique(groups)), -1, np.int64)
    found = np.full(len(groups), -1, np.int64)
    places: list[int] = []
    for place in np.unique(before[before >= 0]).tolist():
        own = before == place
        found[own] = len(places)
        places.append(place)
        for group in _own_groups(groups, before, place)[1:]:
            found[own & (groups == group)] = len(places)
            places.append(-1)
    middles = _middles(placed, found, len(places))
    sizes = np.bincount(found[found >= 0], minlength=len(places))
    for group in np.unique(groups[before < 0]).tolist():
        new = (groups == group) & (before < 0)
        here = np.bincount(found[(groups == group) & (before >= 0)], minlength=len(sizes))
        near = np.flatnonzero(here >= np.maximum(PRESENT * sizes, 1))
        if len(near):
            found[new] = near[np.argmax(placed[new] @ middles[near].T, axis=1)]
        else:
            found[new] = len(places)
            places.append(-1)
    return found, np.array(places, np.int64)


def _own_groups(groups: IntArray, before: IntArray, place: int) -> IntArray:
    """The new groups that are all but an interest's own, the largest first."""
    own = np.bincount(groups[before == place], minlength=int(groups.max()) + 1)
    all_known = np.bincount(groups[before >= 0], minlength=len(own))
    pure = np.flatnonzero((own >= LEAST_GROUP) & (own >= MOSTLY * all_known))
    return np.asarray(pure[np.argsort(-own[pure], kind="stable")], np.int64)


def _middles(placed: FloatArray, groups: IntArray, n: int) -> FloatArray:
    """Middles (n, d) of the groups, each of length 1."""
    sums = [placed[groups == group].sum(axis=0) for group in range(n)]
    return unit(np.stack(sums)) if sums else np.zeros((0, placed.shape[1]), np.float32)


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
    meanings = model.meanings
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
    meanings = model.meanings
    if len(meanings):
        through = meanings @ (meanings.T @ axes[model.factors.terms])
        axes = np.zeros_like(axes)
        axes[model.factors.terms] = through
    return axes, unit(words @ axes)
