"""Hiding the latest of what people did, so that a model can be asked to find it."""

from dataclasses import dataclass

import numpy as np

from models import BoolArray, IntArray
from models.feedback import History, to_confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """``known`` (n,) bool: rows to train on; ``hidden`` (n,) bool: liked rows to be found again."""

    known: BoolArray
    hidden: BoolArray


def split_by_time(
    user_ids: IntArray, history: History, *, share: float = 0.2, least_liked: int = 3
) -> Split:
    """Of each person with at least ``least_liked`` liked items the latest ``share`` is hidden.

    At least one item and never all are hidden. Dislikes stay known. Age is by ``age_days``; of rows
    of one age the larger id counts as the later one.
    """
    likes = to_confidence(history) > 0
    hidden = np.zeros(len(history), np.bool_)
    order = np.lexsort((-history.item_ids, history.age_days, user_ids))
    order = order[likes[order]]
    _, starts, counts = np.unique(user_ids[order], return_index=True, return_counts=True)
    for start, count in zip(starts, counts, strict=True):
        if count >= max(2, least_liked):
            n_hidden = min(count - 1, max(1, round(share * count)))
            hidden[order[start : start + n_hidden]] = True
    return Split(known=~hidden, hidden=hidden)


def rows_of(history: History, chosen: BoolArray) -> History:
    """The rows of a history where ``chosen`` (n,) is true."""
    return history.where(chosen)
