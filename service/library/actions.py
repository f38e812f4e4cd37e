"""Saves, rates, tags and feedback: each change with its line in the interaction log."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from service.catalogue.queries import get_paper
from service.db import insert_if_new
from service.errors import InvalidInput, PreconditionFailed
from service.library.queries import get_bookmark, get_dismissal, get_rating
from service.library.records import (
    BookmarkChange,
    FeedbackChange,
    NewBookmark,
    NewFeedback,
    NewRating,
    tag_key,
)
from service.tables import (
    Bookmark,
    BookmarkTag,
    Dismissal,
    FeedbackKind,
    Impression,
    Interaction,
    InteractionKind,
    LibraryDeletion,
    Paper,
    Rating,
    Slate,
    Tag,
    User,
)

MOST_TAGS = 50
"""Tags of one bookmark."""


def save_bookmark(
    session: Session, user_id: int, new: NewBookmark, *, now: datetime
) -> tuple[Bookmark, bool]:
    """Put a paper on the reading list; saving it again changes nothing.

    The flag tells whether the bookmark is new.
    """
    paper = get_paper(session, new.paper_id)
    version = _next_library_version(session, user_id)
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
    _set_tags(session, user_id, made.id, new.tags)
    _log(session, user_id, paper, InteractionKind.SAVE, now=now, slate_id=new.slate_id)
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
    library_version = _next_library_version(session, user_id)
    bookmark = get_bookmark(session, user_id, bookmark_id)
    _expect(bookmark, expected_version)
    if change.status is not None and change.status != bookmark.status:
        bookmark.status = change.status
        _log(session, user_id, bookmark.paper, InteractionKind.STATUS, now=now, value=change.status)
    if change.note is not None:
        bookmark.note = change.note
    if change.tags is not None:
        _set_tags(session, user_id, bookmark.id, change.tags)
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
    library_version = _next_library_version(session, user_id)
    bookmark = get_bookmark(session, user_id, bookmark_id)
    _expect(bookmark, expected_version)
    _log(session, user_id, bookmark.paper, InteractionKind.UNSAVE, now=now)
    _bury(session, user_id, "bookmark", bookmark, library_version, now=now)


def save_rating(
    session: Session, user_id: int, new: NewRating, *, now: datetime
) -> tuple[Rating, bool]:
    """Give a paper its stars; the last ones count. The flag tells whether they are the first."""
    paper = get_paper(session, new.paper_id)
    version = _next_library_version(session, user_id)
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
    _log(
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
    library_version = _next_library_version(session, user_id)
    rating = get_rating(session, user_id, rating_id)
    _expect(rating, expected_version)
    _set_stars(rating, stars, library_version, now=now)
    _log(session, user_id, rating.paper, InteractionKind.RATE, now=now, value=str(stars))
    session.flush()
    return rating


def remove_rating(
    session: Session, user_id: int, rating_id: UUID, *, expected_version: int | None, now: datetime
) -> None:
    """Raises NotFound and PreconditionFailed."""
    library_version = _next_library_version(session, user_id)
    rating = get_rating(session, user_id, rating_id)
    _expect(rating, expected_version)
    _log(session, user_id, rating.paper, InteractionKind.UNRATE, now=now)
    _bury(session, user_id, "rating", rating, library_version, now=now)


def give_feedback(
    session: Session, user_id: int, new: NewFeedback, *, now: datetime
) -> tuple[Dismissal, bool]:
    """Say something of a paper; said again, the last word counts. The flag tells whether it is
    the first."""
    until = _until(new, now=now)
    paper = get_paper(session, new.paper_id)
    version = _next_library_version(session, user_id)
    made = insert_if_new(
        session,
        Dismissal,
        {
            "public_id": uuid4(),
            "user_id": user_id,
            "paper_id": paper.id,
            "kind": new.kind,
            "until": until,
            "dismissed_at": now,
            "version": 1,
            "library_version": version,
        },
        unique=["user_id", "paper_id"],
    )
    if made is not None:
        said = get_dismissal(session, user_id, made.public_id)
    else:
        there = session.scalars(
            select(Dismissal.public_id).where(
                Dismissal.user_id == user_id, Dismissal.paper_id == paper.id
            )
        ).one()
        said = get_dismissal(session, user_id, there)
        _say(said, new.kind, until, version, now=now)
    _log(
        session,
        user_id,
        paper,
        _line_of(new.kind),
        now=now,
        value=new.kind,
        slate_id=new.slate_id,
    )
    return said, made is not None


def change_feedback(
    session: Session,
    user_id: int,
    dismissal_id: UUID,
    change: FeedbackChange,
    *,
    expected_version: int | None,
    now: datetime,
) -> Dismissal:
    """Raises NotFound, and PreconditionFailed if it is not at the expected version any more."""
    until = _until(change, now=now)
    library_version = _next_library_version(session, user_id)
    said = get_dismissal(session, user_id, dismissal_id)
    _expect(said, expected_version)
    _say(said, change.kind, until, library_version, now=now)
    _log(session, user_id, said.paper, _line_of(change.kind), now=now, value=change.kind)
    return said


def undo_feedback(
    session: Session,
    user_id: int,
    dismissal_id: UUID,
    *,
    expected_version: int | None,
    now: datetime,
) -> None:
    """Leave the paper as if nothing had been said of it. Raises NotFound and PreconditionFailed."""
    library_version = _next_library_version(session, user_id)
    said = get_dismissal(session, user_id, dismissal_id)
    _expect(said, expected_version)
    _log(session, user_id, said.paper, InteractionKind.UNDISMISS, now=now, value=said.kind)
    _bury(session, user_id, "feedback", said, library_version, now=now)


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
    _next_library_version(session, user_id)
    if slate_id is not None and _is_opened_from(session, user_id, paper, slate_id):
        return  # a double click: the other one had the lock before
    _log(session, user_id, paper, InteractionKind.OPEN, now=now, slate_id=slate_id)


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


def _next_library_version(session: Session, user_id: int) -> int:
    """Taken first: its row lock makes one person's changes follow each other."""
    return session.scalars(
        update(User)
        .where(User.id == user_id)
        .values(library_version=User.library_version + 1)
        .returning(User.library_version)
    ).one()


