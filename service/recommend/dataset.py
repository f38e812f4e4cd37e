"""What people did and what papers say, as the arrays that ``models/`` works on.

A column of the matrix is a work, so that a preprint and its published version are one thing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from models.feedback import History
from models.training import TrainingSet
from service.catalogue.fingerprints import title_keys
from service.db import system_scope
from service.errors import InvalidInput
from service.library.records import tag_key
from service.recommend.restrictions import near_names
from service.tables import (
    Bookmark,
    BookmarkCollection,
    BookmarkTag,
    CatalogueState,
    Feedback,
    FeedbackKind,
    Interaction,
    InteractionKind,
    Paper,
    Rating,
    ReadingStatus,
    Tag,
    User,
    Work,
)
from service.tables import Collection as Folder

NO_TASTE = frozenset({FeedbackKind.SEEN, FeedbackKind.LATER})
"""Feedback that hides a paper and says nothing of taste. It takes the place of the openings before
it: who says "later" has looked and not decided, and must see the paper again when its time is over.
"""

SECONDS_A_DAY = 86_400.0


@dataclass(slots=True)
class _Evidence:
    """What one person did with one work."""

    saved: bool = False
    finished: bool = False
    dismissed: bool = False
    low_quality: bool = False
    more_like_this: bool = False
    opens: int = 0
    stars: int = 0
    at: datetime | None = None

    def happened(self, at: datetime) -> None:
        self.at = at if self.at is None else max(self.at, at)


@dataclass(frozen=True, slots=True)
class Documents:
    """Works and their texts, each array with one entry a work."""

    item_ids: NDArray[np.int64]
    texts: list[str]
    published_year: NDArray[np.float32]
    added_days: NDArray[np.float32]
    title_keys: NDArray[np.int64]
    """(m, 2), see ``catalogue.fingerprints``; 0 for titles that nobody gave."""


@dataclass(frozen=True, slots=True)
class HighWater:
    """How much had happened when something was computed; the versions follow the commits."""

    catalogue_version: int
    library_changes: int
    n_works: int


def history_of(session: Session, user_id: int, *, now: datetime) -> History:
    """What one person did, in a session bound to that person."""
    return _history(_evidence(session, user_id), now)


def hidden_works(session: Session, user_id: int, *, now: datetime) -> NDArray[np.int64]:
    """Works the person does not want to be shown now, whatever they say of taste. int64."""
    rows = session.execute(
        select(Paper.work_id, Feedback.until)
        .join(Feedback, Feedback.paper_id == Paper.id)
        .where(Feedback.user_id == user_id)
    )
    return np.array(
        [work_id for work_id, until in rows if until is None or until > now], dtype=np.int64
    )


def standing_feedback(
    session: Session, user_id: int, work_id: int, *, now: datetime
) -> set[FeedbackKind]:
    """What the person says of a work, without a "later" whose time is over."""
    rows = session.execute(
        select(Feedback.kind, Feedback.until)
        .join(Paper, Paper.id == Feedback.paper_id)
        .where(Feedback.user_id == user_id, Paper.work_id == work_id)
    )
    return {kind for kind, until in rows if until is None or until > now}


def works_tagged(session: Session, user_id: int, name: str) -> set[int]:
    """Works of the bookmarks with this tag."""
    return set(
        session.scalars(
            select(Paper.work_id)
            .join(Bookmark, Bookmark.paper_id == Paper.id)
            .join(BookmarkTag, BookmarkTag.bookmark_id == Bookmark.id)
            .join(Tag, Tag.id == BookmarkTag.tag_id)
            .where(Bookmark.user_id == user_id, Tag.name_key == tag_key(name))
        )
    )


def works_collected(session: Session, user_id: int, path: str) -> set[int]:
    """Works of the bookmarks in this collection of the person's, and in those inside it.

    ``path`` is the names from the outermost in, joined by "/"; capitals do not matter. Raises
    InvalidInput for a collection that is not there, with names near to it.
    """
    mine = session.scalars(select(Folder).where(Folder.user_id == user_id)).all()
    paths = {one.id: "/".join(one.names) for one in mine}
    wanted = path.strip("/").casefold()
    inside = [key for key, one in paths.items() if f"{one.casefold()}/".startswith(f"{wanted}/")]
    if not inside:
        near = near_names(path, sorted(paths.values()))
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InvalidInput(f"You have no collection {path[:100]}.{hint}", field="collection")
    return set(
        session.scalars(
            select(Paper.work_id)
            .join(Bookmark, Bookmark.paper_id == Paper.id)
            .join(BookmarkCollection, BookmarkCollection.bookmark_id == Bookmark.id)
            .where(Bookmark.user_id == user_id, BookmarkCollection.collection_id.in_(inside))
        )
    )


def documents(session: Session, *, now: datetime, above: int = -1) -> Documents:
    """The works with a paper whose catalogue version is above the mark, in the order of their ids.

    A work with several papers speaks through the one that says most, old or new.
    """
    rows = session.execute(
        select(
            Paper.work_id,
            Paper.title,
            Paper.display_title,
            Paper.abstract_text,
            Paper.year,
            Paper.added_at,
        )
        .where(Paper.work_id.in_(select(Paper.work_id).where(Paper.catalogue_version > above)))
        .order_by(Paper.work_id, Paper.id)
    )
    texts: dict[int, tuple[str, float, float, tuple[int, int]]] = {}
    for work_id, title, display_title, abstract, year, added_at in rows:
        text = _text(title, display_title, abstract)
        if work_id not in texts or len(text) > len(texts[work_id][0]):
            added_days = (now - added_at).total_seconds() / SECONDS_A_DAY
            keys = title_keys(display_title) if title else (0, 0)
            texts[work_id] = (text, float(year) if year else np.nan, added_days, keys)
    values = list(texts.values())
    return Documents(
        item_ids=np.fromiter(texts, dtype=np.int64, count=len(texts)),
        texts=[text for text, *_ in values],
        published_year=np.array([year for _, year, _, _ in values], dtype=np.float32),
        added_days=np.array([days for _, _, days, _ in values], dtype=np.float32),
        title_keys=np.array([keys for *_, keys in values], dtype=np.int64).reshape(-1, 2),
    )


def texts_of(session: Session, works: Collection[int]) -> dict[int, str]:
    """What the model has read of each of the works, by work."""
    rows = session.execute(
        select(Paper.work_id, Paper.title, Paper.display_title, Paper.abstract_text)
        .where(Paper.work_id.in_(works))
        .order_by(Paper.id)
    )
    texts: dict[int, str] = {}
    for work_id, title, display_title, abstract in rows:
        text = _text(title, display_title, abstract)
        if len(text) > len(texts.get(work_id, "")):
            texts[work_id] = text
    return texts


def _text(title: str | None, display_title: str, abstract: str | None) -> str:
    # A derived title is cut from the abstract: it would only count those words twice.
    return "\n".join(part for part in (display_title if title else "", abstract) if part)


def training_set(session: Session, *, now: datetime) -> tuple[TrainingSet, HighWater]:
    """Everything the recommender learns from, and the mark up to which it knows it."""
    with system_scope(session, "training"):
        mark = high_water(session)
        evidence = _evidence(session, None)
        papers = documents(session, now=now)
    return (
        TrainingSet(
            user_ids=np.array([user_id for user_id, _ in evidence], dtype=np.int64),
            history=_history(evidence, now),
            item_ids=papers.item_ids,
            documents=papers.texts,
            published_year=papers.published_year,
            added_days=papers.added_days,
            title_keys=papers.title_keys,
        ),
        mark,
    )


def high_water(session: Session) -> HighWater:
    """How much has happened by now."""
    return HighWater(
        catalogue_version=session.scalars(select(CatalogueState.catalogue_version)).one(),
        library_changes=library_changes(session),
        n_works=session.scalars(select(func.count()).select_from(Work)).one(),
    )


def first_change(session: Session, *, after: datetime | None) -> datetime | None:
    """When the first thing happened that a training at ``after`` could not know of; None if nothing
    did, or if nobody has ever done anything that could be learned from.
    """
    with system_scope(session, "whether a training is due"):
        first_ever = session.scalar(select(func.min(Interaction.at)))
        if first_ever is None or after is None:
            return first_ever
        firsts = (
            session.scalar(select(func.min(Interaction.at)).where(Interaction.at > after)),
            session.scalar(select(func.min(Paper.added_at)).where(Paper.added_at > after)),
        )
        return min(filter(None, firsts), default=None)


def library_changes(session: Session) -> int:
    """How often anybody's library has changed."""
    return int(session.scalars(select(func.coalesce(func.sum(User.library_version), 0))).one())


