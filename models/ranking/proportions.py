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
from models.ranking.blend import Blend, Evidence
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
BLOCK = 500
"""Papers looked at in one go."""
NEAR_THE_TOP = 2_000
"""Proposals are looked for among so many of the best scores; if these lack papers of an interest,
among so many of the best of its own."""


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

    def nearest(self, model: Model, rows: IntArray) -> IntArray:
        """The interest (k,) int64 that each paper is nearest to."""
        return np.asarray(self.unit_of[self.found.nearest(model, rows)])

    def belonging(self, model: Model, rows: IntArray) -> list[int | None]:
        """The interest of each paper, None for one that is near to none."""
        groups = self.found.belonging(model, rows).tolist()
        return [int(self.unit_of[group]) if group >= 0 else None for group in groups]


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


def best_unmuted(
    model: Model,
    portfolio: Portfolio,
    scores: FloatArray,
    rows: IntArray,
    limit: int,
    tie_break: FloatArray,
) -> IntArray:
    """Like :func:`best`, without the papers that belong to a muted interest."""
    if not portfolio.mutes_any:
        return best(scores, rows, limit, tie_break)
    order = best(scores, rows, len(rows), tie_break)
    found: list[IntArray] = []
    for start in range(0, len(order), BLOCK):
        block = order[start : start + BLOCK]
        found.append(block[~portfolio.mutes(model, block)])
        if sum(map(len, found)) >= limit:
            break
    return np.concatenate(found)[:limit] if found else order


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
) -> IntArray:
    """``chosen`` (≤ limit,), best first by ``scores`` (m,), with the floors kept.

    An interest that falls short gets its own best of the candidates ``rows``; they stand at the end
    and take the places of the lowest papers of interests that have more than their floor.
    No proposal is the twin of another, of a chosen row or of the rows ``met``.
    """
    floors = floors_of(model, portfolio, blended.evidence, limit)
    if len(floors) < 2:
        return chosen
    units = portfolio.nearest(model, chosen)
    missing = np.maximum(floors - np.bincount(units, minlength=len(floors)), 0)
    if not missing.any():
        return chosen
    others = np.setdiff1d(rows, chosen)
    beside = np.union1d(met, chosen)
    added = _proposed(model, portfolio, blended, others, missing, scores, beside)
    surplus = max(0, len(chosen) + len(added) - limit)
    kept = _without_lowest(units, floors, surplus)
    return np.concatenate([chosen[kept], added])[:limit]


def spare_last(
    model: Model, portfolio: Portfolio, evidence: Evidence, chosen: IntArray, n: int
) -> IntArray:
    """``chosen`` with the ``n`` rows last that can be given up for exploration, the lowest ones:
    without them each interest still has its floor of the places that are left."""
    floors = floors_of(model, portfolio, evidence, len(chosen) - n)
    if n == 0 or len(floors) < 2:
        return chosen
    kept = _without_lowest(portfolio.nearest(model, chosen), floors, n)
    return np.concatenate([chosen[kept], chosen[~kept]])


def floors_of(model: Model, portfolio: Portfolio, evidence: Evidence, limit: int) -> IntArray:
    """The least number of places of each interest (u,) int64, by summed confidence."""
    units = portfolio.units(model.item_ids[evidence.rows])
    liked = (evidence.confidence > 0) & (units >= 0)
    n_units = len(portfolio.weights)
    sums = np.bincount(units[liked], weights=evidence.confidence[liked], minlength=n_units)
    # A tenth of the library is to have two places of 20, and not one for a rounding error's sake.
    places = np.floor(limit * sums / max(float(sums.sum()), 1e-9) + 1e-4).astype(np.int64)
    return places if places.any() else np.zeros(0, np.int64)


def _proposed(
    model: Model,
    portfolio: Portfolio,
    blended: Blend,
    rows: IntArray,
    missing: IntArray,
    scores: FloatArray,
    met: IntArray,
) -> IntArray:
    """What the interests that miss places bring most to, as many as they miss; by score."""
    top = best(scores, rows, NEAR_THE_TOP, scores)
    units = portfolio.units(model.item_ids[blended.evidence.rows])
    added = np.zeros(0, np.int64)
    for unit in np.flatnonzero(missing):
        mine = top[portfolio.nearest(model, top) == unit]
        if len(mine) < missing[unit] and len(top) < len(rows):
            mine = rows[portfolio.nearest(model, rows) == unit]
            mine = best(scores, mine, NEAR_THE_TOP, scores)
        brought = np.zeros_like(scores)
        brought[mine] = brought_by(blended, units == unit, mine) * _lift(blended, scores, mine)
        found = distinct_best(
            model.content,
            model.title_keys,
            brought,
            mine,
            int(missing[unit]),
            tie_break=scores,
            met=np.concatenate([met, added]),
        )
        added = np.concatenate([added, found])
    return best(scores, added, len(added), scores)


def _lift(blended: Blend, scores: FloatArray, rows: IntArray) -> FloatArray:
    """What other things than taste, such as freshness, make of a score (k,), relative to it."""
    own = blended.scores[rows]
    return np.where(own > 0, scores[rows] / np.where(own > 0, own, 1), 1).astype(np.float32)


def _without_lowest(units: IntArray, floors: IntArray, surplus: int) -> BoolArray:
    """Which places of a slate stay, when so many have to go."""
    kept = np.ones(len(units), np.bool_)
    counts = np.bincount(units, minlength=len(floors))
    for place in range(len(units) - 1, -1, -1):
        if surplus > 0 and counts[units[place]] > floors[units[place]]:
            kept[place] = False
            counts[units[place]] -= 1
            surplus -= 1
    return kept


def brought_by(blended: Blend, own: BoolArray, targets: IntArray) -> FloatArray:
    """What the papers ``own`` (k,) bool of the evidence add to each target's score, (t,) float32:
    the shares of :func:`models.ranking.explain.shares`, a block of targets at a time."""
    blocks = [targets[start : start + BLOCK] for start in range(0, len(targets), BLOCK)]
    sums = [shares(blended, block)[:, own].sum(axis=1) for block in blocks]
    return np.concatenate(sums) if sums else np.zeros(0, np.float32)
