"""What a change of a person's library does to what they would be recommended."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from models.feedback import History
from models.recommending import Request, leaders
from service.catalogue.queries import papers_of_works
from service.recommend.dataset import hidden_works, history_of
from service.recommend.interests import MyInterests, interests_of
from service.recommend.live_model import Live, LiveModel
from service.recommend.records import Effect
from service.tables import Paper

TOP = 50
MOST_NAMED = 5
"""Of the papers that entered, and of those that left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """All that a person's list depends on, as it is at one moment."""

    history: History
    hidden: NDArray[np.int64]


def basis(session: Session, user_id: int, *, now: datetime) -> Basis:
    """How things stand, in a session bound to that person: a handful of queries, no arithmetic."""
    return Basis(
        history=history_of(session, user_id, now=now),
        hidden=hidden_works(session, user_id, now=now),
    )


def effect_since(
    session: Session, live_model: LiveModel, user_id: int, before: Basis, *, now: datetime
) -> Effect:
    """Which of the person's 50 best papers are others than they were, by one and the same model.

    Ask with the time that ``before`` was taken at, so that nothing but the change makes a
    difference. Two rankings of the catalogue: not for a session that holds the write lock.
    """
    live = live_model.current(session, now=now)
    old, new = (
        _top(live, at, interests_of(session, live_model, live, user_id, at.history))
        for at in (before, basis(session, user_id, now=now))
    )
    entered, left = new[~np.isin(new, old)], old[~np.isin(old, new)]
    changed = max(len(entered), len(left))
    return Effect(
        changed_of_top_50=changed,
        text=_in_words(changed, max(len(old), len(new))),
        entered=_papers(session, entered[:MOST_NAMED]),
        left=_papers(session, left[:MOST_NAMED]),
    )


def _papers(session: Session, works: NDArray[np.int64]) -> tuple[Paper, ...]:
    """One paper of each work, in their order; a work that is gone meanwhile is left out."""
    papers = papers_of_works(session, works.tolist()) if len(works) else {}
    return tuple(papers[work] for work in works.tolist() if work in papers)


def _top(live: Live, at: Basis, mine: MyInterests) -> NDArray[np.int64]:
    request = Request(limit=TOP, exclude=at.hidden, interests=mine.portfolio)
    return leaders(live.model, at.history, request)


def _in_words(changed: int, n: int) -> str:
    return (
        f"{changed or 'None'} of your top {n} changed." if n else "There is nothing to recommend."
    )