def _evidence(session: Session, user_id: int | None) -> dict[tuple[int, int], _Evidence]:
    """What each person did with each work, or one person with it, by (person, work)."""
    found: dict[tuple[int, int], _Evidence] = defaultdict(_Evidence)
    for person, work, status, at in _rows(
        session, user_id, Bookmark, Bookmark.status, Bookmark.saved_at
    ):
        one = found[person, work]
        one.saved, one.finished = True, one.finished or status == ReadingStatus.READ
        one.happened(at)
    for person, work, stars, at in _rows(session, user_id, Rating, Rating.stars, Rating.rated_at):
        one = found[person, work]
        one.stars = max(one.stars, stars)
        one.happened(at)
    silent_since: dict[tuple[int, int], datetime] = {}
    for person, work, kind, at in _rows(
        session, user_id, Feedback, Feedback.kind, Feedback.given_at
    ):
        if kind in NO_TASTE:
            silent_since[person, work] = max(at, silent_since.get((person, work), at))
        else:
            _said(found[person, work], kind, at)
    for person, work, _, at in _rows(
        session, user_id, Interaction, Interaction.kind, Interaction.at
    ):
        if (person, work) not in silent_since or at > silent_since[person, work]:
            one = found[person, work]
            one.opens += 1
            one.happened(at)
    return dict(sorted(found.items()))


