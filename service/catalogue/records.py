"""What crosses the door of the catalogue."""

from dataclasses import dataclass, field

from service.catalogue.identifiers import Identifier
from service.tables import PaperSource


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPaper:
    """What somebody knows of a paper; a title or an abstract there must be."""

    source: PaperSource
    title: str | None = None
    abstract: str | None = None
    authors: tuple[str, ...] = ()
    venue: str | None = None
    year: int | None = None
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
