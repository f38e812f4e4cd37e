"""What crosses the door of the catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.catalogue.identifiers import Identifier
from service.tables import PaperSource


@dataclass(frozen=True, slots=True)
class Author:
    """A name as it is written on the paper, and the part that it is sorted by.

    ``family`` leaves out particles ("van der"); it is None for a group, or where nobody said.
    """

    name: str
    family: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPaper:
    """What somebody knows of a paper; a title, an abstract or an identifier there must be."""

    source: PaperSource
    title: str | None = None
    abstract: str | None = None
    authors: tuple[Author, ...] = ()
    venue: str | None = None
    year: int | None = None
    published: str | None = None
    """2026, 2026-12 or 2026-12-06."""
    kind: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    withdrawal: str | None = None
    url: str | None = None
    pdf_url: str | None = None
    code_url: str | None = None
    list_name: str | None = None
    identifiers: tuple[Identifier, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperFilter:
    """Which papers of the catalogue; an empty one is all of them."""

    words: tuple[str, ...] = field(default=())
    """Each must occur in the title or the abstract, capitals aside."""
    venue: str | None = None
    year: int | None = None
    list_name: str | None = None
