"""Interests in a slate: how much each weighs, what each proposes, and its share of the places.

A slate of the best scores alone serves the largest interest: papers near 90 liked ones outscore
papers near 10. Steck, "Calibrated Recommendations" (RecSys 2018) asks for a slate whose interests
are in the proportions of the person's own list. Here that is a floor: each interest has at least
the whole places of its share, filled by what it proposes itself, and the rest is by score.

Measured on the validation part of CiteULike-t, nDCG@20 of scores alone and with the floors: 400
people .1548 and .1546 (41 of them have more than one interest); two people's lists in one, 88 of
them, .132 and .131; a list and another of a tenth of its size, 71 of them, .125 and .127, where
without floors .7 interests a slate were missing. Strict turns (PM-2, Dang & Croft, SIGIR 2012) had
.1533, .147 and .125; half the floors .1546, .131 and .126.
"""

from dataclasses import dataclass

import numpy as np

from models import BoolArray, FloatArray, IntArray
from models.feedback import History, to_confidence
from models.ranking.blend import Blend, Evidence, blend
from models.ranking.candidates import best
from models.ranking.explain import shares
from models.ranking.interests import Interests
from models.ranking.model import Model
from models.ranking.twins import distinct_best

DAMPING = 0.8
"""What one "not my topic" leaves of the weight of the interest it belongs to: three halve it. Not
measured, since no public data has such feedback."""
LEAST_DAMPED = 0.25
"""Feedback never takes away more: an interest is silenced by muting it, and only by that."""
CELLS = 1_000_000
"""Shares computed in one go, of papers by the person's own."""
NEAR_THE_TOP = 2_000
"""Proposals are looked for among so many of the best scores, and among so many of what would be
recommended for the papers of the interest alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portfolio:
    """How a person's interests are to count.

    ``unit_of`` (g,) int64 says which interest each group of ``found`` is a part of, so that several
    groups can be one; ``weights`` (u,) float32 is how much each interest counts against the others,
    0 for one that is muted.
    """

    found: Interests
    unit_of: IntArray
    weights: FloatArray

    @property
    def is_plain(self) -> bool:
        """Whether the list is the one that somebody without interests would get."""
        return len(self.weights) <= 1 and bool(np.all(self.weights > 0))

    @property
    def mutes_any(self) -> bool:
        return bool(np.any(self.weights == 0))

    def mutes(self, model: Model, rows: IntArray) -> BoolArray:
        """Which papers (k,) bool belong to an interest that is muted."""
        if not self.mutes_any:
            return np.zeros(len(rows), np.bool_)
        groups = self.found.belonging(model, rows)
        return np.asarray((groups >= 0) & (self.weights == 0)[self.unit_of[groups]])

    def units(self, item_ids: IntArray) -> IntArray:
        """The interest of each liked paper (k,) int64, -1 for others."""
        if len(self.found.item_ids) == 0:
            return np.full(len(item_ids), -1, np.int64)
        place = np.searchsorted(self.found.item_ids, item_ids)
        place = np.minimum(place, len(self.found.item_ids) - 1)
        known = self.found.item_ids[place] == item_ids
        return np.where(known, self.unit_of[self.found.groups[place]], -1)


def damping(
    model: Model, found: Interests, unit_of: IntArray, n_units: int, history: History
) -> FloatArray:
    """What dismissals leave of the weight of each interest, (n_units,) float32, LEAST_DAMPED to 1.

    ``DAMPING`` to the number of dismissed papers that belong to it. Nothing of this is stored: undo
    the dismissal and the weight is back.
    """
    dismissed = history.item_ids[history.dismissed & (to_confidence(history) < 0)]
    rows = model.items.positions(dismissed)
    if len(rows) == 0 or n_units == 0:
        return np.ones(n_units, np.float32)
    groups = found.belonging(model, rows)
    counts = np.bincount(unit_of[groups[groups >= 0]], minlength=n_units)
    return np.asarray(np.maximum(DAMPING**counts, LEAST_DAMPED), np.float32)


def weighted(model: Model, evidence: Evidence, portfolio: Portfolio) -> Evidence:
    """The evidence with each liked paper's confidence times the weight of its interest.

    Weights are relative: all doubled, or one alone, changes nothing. Papers of muted interests are
    left out; disliked papers stay as they are.
    """
    if portfolio.is_plain:
        return evidence
    units = portfolio.units(model.item_ids[evidence.rows])
    liked = (evidence.confidence > 0) & (units >= 0)
    weights = np.where(liked, np.append(portfolio.weights, 1)[units], 1).astype(np.float32)
    if np.all(weights == weights[:1]) and np.all(weights > 0):
        return evidence
    before = evidence.confidence[liked]
    after = float((before * weights[liked]).sum())
    scale = np.where(liked, float(before.sum()) / after if after > 0 else 0.0, 1.0)
    confidence = (evidence.confidence * weights * scale).astype(np.float32)
    kept = confidence != 0
    return Evidence(rows=evidence.rows[kept], confidence=confidence[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The rows of a slate (k,) int64 and the interest that each comes from, -1 for none."""

    rows: IntArray
    units: IntArray

    def __getitem__(self, kept: BoolArray) -> "Places":
        return Places(rows=self.rows[kept], units=self.units[kept])

    def then(self, more: "Places") -> "Places":
        return Places(
            rows=np.concatenate([self.rows, more.rows]),
            units=np.concatenate([self.units, more.units]),
        )


