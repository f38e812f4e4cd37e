"""What exists: works, their papers, who wrote them, and the identifiers they go by."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, relationship

from service.tables.base import Base, ByValue, Public, Versioned, is_one_of


class CatalogueState(Base):
    """One row: the version that each change of the catalogue takes, under a lock on this row."""

    __tablename__ = "catalogue_state"

    catalogue_version: Mapped[int] = mapped_column(sa.BigInteger, default=0)


class Work(Public, Base):
    """One piece of research, in however many versions it was published.

    Recommendations, exclusions and "already sent" go by work; a person's state points to a paper.
    """

    __tablename__ = "work"

    created_at: Mapped[datetime]
    catalogue_version: Mapped[int] = mapped_column(sa.BigInteger, index=True)


class PaperSource(enum.StrEnum):
    STARTER = "starter"
    LISTING = "listing"
    PERSON = "person"


class Paper(Public, Versioned, Base):
    """One version of a work, as somebody published or listed it.

    ``title`` is null until somebody who knows it says it; ``display_title`` is then derived from
    the abstract, and replaced in place when the real one arrives.
    """

    __tablename__ = "paper"
    __table_args__ = (
        is_one_of("source", PaperSource),
        sa.Index(None, "added_at", "public_id"),
        sa.CheckConstraint("year BETWEEN 1000 AND 3000", name="year_plausible"),
    )

    work_id: Mapped[int] = mapped_column(sa.ForeignKey("work.id"), index=True)
    title: Mapped[str | None]
    display_title: Mapped[str]
    derived_name: Mapped[str | None]
    """The coined name found in the abstract; null when ``title`` is known or there is none."""
    title_confidence: Mapped[float]
    """1 for a real title, less for a derived one."""
    abstract: Mapped[str | None]
    """As written, LaTeX and Markdown included; rendering happens at the edge."""
    abstract_text: Mapped[str | None]
    """The same as plain text, for searching and for the recommender."""
    venue: Mapped[str | None]
    year: Mapped[int | None]
    published: Mapped[str | None] = mapped_column(sa.String(10))
    """As exactly as it is known: 2026, 2026-12 or 2026-12-06."""
    kind: Mapped[str | None] = mapped_column(sa.String(32))
    """What was published, in the words of CSL: article-journal, paper-conference, thesis, …"""
    details: Mapped[dict[str, Any] | None]
    """What else a citation says, under CSL's names of it (volume, page, publisher, …), and
    ``keywords``."""
    withdrawal: Mapped[str | None]
    """Why it should not be relied on, in its source's words: withdrawn or retracted."""
    url: Mapped[str | None]
    pdf_url: Mapped[str | None]
    code_url: Mapped[str | None]
    source: Mapped[PaperSource] = mapped_column(ByValue(PaperSource))
    list_name: Mapped[str | None]
    """The heading of the listing that brought it."""
    fingerprint: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    """SHA-256 of the normalised abstract, or of title and authors where there is none."""
    added_at: Mapped[datetime]
    catalogue_version: Mapped[int] = mapped_column(sa.BigInteger, index=True)

    work: Mapped[Work] = relationship(lazy="raise")
    authors: Mapped[list["PaperAuthor"]] = relationship(
        lazy="raise", order_by="PaperAuthor.position", cascade="all, delete-orphan"
    )
    identifiers: Mapped[list["PaperIdentifier"]] = relationship(
        lazy="raise", order_by="PaperIdentifier.id", cascade="all, delete-orphan"
    )


class PaperAuthor(Base):
    """A name on a paper, in the paper's order."""

    __tablename__ = "paper_author"
    __table_args__ = (sa.UniqueConstraint("paper_id", "position"),)

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id", ondelete="CASCADE"))
    position: Mapped[int]
    name: Mapped[str]
    family: Mapped[str | None]
    """The part that it is sorted by, particles apart; null for a group, or where nobody said."""


class PaperIdentifier(Base):
    """A name that the world knows the paper by, in the one normal form; unique."""

    __tablename__ = "paper_identifier"
    __table_args__ = (sa.UniqueConstraint("scheme", "value"),)

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id", ondelete="CASCADE"), index=True)
    scheme: Mapped[str] = mapped_column(sa.String(16))
    value: Mapped[str]
    version: Mapped[int | None]
