"""How much each of a person's interests weighs; what each has of a slate is in ``floors.py``."""

from dataclasses import dataclass

import numpy as np

from models import BoolArray, FloatArray, IntArray
from models.feedback import History, to_confidence
from models.ranking.blend import Evidence
from models.ranking.interests import Interests
from models.ranking.model import Model

DAMPING = 0.8
"""What one "not my topic" leaves of the weight of the interest it belongs to: three halve it. Not
measured, since no public data has such feedback."""
LEAST_DAMPED = 0.25
"""Feedback never takes away more: an interest is silenced by muting it, and only by that."""


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
    def matters(self) -> bool:
        """Whether a list could be another one without it."""
        return not self.is_plain or len(self.unit_of_facet) > 1

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
        return self._told(item_ids, self.unit_of[self.found.groups])

    def facets(self, item_ids: IntArray) -> IntArray:
        """The facet of each liked paper (k,) int64, -1 for others."""
        return self._told(item_ids, self.found.facets)

    @property
    def unit_of_facet(self) -> IntArray:
        """The interest that each facet is a part of, (f,) int64."""
        return self.unit_of[self.found.group_of]

    def _told(self, item_ids: IntArray, labels: IntArray) -> IntArray:
        known = self.found.item_ids
        if len(known) == 0:
            return np.full(len(item_ids), -1, np.int64)
        place = np.minimum(np.searchsorted(known, item_ids), len(known) - 1)
        return np.where(known[place] == item_ids, labels[place], -1)


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
