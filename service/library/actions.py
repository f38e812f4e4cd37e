"""Saves, rates, tags and openings: each change with its line in the interaction log."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.catalogue.queries import get_paper
from service.db import insert_if_new
from service.library.changes import bury, expect_version, log, next_library_version
from service.library.queries import get_bookmark, get_rating
from service.library.records import BookmarkChange, NewBookmark, NewRating
from service.library.tags import set_tags
from service.tables import (
    Bookmark,
    Interaction,
    InteractionKind,
    Paper,
    Rating,
    Slate,
)


def save_bookmark(
    session: Session, user_id: int, new: NewBookmark, *, now: datetime
) -> tuple[Bookmark, bool]:
    """Put a paper on the reading list; saving it again changes nothing.

    The flag tells whether the bookmark is new.
    """
    paper = get_paper(session, new.paper_id)
    version = next_library_version(session, user_id)
    made = insert_if_new(
        session,
        Bookmark,
        {
            "public_id": uuid4(),
            "user_id": user_id,
            "paper_id": paper.id,
            "status": new.status,
            "note": new.note,
            "saved_at": now,
            "changed_at": now,
            "version": 1,
            "library_version": version,
        },
        unique=["user_id", "paper_id"],
    )
    if made is None:
        there = session.scalars(
            select(Bookmark.public_id).where(
                Bookmark.user_id == user_id, Bookmark.paper_id == paper.id
            )
        ).one()
        return get_bookmark(session, user_id, there), False
    set_tags(session, user_id, made.id, new.tags)
    log(session, user_id, paper, InteractionKind.SAVE, now=now, slate_id=new.slate_id)
    return _reread_bookmark(session, user_id, made), True


def change_bookmark(
    session: Session,
    user_id: int,
    bookmark_id: UUID,
    change: BookmarkChange,
    *,
    expected_version: int | None,
    now: datetime,
) -> Bookmark:
    """Raises NotFound, and PreconditionFailed if it is not at the expected version any more."""
    library_version = next_library_version(session, user_id)
    bookmark = get_bookmark(session, user_id, bookmark_id)
    expect_version(bookmark, expected_version)
    if change.status is not None and change.status != bookmark.status:
        bookmark.status = change.status
        log(session, user_id, bookmark.paper, InteractionKind.STATUS, now=now, value=change.status)
    if change.note is not None:
        bookmark.note = change.note
    if change.tags is not None:
        set_tags(session, user_id, bookmark.id, change.tags)
    bookmark.version += 1
    bookmark.changed_at = now
    bookmark.library_version = library_version
    session.flush()
    return _reread_bookmark(session, user_id, bookmark)


def remove_bookmark(
    session: Session,
    user_id: int,
    bookmark_id: UUID,
    *,
    expected_version: int | None,
    now: datetime,
) -> None:
    """Take a paper off the list. Raises NotFound and PreconditionFailed."""
    library_version = next_library_version(session, user_id)
    bookmark = get_bookmark(session, user_id, bookmark_id)
    expect_version(bookmark, expected_version)
    log(session, user_id, bookmark.paper, InteractionKind.UNSAVE, now=now)
    bury(session, user_id, "bookmark", bookmark, library_version, now=now)


def save_rating(
    session: Session, user_id: int, new: NewRating, *, now: datetime
) -> tuple[Rating, bool]:
    """Give a paper its stars; the last ones count. The flag tells whether they are the first."""
    paper = get_paper(session, new.paper_id)
    version = next_library_version(session, user_id)
    made = insert_if_new(
        session,
        Rating,
        {
            "public_id": uuid4(),
            "user_id": user_id,
            "paper_id": paper.id,
            "stars": new.stars,
            "rated_at": now,
            "version": 1,
            "library_version": version,
        },
        unique=["user_id", "paper_id"],
    )
    if made is not None:
        rating = get_rating(session, user_id, made.public_id)
    else:
        rating_id = session.scalars(
            select(Rating.public_id).where(Rating.user_id == user_id, Rating.paper_id == paper.id)
        ).one()
        rating = get_rating(session, user_id, rating_id)
        if rating.stars == new.stars:
            return rating, False
        _set_stars(rating, new.stars, version, now=now)
    log(
        session,
        user_id,
        paper,
        InteractionKind.RATE,
        now=now,
        value=str(new.stars),
        slate_id=new.slate_id,
    )
    session.flush()
    return rating, made is not None


def change_rating(
    session: Session,
    user_id: int,
    rating_id: UUID,
    stars: int,
    *,
    expected_version: int | None,
    now: datetime,
) -> Rating:
    """Raises NotFound, and PreconditionFailed if it is not at the expected version any more."""
    library_version = next_library_version(session, user_id)
    rating = get_rating(session, user_id, rating_id)
    expect_version(rating, expected_version)
    _set_stars(rating, stars, library_version, now=now)
    log(session, user_id, rating.paper, InteractionKind.RATE, now=now, value=str(stars))
    session.flush()
    return rating


def remove_rating(
    session: Session, user_id: int, rating_id: UUID, *, expected_version: int | None, now: datetime
) -> None:
    """Raises NotFound and PreconditionFailed."""
    library_version = next_library_version(session, user_id)
    rating = get_rating(session, user_id, rating_id)
    expect_version(rating, expected_version)
    log(session, user_id, rating.paper, InteractionKind.UNRATE, now=now)
    bury(session, user_id, "rating", rating, library_version, now=now)


def note_opening(
    session: Session, user_id: int, paper_id: UUID, *, slate_id: UUID | None, now: datetime
) -> None:
    """Remember that a person opened a paper: weak evidence that they like it.

    Opening it from the same slate again changes nothing. Raises NotFound, and InvalidInput for a
    slate that did not show the person this paper.
    """
    paper = get_paper(session, paper_id)
    if slate_id is not None and _is_opened_from(session, user_id, paper, slate_id):
        return
    next_library_version(session, user_id)
    if slate_id is not None and _is_opened_from(session, user_id, paper, slate_id):
        return  # a double click: the other one had the lock before
    log(session, user_id, paper, InteractionKind.OPEN, now=now, slate_id=slate_id)


def _is_opened_from(session: Session, user_id: int, paper: Paper, slate_id: UUID) -> bool:
    there = session.scalar(
        select(Interaction.id)
        .join(Slate, Slate.id == Interaction.slate_id)
        .where(
            Interaction.user_id == user_id,
            Interaction.paper_id == paper.id,
            Interaction.kind == InteractionKind.OPEN,
            Slate.public_id == slate_id,
        )
        .limit(1)
    )
    return there is not None


def _set_stars(rating: Rating, stars: int, library_version: int, *, now: datetime) -> None:
    rating.stars = stars
    rating.rated_at = now
    rating.version += 1
    rating.library_version = library_version


def _reread_bookmark(session: Session, user_id: int, bookmark: Bookmark) -> Bookmark:
    # The tags are a view-only relationship: what the session remembers of them is old.
    session.expire(bookmark)
    return get_bookmark(session, user_id, bookmark.public_id)
