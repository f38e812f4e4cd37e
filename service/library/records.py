"""What crosses the door of the library."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from service.tables import FeedbackKind, ReadingStatus, clean_text


def tag_key(name: str) -> str:
    """What makes two tags the same: the name without the blanks around it and without its case.

    Raises InvalidInput for characters that no text may have.
    """
    return clean_text(name.strip(), field="tags").casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBookmark:
    paper_id: UUID
    status: ReadingStatus = ReadingStatus.TO_READ
    note: str = ""
    tags: tuple[str, ...] = ()
    slate_id: UUID | None = None
    """The slate that showed the paper, if one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkChange:
    """What to change; None leaves it as it is."""

    status: ReadingStatus | None = None
    note: str | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRating:
    paper_id: UUID
    stars: int
    slate_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFeedback:
    paper_id: UUID
    kind: FeedbackKind
    snooze: timedelta | None = None
    """How long a "later" lasts."""
    slate_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackChange:
    """What is said now in place of what was said."""

    kind: FeedbackKind
    snooze: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookmarkFilter:
    status: ReadingStatus | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a person kept about a paper in another program, which their export of it tells."""

    saved_at: datetime | None = None
    status: ReadingStatus | None = None
    stars: int | None = None
    note: str = ""
    tags: tuple[str, ...] = ()
    collections: tuple[tuple[str, ...], ...] = ()
    """Each the names of folders, from the outermost in."""
    citation_key: str | None = None
