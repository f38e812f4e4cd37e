"""From opaque ids to rows of a matrix and back; nothing above this file does arithmetic on ids."""

from dataclasses import dataclass, field

import numpy as np

from models import AnyIntArray, BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class IdIndex:
    """Where each id stands in ``ids``.

    ``ids`` is (n,) int64, every id once, in any order. A repeated id raises ValueError.
    """

    ids: IntArray
    order: AnyIntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.ids, kind="stable")
        ordered = self.ids[order]
        if np.any(ordered[1:] == ordered[:-1]):
            raise ValueError("an id occurs twice")
        object.__setattr__(self, "order", order)

    def __len__(self) -> int:
        return len(self.ids)

    def look_up(self, wanted: AnyIntArray) -> tuple[IntArray, BoolArray]:
        """The positions (k,) int64 of the ids (k,), and (k,) bool which of them are known.

        The position of an unknown id is 0 and means nothing.
        """
        if len(self.ids) == 0:
            return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
        place = np.searchsorted(self.ids, wanted, sorter=self.order)
        positions = self.order[np.minimum(place, len(self.ids) - 1)].astype(np.int64)
        known = self.ids[positions] == wanted
        return np.where(known, positions, 0), known

    def positions(self, wanted: AnyIntArray) -> IntArray:
        """The positions (≤ k,) int64 of those ids that are known, in the order asked."""
        positions, known = self.look_up(wanted)
        return positions[known]