def _said(one: _Evidence, kind: FeedbackKind, at: datetime) -> None:
    one.dismissed |= kind == FeedbackKind.NOT_MY_TOPIC
    one.low_quality |= kind == FeedbackKind.LOW_QUALITY
    one.more_like_this |= kind == FeedbackKind.MORE_LIKE_THIS
    one.happened(at)


def _rows(
    session: Session,
    user_id: int | None,
    table: type[Bookmark] | type[Rating] | type[Feedback] | type[Interaction],
    what: Any,
    at: Any,
) -> Iterable[tuple[int, int, Any, datetime]]:
    query = select(table.user_id, Paper.work_id, what, at).join(Paper, Paper.id == table.paper_id)
    if user_id is not None:
        query = query.where(table.user_id == user_id)
    if table is Interaction:
        query = query.where(Interaction.kind == InteractionKind.OPEN)
    return session.execute(query)


def _history(evidence: Mapping[tuple[int, int], _Evidence], now: datetime) -> History:
    those = list(evidence.values())
    ages = [(now - one.at).total_seconds() / SECONDS_A_DAY if one.at else 0.0 for one in those]
    return History(
        item_ids=np.array([work for _, work in evidence], dtype=np.int64),
        saved=np.array([one.saved for one in those], dtype=np.bool_),
        finished=np.array([one.finished for one in those], dtype=np.bool_),
        dismissed=np.array([one.dismissed for one in those], dtype=np.bool_),
        low_quality=np.array([one.low_quality for one in those], dtype=np.bool_),
        more_like_this=np.array([one.more_like_this for one in those], dtype=np.bool_),
        opens=np.array([one.opens for one in those], dtype=np.int64),
        ratings=np.array([one.stars for one in those], dtype=np.int64),
        age_days=np.maximum(np.array(ages, dtype=np.float32), 0),
    )