def proportional(
    model: Model,
    portfolio: Portfolio,
    blended: Blend,
    chosen: IntArray,
    rows: IntArray,
    *,
    limit: int,
    scores: FloatArray,
    met: IntArray,
) -> Places:
    """``chosen`` (≤ limit,), best first by ``scores`` (m,), with the floors kept.

    An interest that falls short gets its own best of the candidates ``rows``; they stand at the end
    and take the places of the lowest papers of interests that have more than their floor.
    No proposal is the twin of another, of a chosen row or of the rows ``met``.
    """
    floors = floors_of(model, portfolio, blended.evidence, limit)
    places = Places(rows=chosen, units=origins(model, portfolio, blended, chosen))
    missing = np.maximum(floors - _counts(places.units, len(floors)), 0)
    if len(floors) < 2 or not missing.any():
        return places
    others = np.setdiff1d(rows, chosen)
    beside = np.union1d(met, chosen)
    added = _proposed(model, portfolio, blended, others, missing, scores, beside)
    surplus = max(0, len(chosen) + len(added.rows) - limit)
    return places[_without_lowest(places.units, floors, surplus)].then(added)


def spare_last(
    model: Model, portfolio: Portfolio, evidence: Evidence, places: Places, n: int
) -> Places:
    """The ``n`` places last that can be given up for exploration, the lowest ones: without them
    each interest still has its floor of the places that are left."""
    floors = floors_of(model, portfolio, evidence, len(places.rows) - n)
    if n == 0 or len(floors) < 2:
        return places
    kept = _without_lowest(places.units, floors, n)
    return places[kept].then(places[~kept])


def floors_of(model: Model, portfolio: Portfolio, evidence: Evidence, limit: int) -> IntArray:
    """The least number of places of each interest (u,) int64, by summed confidence."""
    units = portfolio.units(model.item_ids[evidence.rows])
    liked = (evidence.confidence > 0) & (units >= 0)
    n_units = len(portfolio.weights)
    sums = np.bincount(units[liked], weights=evidence.confidence[liked], minlength=n_units)
    # A tenth of the library is to have two places of 20, and not one for a rounding error's sake.
    return np.floor(limit * sums / max(float(sums.sum()), 1e-9) + 1e-4).astype(np.int64)


def _proposed(
    model: Model,
    portfolio: Portfolio,
    blended: Blend,
    rows: IntArray,
    missing: IntArray,
    scores: FloatArray,
    met: IntArray,
) -> Places:
    """What the interests that miss places bring most to, as many as they miss; by score."""
    top = best(scores, rows, NEAR_THE_TOP, scores)
    added = Places(rows=np.zeros(0, np.int64), units=np.zeros(0, np.int64))
    for unit in np.flatnonzero(missing).tolist():
        seen = top
        if len(top) < len(rows):
            alone = _best_alone(model, portfolio, blended.evidence, rows, unit)
            seen = np.union1d(top, alone)
        beside, n = np.concatenate([met, added.rows]), int(missing[unit])
        mine = _most_owed(model, portfolio, blended, seen, unit, n, scores, beside)
        added = added.then(Places(rows=mine, units=np.full(len(mine), unit)))
    order = np.lexsort((added.rows, -scores[added.rows]))
    return Places(rows=added.rows[order], units=added.units[order])