def _until(said: NewFeedback | FeedbackChange, *, now: datetime) -> datetime | None:
    is_later = said.kind is FeedbackKind.LATER
    if is_later and said.snooze is None:
        raise InvalidInput(
            "It is missing: later needs the days after which the paper may come back.",
            field="snooze_days",
        )
    if said.snooze is not None and not is_later:
        raise InvalidInput(
            f"It goes with the kind later only, not with {said.kind}.", field="snooze_days"
        )
    return now + said.snooze if said.snooze is not None else None


def _line_of(kind: FeedbackKind) -> InteractionKind:
    """Asking for more is no dismissal, in the log neither."""
    is_wish = kind is FeedbackKind.MORE_LIKE_THIS
    return InteractionKind.MORE_LIKE_THIS if is_wish else InteractionKind.DISMISS


def _say(
    said: Dismissal,
    kind: FeedbackKind,
    until: datetime | None,
    library_version: int,
    *,
    now: datetime,
) -> None:
    said.kind, said.until, said.dismissed_at = kind, until, now
    said.version += 1
    said.library_version = library_version


def _expect(row: Bookmark | Rating | Dismissal, version: int | None) -> None:
    """None stands for whichever version it has."""
    if version is not None and row.version != version:
        raise PreconditionFailed("It has changed since you read it; read it again.")


def _set_stars(rating: Rating, stars: int, library_version: int, *, now: datetime) -> None:
    rating.stars = stars
    rating.rated_at = now
    rating.version += 1
    rating.library_version = library_version


def _bury(
    session: Session,
    user_id: int,
    kind: str,
    row: Bookmark | Rating | Dismissal,
    library_version: int,
    *,
    now: datetime,
) -> None:
    session.add(
        LibraryDeletion(
            user_id=user_id,
            object_kind=kind,
            object_id=str(row.public_id),
            deleted_at=now,
            library_version=library_version,
        )
    )
    session.delete(row)
    session.flush()


def _set_tags(session: Session, user_id: int, bookmark_id: int, names: tuple[str, ...]) -> None:
    wanted: dict[str, str] = {}
    for name in filter(None, map(str.strip, names)):
        wanted.setdefault(tag_key(name), name)
    if len(wanted) > MOST_TAGS:
        raise InvalidInput(f"A bookmark carries at most {MOST_TAGS} tags.", field="tags")
    for key, name in wanted.items():
        insert_if_new(
            session,
            Tag,
            {"public_id": uuid4(), "user_id": user_id, "name": name, "name_key": key},
            unique=["user_id", "name_key"],
        )
    tag_ids = session.scalars(
        select(Tag.id).where(Tag.user_id == user_id, Tag.name_key.in_(wanted))
    ).all()
    session.execute(
        delete(BookmarkTag).where(
            BookmarkTag.user_id == user_id,
            BookmarkTag.bookmark_id == bookmark_id,
            BookmarkTag.tag_id.not_in(tag_ids),
        )
    )
    for tag_id in tag_ids:
        insert_if_new(
            session,
            BookmarkTag,
            {"user_id": user_id, "bookmark_id": bookmark_id, "tag_id": tag_id},
            unique=["bookmark_id", "tag_id"],
        )


def _reread_bookmark(session: Session, user_id: int, bookmark: Bookmark) -> Bookmark:
    # The tags are a view-only relationship: what the session remembers of them is old.
    session.expire(bookmark)
    return get_bookmark(session, user_id, bookmark.public_id)


def _log(
    session: Session,
    user_id: int,
    paper: Paper,
    kind: InteractionKind,
    *,
    now: datetime,
    value: str | None = None,
    slate_id: UUID | None = None,
) -> None:
    shown = None
    if slate_id is not None:
        shown = session.execute(
            select(Slate, Impression)
            .join(Impression, Impression.slate_id == Slate.id)
            .where(
                Slate.user_id == user_id,
                Slate.public_id == slate_id,
                Impression.paper_id == paper.id,
            )
        ).one_or_none()
        if shown is None:
            raise InvalidInput("This slate did not show this paper.", field="slate_id")
    slate, impression = shown if shown is not None else (None, None)
    session.add(
        Interaction(
            user_id=user_id,
            paper_id=paper.id,
            kind=kind,
            value=value,
            at=now,
            slate_id=slate.id if slate else None,
            position=impression.position if impression else None,
            generation=_generation(slate, impression) if slate and impression else None,
            propensity=impression.propensity if impression else None,
        )
    )
    session.flush()


def _generation(slate: Slate, impression: Impression) -> str | None:
    """Which one proposed the paper: in an experiment its arm's, else the one of the slate."""
    return impression.generation if impression.arm is not None else slate.generation
