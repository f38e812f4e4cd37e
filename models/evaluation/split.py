"""Hiding the latest of what people did, so that a model can be asked to find it."""

from dataclasses import dataclass

import numpy as np

from models import AnyIntArray, BoolArray, IntArray
from models.feedback import History, to_confidence

LEAST_LIKED = 3
"""Of fewer liked items none is hidden: one or two say too little to find the next one by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """``known`` (n,) bool: rows to train on; ``hidden`` (n,) bool: liked rows to be found again."""

    known: BoolArray
    hidden: BoolArray


def split_by_time(
    user_ids: IntArray, history: History, *, share: float = 0.2, least_liked: int = LEAST_LIKED
) -> Split:
    """Of each person with at least ``least_liked`` liked items the latest ``share`` is hidden.

    At least one item and never all are hidden. Dislikes stay known. Age is by ``age_days``; of rows
    of one age the larger id counts as the later one.
    """
    order = np.lexsort((-history.item_ids, history.age_days, user_ids))
    return _hide_first(user_ids, history, order, share, least_liked)


def split_at_random(
    user_ids: IntArray,
    history: History,
    *,
    rng: np.random.Generator,
    share: float = 0.2,
    least_liked: int = LEAST_LIKED,
) -> Split:
    """The same for data without times: which of a person's liked items are hidden is drawn."""
    order = np.lexsort((rng.permutation(len(history)), user_ids))
    return _hide_first(user_ids, history, order, share, least_liked)


def _hide_first(
    user_ids: IntArray, history: History, order: AnyIntArray, share: float, least_liked: int
) -> Split:
    """Hide the first liked rows of each person in ``order``, which keeps people together."""
    hidden = np.zeros(len(history), np.bool_)
    order = order[to_confidence(history)[order] > 0]
    _, starts, counts = np.unique(user_ids[order], return_index=True, return_counts=True)
    for start, count in zip(starts, counts, strict=True):
        if count >= max(2, least_liked):
            n_hidden = min(count - 1, max(1, round(share * count)))
            hidden[order[start : start + n_hidden]] = True
    return Split(known=~hidden, hidden=hidden)
