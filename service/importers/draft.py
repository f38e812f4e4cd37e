"""What a reader gathers of one entry, and how an entry is made of it: the same for every format."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from service.catalogue.identifiers import Identifier, Scheme
from service.catalogue.links import code_link, find_links, is_web_address
from service.catalogue.paper_links import identifier_in_link
from service.catalogue.records import Author, NewPaper
from service.catalogue.urls import normalise_url
from service.errors import InvalidInput
from service.importers.records import EXCERPT, Entry, Skipped, SkippedKind
from service.importers.values import block_of, found_in, line_of, named, people, year_of
from service.library.records import Kept
from service.tables import PaperSource, ReadingStatus

MAX_TITLE: Final = 1_000
MAX_ABSTRACT: Final = 20_000
"""Code points. The longest abstracts of real conferences have about 4,000."""
MAX_AUTHORS: Final = 5_000
"""The papers of the large detectors have about 3,000."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """One entry as its file tells it. Texts may be as they come: ``entry`` cleans them."""

    title: str | None = None
    abstract: str | None = None
    authors: list[Author] = field(default_factory=list)
    venue: str | None = None
    published: str | None = None
    kind: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    withdrawal: str | None = None
    url: str | None = None
    pdf_url: str | None = None
    code_url: str | None = None
    list_name: str | None = None
    identifiers: list[Identifier] = field(default_factory=list)
    saved_at: datetime | None = None
    status: ReadingStatus | None = None
    stars: int | None = None
    note: str = ""
    tags: list[str] = field(default_factory=list)
    collections: list[tuple[str, ...]] = field(default_factory=list)
    citation_key: str | None = None

    def name(self, scheme: Scheme, *values: Any) -> None:
        """Add the names of this kind; a value that cannot be one is passed over."""
        self.identifiers += filter(None, (named(scheme, value) for value in values))

    def link(self, *values: Any) -> None:
        """Add links: each may tell a name; the first is where the paper is read, a PDF its PDF."""
        for value in values:
            address = line_of(value)
            if not is_web_address(address):
                continue
            if self.pdf_url is None and address.partition("?")[0].lower().endswith(".pdf"):
                self.pdf_url = address
            elif self.url is None:
                self.url = address
            if found := identifier_in_link(address):
                self.identifiers.append(found)

    def entry(
        self, *, line: int, end_line: int, source: str, kind: PaperSource = PaperSource.PERSON
    ) -> Entry | Skipped:
        """The entry; skipped if there is nothing to know the paper by, or too much of it."""

        def refused(why: SkippedKind, reason: str, remedy: str) -> Skipped:
            return Skipped(
                line=line, end_line=end_line, text=source, reason=reason, remedy=remedy, kind=why
            )

        title, abstract = line_of(self.title), block_of(self.abstract)
        if len(title) > MAX_TITLE:
            reason = f"This title has {len(title):,} characters; at most {MAX_TITLE:,} are taken."
            return refused("too_long", reason, "Shorten it, or check where the entry ends.")
        if len(abstract) > MAX_ABSTRACT:
            reason = (
                f"This abstract has {len(abstract):,} characters; at most {MAX_ABSTRACT:,} are."
            )
            return refused("too_long", f"{reason[:-1]} taken.", "Shorten it, or leave it out.")
        identifiers = self._identifiers()
        if not (title or abstract or identifiers):
            return refused(
                "empty",
                "This entry has neither a title nor an abstract nor an identifier nor a link.",
                "Add one of them.",
            )
        return Entry(
            paper=NewPaper(
                source=kind,
                title=title or None,
                abstract=abstract or None,
                authors=tuple(people(self.authors)[:MAX_AUTHORS]),
                venue=line_of(self.venue) or None,
                year=year_of(self.published),
                published=self.published,
                kind=self.kind,
                details={key: value for key, value in self.details.items() if value},
                withdrawal=line_of(self.withdrawal) or None,
                url=_address(self.url),
                pdf_url=_address(self.pdf_url),
                code_url=_address(self.code_url) or code_link(find_links(abstract)),
                list_name=line_of(self.list_name) or None,
                identifiers=identifiers,
            ),
            line=line,
            end_line=end_line,
            source=source,
            kept=Kept(
                saved_at=self.saved_at,
                status=self.status,
                stars=self.stars if self.stars in range(1, 6) else None,
                note=block_of(self.note),
                tags=tuple(_once(self.tags)),
                collections=tuple(dict.fromkeys(filter(None, map(_folders, self.collections)))),
                citation_key=line_of(self.citation_key) or None,
            ),
        )

    def _identifiers(self) -> tuple[Identifier, ...]:
        """One of each kind; the address names the paper only where nothing else does."""
        found: dict[str, Identifier] = {}
        for identifier in self.identifiers:
            found.setdefault(identifier.scheme, identifier)
        if not found and (by_address := found_in(_address(self.url) or _address(self.pdf_url))):
            found[by_address.scheme] = by_address
        return tuple(found.values())


def excerpt(text: str) -> str:
    """What a report shows of an entry."""
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"


def _once(tags: Iterable[str]) -> list[str]:
    by_key: dict[str, str] = {}
    for tag in filter(None, map(line_of, tags)):
        by_key.setdefault(tag.casefold(), tag)
    return list(by_key.values())


def _folders(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(None, map(line_of, names)))


def _address(url: str | None) -> str | None:
    """As it is given, if it is one: a file of an unknown program must not plant a script."""
    text = line_of(url)
    try:
        normalise_url(text)
    except InvalidInput:
        return None
    return text