def _most_owed(
    model: Model,
    portfolio: Portfolio,
    blended: Blend,
    rows: IntArray,
    unit: int,
    n: int,
    scores: FloatArray,
    met: IntArray,
) -> IntArray:
    """The ``n`` rows to which an interest brings most, none of a muted one: first those that come
    from it, then, if these are too few, any to which it brings something."""
    rows = np.setdiff1d(rows, met)
    rows = rows[~portfolio.mutes(model, rows)]
    amounts = _brought_by_each(model, portfolio, blended, rows)
    found = np.zeros(0, np.int64)
    for fits in (_largest(amounts) == unit, amounts[:, unit] > 0):
        if len(found) == n:
            break
        worth = np.zeros_like(scores)
        worth[rows] = amounts[:, unit] * _lift(blended, scores, rows)
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


def _best_alone(
    model: Model, portfolio: Portfolio, evidence: Evidence, rows: IntArray, unit: int
) -> IntArray:
    """What would be recommended to somebody who likes the papers of one interest only."""
    own = portfolio.units(model.item_ids[evidence.rows]) == unit
    alone = Evidence(rows=evidence.rows[own], confidence=evidence.confidence[own])
    taste = blend(model, alone).taste
    return best(taste, rows[taste[rows] > 0], NEAR_THE_TOP, taste)


def _lift(blended: Blend, scores: FloatArray, rows: IntArray) -> FloatArray:
    """What other things than taste, such as freshness, make of a score (k,), relative to it."""
    own = blended.scores[rows]
    return np.where(own > 0, scores[rows] / np.where(own > 0, own, 1), 1).astype(np.float32)


def _counts(units: IntArray, n: int) -> IntArray:
    """How many there are of each interest, (n,) int64, whatever else there is."""
    return np.bincount(units[units >= 0], minlength=n).astype(np.int64)


def _without_lowest(units: IntArray, floors: IntArray, surplus: int) -> BoolArray:
    """Which places of a slate stay, when so many have to go."""
    kept = np.ones(len(units), np.bool_)
    units = np.where(units < 0, len(floors), units)
    floors = np.append(floors, 0)  # of those that come from no interest
    counts = _counts(units, len(floors))
    for place in range(len(units) - 1, -1, -1):
        if surplus > 0 and counts[units[place]] > floors[units[place]]:
            kept[place] = False
            counts[units[place]] -= 1
            surplus -= 1
    return kept


def origins(model: Model, portfolio: Portfolio, blended: Blend, rows: IntArray) -> IntArray:
    """The interest (k,) int64 whose papers add most to the score of each row; -1 where none adds.

    By what the score is made of, and not by how near a paper is: a title of five words is near to
    nothing, and yet it is owed to somebody's papers.
    """
    return _largest(_brought_by_each(model, portfolio, blended, rows))


def _largest(amounts: FloatArray) -> IntArray:
    if amounts.shape[1] == 0:
        return np.full(len(amounts), -1, np.int64)
    return np.where(amounts.max(axis=1) > 0, np.argmax(amounts, axis=1), -1).astype(np.int64)


def _brought_by_each(
    model: Model, portfolio: Portfolio, blended: Blend, targets: IntArray
) -> FloatArray:
    """What the liked papers of each interest add to each target's score, (t, u) float32."""
    units = portfolio.units(model.item_ids[blended.evidence.rows])
    units = np.where(blended.evidence.confidence > 0, units, -1)
    belongs = (units[:, None] == np.arange(len(portfolio.weights))).astype(np.float32)
    size = max(1, CELLS // max(1, len(units)))
    blocks = [targets[start : start + size] for start in range(0, len(targets), size)]
    sums = [shares(blended, block) @ belongs for block in blocks]
    return np.concatenate(sums) if sums else np.zeros((0, belongs.shape[1]), np.float32)
