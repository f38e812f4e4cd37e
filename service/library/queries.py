"""What a person has kept; every session here is bound to that person by ``scope()``."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload, selectinload

from service.catalogue.queries import WITH_PARTS
from service.db import Place, newest_first
from service.errors import NotFound
from service.library.records import BookmarkFilter, tag_key
from service.tables import Bookmark, Feedback, Rating, Tag

Found = TypeVar("Found")


def get_bookmark(session: Session, user_id: int, bookmark_id: UUID) -> Bookmark:
    """Raises NotFound, for another person's too."""
    return _get(session, _bookmarks(user_id).where(Bookmark.public_id == bookmark_id), "bookmark")


def get_rating(session: Session, user_id: int, rating_id: UUID) -> Rating:
    return _get(session, _ratings(user_id).where(Rating.public_id == rating_id), "rating")


def get_feedback(session: Session, user_id: int, feedback_id: UUID) -> Feedback:
    query = _feedback(user_id).where(Feedback.public_id == feedback_id)
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
    page = newest_first(query, Bookmark.saved_at, Bookmark.public_id, after=after, limit=limit)
    return session.scalars(page).all()


def ratings_page(
    session: Session, user_id: int, *, after: Place | None, limit: int
) -> Sequence[Rating]:
    """Rated last comes first."""
    query = _ratings(user_id)
    page = newest_first(query, Rating.rated_at, Rating.public_id, after=after, limit=limit)
    return session.scalars(page).all()


def feedback_page(
    session: Session, user_id: int, *, after: Place | None, limit: int
) -> Sequence[Feedback]:
    """Said last comes first."""
    at, public_id = Feedback.given_at, Feedback.public_id
    page = newest_first(_feedback(user_id), at, public_id, after=after, limit=limit)
    return session.scalars(page).all()


def n_bookmarks(session: Session) -> int:
    """Of everybody whom the session may see."""
    return session.scalars(select(func.count(Bookmark.id))).one()


def _bookmarks(user_id: int) -> Select[Bookmark]:
    return (
        select(Bookmark)
        .where(Bookmark.user_id == user_id)
        .options(joinedload(Bookmark.paper).options(*WITH_PARTS), selectinload(Bookmark.tags))
    )


def _ratings(user_id: int) -> Select[Rating]:
    return (
        select(Rating)
        .where(Rating.user_id == user_id)
        .options(joinedload(Rating.paper).options(*WITH_PARTS))
    )


def _feedback(user_id: int) -> Select[Feedback]:
    return (
        select(Feedback)
        .where(Feedback.user_id == user_id)
        .options(joinedload(Feedback.paper).options(*WITH_PARTS))
    )


def _get(session: Session, query: Select[Found], what: str) -> Found:
    found = session.scalars(query).one_or_none()
    if found is None:
        raise NotFound(f"There is no such {what}.")
    return found
