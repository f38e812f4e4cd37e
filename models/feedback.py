"""What a person did with papers, and how strongly each of it speaks for or against a paper."""

from dataclasses import dataclass, fields

import numpy as np

from models import BoolArray, FloatArray, IntArray

SAVED = 1.0
"""The unit: everything else is measured against one bookmark."""
FINISHED = 0.5
"""Reading to the end confirms a bookmark, but many good papers are never finished."""
OPENED = 0.25
"""The first opening; later ones add less (logarithmically) up to MOST_OPENED."""
MOST_OPENED = 0.75
BY_RATING = np.array([0.0, -2.0, -1.0, 0.25, 1.0, 2.0], np.float32)
"""By rating, 0 = none. 1 and 2 replace all other evidence: a paper saved, read and found bad is
a bad paper. 3 is a mild yes."""
DISMISSED = -1.0
HALF_LIFE_DAYS = 365.0
"""After a year without new evidence the part above the floor has halved."""
FLOOR = 0.5
"""Old evidence never weighs less than this share: interests last longer than sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One person's state: one row an item, in no order.

    ``item_ids`` (n,) int64; ``saved``, ``finished``, ``dismissed`` (n,) bool; ``opens`` (n,) int64,
    how often; ``ratings`` (n,) int8, 0 for none, else 1 to 5; ``age_days`` (n,) float32, days since
    the latest evidence. Arrays of different lengths raise ValueError.
    """

    item_ids: IntArray
    saved: BoolArray
    finished: BoolArray
    dismissed: BoolArray
    opens: IntArray
    ratings: IntArray
    age_days: FloatArray

    def __post_init__(self) -> None:
        if len({len(getattr(self, column.name)) for column in fields(self)}) > 1:
            raise ValueError("the columns of a history have one length")

    def __len__(self) -> int:
        return len(self.item_ids)

    def without(self, item_ids: IntArray) -> "History":
        """The history of somebody who never met these items (k,) int64."""
        kept = ~np.isin(self.item_ids, item_ids)
        return History(**{column.name: getattr(self, column.name)[kept] for column in fields(self)})

    @classmethod
    def empty(cls) -> "History":
        """The history of somebody who has done nothing yet."""
        return cls.of_saved(np.zeros(0, np.int64))

    @classmethod
    def of_saved(cls, item_ids: IntArray) -> "History":
        """Items (n,) int64 bookmarked just now, and nothing else known."""
        n = len(item_ids)
        return cls(
            item_ids=np.asarray(item_ids, np.int64),
            saved=np.ones(n, np.bool_),
            finished=np.zeros(n, np.bool_),
            dismissed=np.zeros(n, np.bool_),
            opens=np.zeros(n, np.int64),
            ratings=np.zeros(n, np.int64),
            age_days=np.zeros(n, np.float32),
        )


def to_confidence(history: History) -> FloatArray:
    """Signed confidence (n,) float32 of each row, in bookmarks.

    Above 0: the person wants it, with that confidence. Below 0: the person does not want it
    (preference 0), with that weight. 0: nothing known. The size of a row without a recent sign of
    life fades: ``FLOOR + (1 - FLOOR) · 2^(-age / HALF_LIFE_DAYS)``. Preference and confidence are
    those of Hu, Koren & Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", 2008.
    """
    ratings = np.clip(np.asarray(history.ratings, np.int64), 0, 5)
    opens = np.log2(1.0 + np.maximum(history.opens, 0))
    wanted = (
        SAVED * history.saved
        + FINISHED * history.finished
        + np.minimum(OPENED * opens, MOST_OPENED)
        + np.maximum(BY_RATING[ratings], 0)
    )
    signed = np.where(history.dismissed & (ratings < 4), DISMISSED, wanted)
    signed = np.where(BY_RATING[ratings] < 0, BY_RATING[ratings], signed)
    return (signed * _freshness(history.age_days)).astype(np.float32)


def _freshness(age_days: FloatArray) -> FloatArray:
    age = np.maximum(np.nan_to_num(age_days, nan=0.0, posinf=1e9, neginf=0.0), 0)
    return (FLOOR + (1 - FLOOR) * np.exp2(-age / HALF_LIFE_DAYS)).astype(np.float32)
