"""What a person did with papers, and how strongly each of it speaks for or against a paper.

Where a person said several things of one paper, the first of these that applies counts:

1. one or two stars: a dislike, whatever else was done;
2. four or five stars: a like, whatever else was said, since stars are the finest judgement;
3. "not my topic": a dislike;
4. "low quality": a mild dislike of the paper, hardly one of its topic;
5. everything else adds up: saved, finished, three stars, "more like this", opened.

What was merely opened counts, and is not shown again, for ``OPENING_COUNTS_DAYS``; if nothing came
of it by then, it is as if it had never been opened. So nothing that is evidence can be recommended,
least of all by itself.
"""

from dataclasses import dataclass, fields

import numpy as np

from models import AnyIntArray, BoolArray, FloatArray, IntArray

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
MORE_LIKE_THIS = 1.0
"""Said of a paper, it is as much of a wish as a bookmark."""
DISMISSED = -1.0
LOW_QUALITY = -0.3
"""Its topic may well be right, so its neighbours must not pay for it as for a dismissal."""
OPENING_COUNTS_DAYS = 30.0
"""Long enough not to show tomorrow what was put aside today; after that an opening by accident, or
a paper that there was no time for, gets another chance."""
HALF_LIFE_DAYS = 365.0
"""After a year without new evidence the part above the floor has halved."""
FLOOR = 0.5
"""Old evidence never weighs less than this share: interests last longer than sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One person's state: one row an item, in no order.

    ``item_ids`` (n,) int64; ``saved``, ``finished``, ``dismissed`` ("not my topic"),
    ``low_quality``, ``more_like_this`` (n,) bool; ``opens`` (n,) int64, how often; ``ratings`` (n,)
    int8, 0 for none, else 1 to 5; ``age_days`` (n,) float32, days since the latest evidence. Arrays
    of different lengths raise ValueError.
    """

    item_ids: IntArray
    saved: BoolArray
    finished: BoolArray
    dismissed: BoolArray
    low_quality: BoolArray
    more_like_this: BoolArray
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
        return self.where(~np.isin(self.item_ids, item_ids))

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
            low_quality=np.zeros(n, np.bool_),
            more_like_this=np.zeros(n, np.bool_),
            opens=np.zeros(n, np.int64),
            ratings=np.zeros(n, np.int64),
            age_days=np.zeros(n, np.float32),
        )

    def where(self, chosen: BoolArray | AnyIntArray) -> "History":
        """The rows where ``chosen`` (n,) is true, or those of these numbers."""
        return History(**{c.name: getattr(self, c.name)[chosen] for c in fields(History)})

    @property
    def known_ids(self) -> IntArray:
        """The items (≤ n,) int64 that are not to be recommended: all but those of old openings."""
        return self.item_ids[~_is_forgotten(self)]


def to_confidence(history: History) -> FloatArray:
    """Signed confidence (n,) float32 of each row, in bookmarks.

    Above 0: the person wants it, with that confidence. Below 0: the person does not want it
    (preference 0), with that weight. 0: nothing known. The size of a row without a recent sign of
    life fades: ``FLOOR + (1 - FLOOR) · 2^(-age / HALF_LIFE_DAYS)``. Preference and confidence are
    those of Hu, Koren & Volinsky, "Collaborative Filtering for Implicit Feedback Datasets", 2008.
    """
    stars = BY_RATING[_stars(history)]
    opens = np.log2(1.0 + np.maximum(history.opens, 0))
    wanted = (
        SAVED * history.saved
        + FINISHED * history.finished
        + MORE_LIKE_THIS * history.more_like_this
        + np.minimum(OPENED * opens, MOST_OPENED)
        + np.maximum(stars, 0)
    )
    signed = np.select(
        [
            stars < 0,
            _stars(history) >= 4,
            history.dismissed,
            history.low_quality,
            _is_forgotten(history),
        ],
        [stars, wanted, np.float32(DISMISSED), np.float32(LOW_QUALITY), np.float32(0)],
        default=wanted,
    )
    return np.asarray(signed * _freshness(history.age_days), np.float32)


def _stars(history: History) -> IntArray:
    return np.clip(np.asarray(history.ratings, np.int64), 0, 5)


def _is_forgotten(history: History) -> BoolArray:
    """(n,) bool: opened, nothing else, and too long ago to say anything still."""
    more = (
        history.saved
        | history.finished
        | history.dismissed
        | history.low_quality
        | history.more_like_this
        | (_stars(history) > 0)
    )
    is_old = np.asarray(history.age_days) >= OPENING_COUNTS_DAYS
    return np.asarray((history.opens > 0) & ~more & is_old, np.bool_)


def _freshness(age_days: FloatArray) -> FloatArray:
    age = np.maximum(np.nan_to_num(age_days, nan=0.0, posinf=1e9, neginf=0.0), 0)
    return (FLOOR + (1 - FLOOR) * np.exp2(-age / HALF_LIFE_DAYS)).astype(np.float32)
