"""What a person keeps: bookmarks, ratings, tags, and what they say of papers."""

import enum
import json
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from service.db import Owned
from service.tables.base import Base, ByValue, Public, Versioned, is_one_of
from service.tables.papers import Paper


class ReadingStatus(enum.StrEnum):
    TO_READ = "to_read"
    READING = "reading"
    READ = "read"
    ARCHIVED = "archived"


class FeedbackKind(enum.StrEnum):
    """What a person says of a paper; each has its own effect on the recommendations.

    None of these papers is shown again while it stands, ``later`` only until its time is over.
    ``seen`` and ``later`` say nothing of taste, ``not_my_topic`` is a dislike, ``low_quality`` a
    mild one, and ``more_like_this`` is worth a bookmark without being one.
    """

    SEEN = "seen"
    LATER = "later"
    NOT_MY_TOPIC = "not_my_topic"
    LOW_QUALITY = "low_quality"
    MORE_LIKE_THIS = "more_like_this"


class Bookmark(Public, Versioned, Owned, Base):
    """One person's copy of a paper on the reading list."""

    __tablename__ = "bookmark"
    __table_args__ = (
        sa.UniqueConstraint("user_id", "paper_id"),
        sa.Index(None, "user_id", "saved_at", "public_id"),
        sa.Index(None, "user_id", "library_version"),
        is_one_of("status", ReadingStatus),
    )

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    status: Mapped[ReadingStatus] = mapped_column(ByValue(ReadingStatus))
    note: Mapped[str] = mapped_column(default="")
    citation_key: Mapped[str | None]
    """What the person's documents cite the paper as."""
    saved_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    library_version: Mapped[int] = mapped_column(sa.BigInteger)

    paper: Mapped[Paper] = relationship(lazy="raise")
    tags: Mapped[list["Tag"]] = relationship(
        secondary="bookmark_tag", lazy="raise", order_by="Tag.name_key", viewonly=True
    )
    collections: Mapped[list["Collection"]] = relationship(
        secondary="bookmark_collection", lazy="raise", order_by="Collection.path", viewonly=True
    )


class Rating(Public, Versioned, Owned, Base):
    """One to five stars for a paper, saved or not."""

    __tablename__ = "rating"
    __table_args__ = (
        sa.UniqueConstraint("user_id", "paper_id"),
        sa.Index(None, "user_id", "rated_at", "public_id"),
        sa.CheckConstraint("stars BETWEEN 1 AND 5", name="stars_range"),
    )

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    stars: Mapped[int]
    rated_at: Mapped[datetime]
    library_version: Mapped[int] = mapped_column(sa.BigInteger)

    paper: Mapped[Paper] = relationship(lazy="raise")


class Feedback(Public, Versioned, Owned, Base):
    """What a person said of a paper, which is then not recommended; ``until`` ends a "later"."""

    __tablename__ = "feedback"
    __table_args__ = (
        sa.UniqueConstraint("user_id", "paper_id"),
        sa.Index(None, "user_id", "given_at", "public_id"),
        is_one_of("kind", FeedbackKind),
    )

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    kind: Mapped[FeedbackKind] = mapped_column(ByValue(FeedbackKind))
    until: Mapped[datetime | None]
    given_at: Mapped[datetime]
    library_version: Mapped[int] = mapped_column(sa.BigInteger)

    paper: Mapped[Paper] = relationship(lazy="raise")


class Tag(Public, Owned, Base):
    """A person's word for some of their papers; spaces and capitals are kept as written."""

    __tablename__ = "tag"
    __table_args__ = (sa.UniqueConstraint("user_id", "name_key"),)

    name: Mapped[str]
    name_key: Mapped[str]
    """The name casefolded: what makes two tags the same."""


class BookmarkTag(Owned, Base):
    """Which bookmark carries which tag."""

    __tablename__ = "bookmark_tag"
    __table_args__ = (sa.UniqueConstraint("bookmark_id", "tag_id"),)

    bookmark_id: Mapped[int] = mapped_column(sa.ForeignKey("bookmark.id", ondelete="CASCADE"))
    tag_id: Mapped[int] = mapped_column(sa.ForeignKey("tag.id", ondelete="CASCADE"), index=True)


class Collection(Public, Owned, Base):
    """A person's folder of papers; a paper may lie in several, and a folder in another."""

    __tablename__ = "collection"
    __table_args__ = (sa.UniqueConstraint("user_id", "path"),)

    path: Mapped[str]
    """The names from the outermost folder in, as a JSON list: a name may have any character."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(json.loads(self.path))


class BookmarkCollection(Owned, Base):
    """Which bookmark lies in which collection."""

    __tablename__ = "bookmark_collection"
    __table_args__ = (sa.UniqueConstraint("bookmark_id", "collection_id"),)

    bookmark_id: Mapped[int] = mapped_column(sa.ForeignKey("bookmark.id", ondelete="CASCADE"))
    collection_id: Mapped[int] = mapped_column(
        sa.ForeignKey("collection.id", ondelete="CASCADE"), index=True
    )


class LibraryDeletion(Owned, Base):
    """What left a person's library, so that a client that syncs by version learns of it."""

    __tablename__ = "library_deletion"
    __table_args__ = (sa.Index(None, "user_id", "library_version"),)

    object_kind: Mapped[str] = mapped_column(sa.String(16))
    object_id: Mapped[str] = mapped_column(sa.String(36))
    deleted_at: Mapped[datetime]
    library_version: Mapped[int] = mapped_column(sa.BigInteger)
