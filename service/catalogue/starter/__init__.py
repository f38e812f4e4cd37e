"""The catalogue that a new installation begins with: real papers, facts only (see SOURCES.md)."""

import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from io import TextIOWrapper
from typing import Final, TextIO

from service.catalogue.identifiers import Identifier, landing_url, pdf_url

DATA: Final = "papers.tsv.xz"
FORMAT: Final = "papershelf-starter-1"
"""First field of the first line; the second is the number of papers, one on each line after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StarterPaper:
    """What is known of a paper without its text; the first identifier is where it was published."""

    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    url: str | None
    pdf_url: str | None
    identifiers: tuple[Identifier, ...]


def read_starter() -> Iterator[StarterPaper]:
    """All papers by venue, year and title, one after another: the table is never whole in memory.

    Titles are as published, LaTeX included.
    """
    with _open() as lines:
        next(lines)
        for line in lines:
            yield parse_line(line)


def n_starter() -> int:
    """How many papers ``read_starter`` gives, from the first line alone."""
    with _open() as lines:
        return int(next(lines).split("\t")[1])


def parse_line(line: str) -> StarterPaper:
    """venue, year, identifiers, title, authors, and the PDF where it can't be derived."""
    venue, year, names, title, authors, *pdf = line.rstrip("\n").split("\t")
    pairs = (name.split(":", 1) for name in names.split(" "))
    identifiers = tuple(Identifier(scheme, value) for scheme, value in pairs)
    published = identifiers[0]
    return StarterPaper(
        title=title,
        authors=tuple(authors.split(";")),
        venue=venue,
        year=int(year),
        url=landing_url(published),
        pdf_url=pdf[0] if pdf else pdf_url(published),
        identifiers=identifiers,
    )


@contextmanager
def _open() -> Iterator[TextIO]:
    with (
        files(__name__).joinpath(DATA).open("rb") as packed,
        lzma.LZMAFile(packed) as plain,
        TextIOWrapper(plain, encoding="utf-8", newline="\n") as lines,
    ):
        yield lines
