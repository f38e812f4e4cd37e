"""A wish as the models understand it: what counts of a history, what may be shown, by what rules.

Lists and explanations put the same question, so that their numbers are the same.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.config import Config
from models.feedback import History
from models.recommending import Request
from service.errors import InvalidInput
from service.recommend.dataset import hidden_works, history_of, works_collected, works_tagged
from service.recommend.interests import MyInterests, interests_of, seeds_of
from service.recommend.live_model import Live, LiveModel
from service.recommend.records import Wish
from service.recommend.restrictions import Restriction, allowed_works, restrictions_of
from service.tables import Paper

DEFAULT_DIVERSITY = Config().diversity

Works = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of any model; what depends on the model is filled in by :func:`request_to`.

    ``history`` is what counts of ``everything`` that the person did; ``named`` are the works of the
    seeds; ``restrictions`` leave the works ``request.allowed``.
    """

    history: History
    everything: History
    request: Request
    named: Works
    restrictions: Sequence[Restriction]


def question_of(
    session: Session,
    live_model: LiveModel,
    live: Live,
    user_id: int,
    wish: Wish,
    *,
    now: datetime,
) -> Question:
    """The question of one person, in a session bound to that person.

    The papers of an interest are those that it has under the ``live`` model, as the person sees
    them, whichever model is asked. Raises InvalidInput for seeds, tags, collections, interests,
    venues or listings that are not there.
    """
    everything = history_of(session, user_id, now=now)
    restrictions = restrictions_of(session, wish)
    named = _works_named(session, wish.seeds, "seeds")
    tags = () if wish.tag is None else (wish.tag,)
    seeds = np.union1d(named, _works_tagged(session, user_id, tags, "tag"))
    if wish.collection is not None:
        collected = works_collected(session, user_id, wish.collection)
        seeds = np.union1d(seeds, np.array(sorted(collected), dtype=np.int64))
    if wish.interest is not None:
        mine = interests_of(session, live_model, live, user_id, everything)
        seeds = np.union1d(seeds, seeds_of(mine, wish.interest))
    hidden = [
        hidden_works(session, user_id, now=now),
        everything.known_ids,
        _works_named(session, wish.exclude, "exclude_papers"),
    ]
    request = Request(
        limit=wish.limit,
        allowed=allowed_works(session, restrictions),
        exclude=np.concatenate(hidden),
        seeds=seeds,
        diversity=DEFAULT_DIVERSITY if wish.diversity is None else wish.diversity,
        freshness=wish.freshness,
        explain=wish.explain,
        exploration=wish.exploration,
    )
    left_out = _works_tagged(session, user_id, wish.exclude_tags, "exclude_tag")
    return Question(
        history=everything.without(left_out),
        everything=everything,
        request=request,
        named=named,
        restrictions=restrictions,
    )


def request_to(
    session: Session, live_model: LiveModel, one: Live, user_id: int, question: Question
) -> tuple[Request, MyInterests | None]:
    """The question as it is put to one model, with the person's interests as that model finds them
    in all that they like; with neither where seeds stand for the interests."""
    if len(question.request.seeds):
        return question.request, None
    mine = interests_of(session, live_model, one, user_id, question.everything)
    return replace(question.request, interests=mine.portfolio), mine


def _works_named(session: Session, papers: Collection[UUID], field: str) -> Works:
    """The works of these papers; raises InvalidInput for one that is not there."""
    if not papers:
        return np.zeros(0, np.int64)
    rows = select(Paper.public_id, Paper.work_id).where(Paper.public_id.in_(papers))
    found: dict[UUID, int] = {row.public_id: row.work_id for row in session.execute(rows)}
    if unknown := set(papers) - set(found):
        raise InvalidInput(f"There is no paper {min(unknown)}.", field=field)
    return np.array(sorted(set(found.values())), dtype=np.int64)


def _works_tagged(session: Session, user_id: int, tags: Iterable[str], field: str) -> Works:
    """The works of the person's bookmarks with one of these tags; raises InvalidInput for a tag
    that no bookmark has."""
    works: set[int] = set()
    for tag in tags:
        tagged = works_tagged(session, user_id, tag)
        if not tagged:
            raise InvalidInput("None of your bookmarks has this tag.", field=field)
        works |= tagged
    return np.array(sorted(works), dtype=np.int64)
