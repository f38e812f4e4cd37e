"""What a person has kept; every session here is bound to that person by ``scope()``."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session, joinedload, selectinload

from service.errors import NotFound
from service.library.records import BookmarkFilter, tag_key
from service.tables import Bookmark, Dismissal, Paper, Rating, Tag

_PAPER_PARTS = (
    selectinload(Paper.authors),
    selectinload(Paper.identifiers),
)
Found = TypeVar("Found")

Place = tuple[datetime, UUID]
"""Where a page ended: the time and the public id of its last row."""


def get_bookmark(session: Session, user_id: int, bookmark_id: UUID) -> Bookmark:
    """Raises NotFound, for another person's too."""
    return _get(session, _bookmarks(user_id).where(Bookmark.public_id == bookmark_id), "bookmark")


def get_rating(session: Session, user_id: int, rating_id: UUID) -> Rating:
    return _get(session, _ratings(user_id).where(Rating.public_id == rating_id), "rating")


def get_dismissal(session: Session, user_id: int, dismissal_id: UUID) -> Dismissal:
    query = _dismissals(user_id).where(Dismissal.public_id == dismissal_id)
    return _get(session, query, "feedback")


def bookmarks_page(
    session: Session, user_id: int, which: BookmarkFilter, *, after: Place | None, limit: int
) -> Sequence[Bookmark]:
    """Saved last comes first."""
    query = _bookmarks(user_id)
    if which.status is not None:
        query = query.where(Bookmark.status == which.status)
    if which.tag is not None:
        query = query.where(Bookmark.tags.any(Tag.name_key == tag_key(which.tag)))
    if after is not None:
        at, public_id = after
        query = query.where(
            or_(
                Bookmark.saved_at < at,
                and_(Bookmark.saved_at == at, Bookmark.public_id > public_id),
            )
        )
    query = query.order_by(Bookmark.saved_at.desc(), Bookmark.public_id).limit(limit)
    return session.scalars(query).all()


def ratings_page(
    session: Session, user_id: int, *, after: Place | None, limit: int
) -> Sequence[Rating]:
    """Rated last comes first."""
    query = _ratings(user_id)
    if after is not None:
        at, public_id = after
        query = query.where(
            or_(Rating.rated_at < at, and_(Rating.rated_at == at, Rating.public_id > public_id))
        )
    query = query.order_by(Rating.rated_at.desc(), Rating.public_id).limit(limit)
    return session.scalars(query).all()


def dismissals_page(
    session: Session, user_id: int, *, after: Place | None, limit: int
) -> Sequence[Dismissal]:
    """Dismissed last comes first."""
    query = _dismissals(user_id)
    if after is not None:
        at, public_id = after
        query = query.where(
            or_(
                Dismissal.dismissed_at < at,
                and_(Dismissal.dismissed_at == at, Dismissal.public_id > public_id),
            )
        )
    query = query.order_by(Dismissal.dismissed_at.desc(), Dismissal.public_id).limit(limit)
    return session.scalars(query).all()


def _bookmarks(user_id: int) -> Select[Bookmark]:
    return (
        select(Bookmark)
        .where(Bookmark.user_id == user_id)
        .options(joinedload(Bookmark.paper).options(*_PAPER_PARTS), selectinload(Bookmark.tags))
    )


def _ratings(user_id: int) -> Select[Rating]:
    return (
        select(Rating)
        .where(Rating.user_id == user_id)
        .options(joinedload(Rating.paper).options(*_PAPER_PARTS))
    )


def _dismissals(user_id: int) -> Select[Dismissal]:
    return (
        select(Dismissal)
        .where(Dismissal.user_id == user_id)
        .options(joinedload(Dismissal.paper).options(*_PAPER_PARTS))
    )


def _get(session: Session, query: Select[Found], what: str) -> Found:
    found = session.scalars(query).one_or_none()
    if found is None:
        raise NotFound(f"There is no such {what}.")
    return found
