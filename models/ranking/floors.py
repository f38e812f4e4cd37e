"""What each interest has of a slate at least, and how it comes by it.

A slate of the best scores alone serves the largest interest: papers near 90 liked ones outscore
papers near 10. Steck, "Calibrated Recommendations" (RecSys 2018) asks for a slate whose interests
are in the proportions of the person's own list. Here that is a floor on two levels. Each *interest*
has at least the whole places of its share, filled by what it proposes itself. Each *facet* of one
(a branch of a tenth of the library or more, see ``interests.py``) has one place where two would be
its share: what is too little to be called an interest is not to be missed all the same. The rest is
by score.
"""

from dataclasses import dataclass

import numpy as np

from models import BoolArray, FloatArray, IntArray
from models.ranking.blend import Blend, Evidence, blend
from models.ranking.candidates import best
from models.ranking.explain import sums
from models.ranking.model import Model
from models.ranking.proportions import Portfolio
from models.ranking.twins import distinct_best

NEAR_THE_TOP = 2_000
"""Proposals are looked for among so many of the best scores, and among so many of what would be
recommended for the papers of the interest alone."""
ROUNDING = 1e-4
"""A tenth of the library is to have two places of 20, and not one for a rounding error's sake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The rows of a slate (k,) int64, and whose they are: ``owners`` (2, k) int64, an interest and
    a facet of it, -1 for none."""

    rows: IntArray
    owners: IntArray

    @property
    def units(self) -> IntArray:
        """The interest that each row comes from, (k,) int64, -1 for none."""
        return np.asarray(self.owners[0], np.int64)

    def __getitem__(self, kept: BoolArray | IntArray) -> "Places":
        return Places(rows=self.rows[kept], owners=self.owners[:, kept])

    def then(self, more: "Places") -> "Places":
        return Places(
            rows=np.concatenate([self.rows, more.rows]),
            owners=np.concatenate([self.owners, more.owners], axis=1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """Facets (f,) put into groups: ``group_of`` (f,) int64. A paper is owed to the group whose
    papers bring most to it, if that is more than ``least`` of all that any brings."""

    group_of: IntArray
    n_groups: int
    least: float

    def amounts(self, brought: FloatArray) -> FloatArray:
        """What each group brings, (t, g), of what facets do, (t, f)."""
        return np.asarray(brought @ self._belongs(), np.float32)

    def owners(self, brought: FloatArray) -> IntArray:
        """The group each paper is owed to, (t,) int64, -1 for none."""
        if self.n_groups == 0 or len(brought) == 0:
            return np.full(len(brought), -1, np.int64)
        amounts = self.amounts(brought)
        all_of_it = np.maximum(brought, 0).sum(axis=1)
        top = np.argmax(amounts, axis=1)
        owed = amounts[np.arange(len(top)), top] > self.least * all_of_it
        return np.where(owed, top, -1).astype(np.int64)

    def _belongs(self) -> FloatArray:
        belongs = self.group_of[:, None] == np.arange(self.n_groups)
        return np.asarray(belongs, np.float32)


class Floors:
    """The floors of one person's slates, for scores that are ``blended``."""

    def __init__(self, model: Model, portfolio: Portfolio, blended: Blend) -> None:
        self._model, self._portfolio, self._blended = model, portfolio, blended
        evidence = blended.evidence
        facets = portfolio.facets(model.item_ids[evidence.rows])
        self._facets = np.where(evidence.confidence > 0, facets, -1)
        self._unit_of = portfolio.unit_of_facet
        n_facets = len(self._unit_of)
        belongs = np.asarray(self._facets[:, None] == np.arange(n_facets), np.float32)
        self._brought = sums(blended, belongs)
        self._levels = (
            _Level(group_of=self._unit_of, n_groups=len(portfolio.weights), least=0.0),
            _Level(group_of=np.arange(n_facets), n_groups=n_facets, least=0.5),
        )

    def origins(self, rows: IntArray) -> IntArray:
        """The interest (k,) int64 whose papers add most to the score of each row; -1 where none
        adds.

        By what the score is made of, and not by how near a paper is: a title of five words is near
        to nothing, and yet it is owed to somebody's papers.
        """
        return self._levels[0].owners(self._brought(rows))

    def kept(
        self, chosen: IntArray, rows: IntArray, *, limit: int, scores: FloatArray, met: IntArray
    ) -> Places:
        """``chosen`` (≤ limit,), best first by ``scores`` (m,), with the floors kept.

        An interest that falls short gets its own best of the candidates ``rows``, and then a facet;
        they stand at the end and take the places of the lowest papers of interests and facets that
        have more than their floor. No proposal is the twin of another, of a chosen row or of the
        rows ``met``.
        """
        floors = self._floors(limit)
        places = self._placed(chosen)
        for number, level in enumerate(self._levels):
            missing = np.maximum(floors[number] - _counts(places.owners[number], level.n_groups), 0)
            if not missing.any():
                continue
            others, beside = np.setdiff1d(rows, places.rows), np.union1d(met, places.rows)
            added = self._proposed(number, others, missing, scores, beside)
            surplus = max(0, len(places.rows) + len(added.rows) - limit)
            n_before = len(places.rows)
            places = places.then(added)
            places = places[_without_lowest(places, floors, surplus, n_before)]
        return places

    def spare_last(self, places: Places, n: int) -> Places:
        """The ``n`` places last that can be given up for exploration, the lowest ones: without them
        each interest and facet still has its floor of the places that are left."""
        if n == 0:
            return places
        floors = self._floors(len(places.rows) - n)
        kept = _without_lowest(places, floors, n, len(places.rows))
        return places[kept].then(places[~kept])

    def _floors(self, limit: int) -> tuple[IntArray, IntArray]:
        """The least number of places of each interest (u,) and facet (f,), by summed confidence."""
        liked = self._facets >= 0
        n_facets = len(self._unit_of)
        weights = self._blended.evidence.confidence[liked]
        brought = np.bincount(self._facets[liked], weights=weights, minlength=n_facets)
        due = limit * brought / max(float(brought.sum()), 1e-9) + ROUNDING
        units = np.bincount(self._unit_of, weights=due, minlength=self._levels[0].n_groups)
        return np.floor(units).astype(np.int64), (due >= 2).astype(np.int64)

    def _placed(self, rows: IntArray) -> Places:
        brought = self._brought(rows)
        units, facets = (level.owners(brought) for level in self._levels)
        return Places(rows=rows, owners=np.stack([units, self._within(facets, units)]))

    def _within(self, facets: IntArray, units: IntArray) -> IntArray:
        return np.where(np.append(self._unit_of, -1)[facets] == units, facets, -1)

    def _proposed(
        self, number: int, rows: IntArray, missing: IntArray, scores: FloatArray, met: IntArray
    ) -> Places:
        """What the groups of a level that miss places bring most to, as many as they miss; by
        score."""
        top = best(scores, rows, NEAR_THE_TOP, scores)
        added = Places(rows=np.zeros(0, np.int64), owners=np.zeros((2, 0), np.int64))
        for group in np.flatnonzero(missing).tolist():
            seen = top
            if len(top) < len(rows):
                seen = np.union1d(top, self._best_alone(number, group, rows))
            beside = np.concatenate([met, added.rows])
            mine = self._most_owed(number, group, seen, int(missing[group]), scores, beside)
            places = self._placed(mine)
            units, facets = places.owners
            if number == 0:
                units[:] = group
                facets[:] = self._within(facets, units)
            else:
                units[:], facets[:] = self._unit_of[group], group
            added = added.then(places)
        return added[np.lexsort((added.rows, -scores[added.rows]))]

    def _most_owed(
        self, number: int, group: int, rows: IntArray, n: int, scores: FloatArray, met: IntArray
    ) -> IntArray:
        """The ``n`` rows to which a group brings most, none of a muted interest: first those that
        are owed to it, then, if these are too few, any to which it brings something."""
        model, level = self._model, self._levels[number]
        rows = np.setdiff1d(rows, met)
        rows = rows[~self._portfolio.mutes(model, rows)]
        brought = self._brought(rows)
        amounts = level.amounts(brought)[:, group]
        found = np.zeros(0, np.int64)
        for fits in (level.owners(brought) == group, amounts > 0):
            if len(found) == n:
                break
            worth = np.zeros_like(scores)
            worth[rows] = amounts * _lift(self._blended, scores, rows)
            more = distinct_best(
                model.content,
                model.title_keys,
                worth,
                np.setdiff1d(rows[fits], found),
                n - len(found),
                tie_break=scores,
                met=np.concatenate([met, found]),
            )
            found = np.concatenate([found, more])
        return found

    def _best_alone(self, number: int, group: int, rows: IntArray) -> IntArray:
        """What would be recommended to somebody who likes the papers of one group only."""
        evidence = self._blended.evidence
        own = np.append(self._levels[number].group_of, -1)[self._facets] == group
        alone = Evidence(rows=evidence.rows[own], confidence=evidence.confidence[own])
        taste = blend(self._model, alone).taste
        return best(taste, rows[taste[rows] > 0], NEAR_THE_TOP, taste)


def _lift(blended: Blend, scores: FloatArray, rows: IntArray) -> FloatArray:
    """What other things than taste, such as freshness, make of a score (k,), relative to it."""
    own = blended.scores[rows]
    return np.where(own > 0, scores[rows] / np.where(own > 0, own, 1), 1).astype(np.float32)


def _counts(owners: IntArray, n: int) -> IntArray:
    """How many there are of each owner, (n,) int64, whatever else there is."""
    return np.bincount(owners[owners >= 0], minlength=n).astype(np.int64)


def _without_lowest(
    places: Places, floors: tuple[IntArray, IntArray], surplus: int, n: int
) -> BoolArray:
    """Which places of a slate stay, when so many of the first ``n`` have to go."""
    kept = np.ones(len(places.rows), np.bool_)
    # The last one is for what comes from no interest or facet.
    least = [np.append(floor, 0) for floor in floors]
    counts = [
        np.append(_counts(owners, len(floor)), len(owners))
        for owners, floor in zip(places.owners, floors, strict=True)
    ]
    for place in range(n - 1, -1, -1):
        owners = places.owners[:, place]
        if surplus > 0 and all(
            counts[level][owner] > least[level][owner] for level, owner in enumerate(owners)
        ):
            kept[place] = False
            surplus -= 1
            for level, owner in enumerate(owners):
                counts[level][owner] -= 1
    return kept
