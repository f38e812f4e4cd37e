"""Refer files (``.enw``), which EndNote and Chinese databases write: ``%T Title``.

The tags are those of EndNote, which took them from refer(1) of Unix.
"""

import re
from typing import Any, Final

from service.catalogue.identifiers import Scheme
from service.catalogue.links import find_links
from service.importers.draft import Draft
from service.importers.format import Format
from service.importers.kinds import kind_named
from service.importers.records import Parsed
from service.importers.rich_text import block_text, inline_text, note_text
from service.importers.sample import Sample
from service.importers.tagged import (
    Dialect,
    Tagged,
    details_of,
    pages,
    people_of,
    read_tagged,
    serials,
)
from service.importers.values import published_on

_DIALECT: Final = Dialect(
    tag=re.compile(r"%(?P<tag>[0-9A-Z@!$&()*+<>?^\[\]#=~|])(?=[ \t]|$)(?P<value>.*)"),
    first=frozenset("0"),
    ends_at_blank=True,
)

_WITHOUT_SEPARATORS: Final = re.compile(r"[\u3040-\u9fff]")


def is_refer(sample: Sample) -> bool:
    """It begins with a kind, an author or a title as Refer has them."""
    return re.match(r"%[0AT] \S", sample.head) is not None


def read_refer(sample: Sample) -> Parsed:
    """Every entry; a blank line or ``%0`` begins another."""
    return read_tagged(sample, _DIALECT, _draft)


def _draft(tagged: Tagged) -> Draft:
    kind = kind_named(tagged.text("0"))
    isbns, issns = serials(tagged.all("@"))
    draft = Draft(
        title=tagged.text("T"),
        abstract="\n\n".join(map(block_text, tagged.all("X"))),
        authors=people_of(tagged.all("A")),
        venue=tagged.text("J", "B") or None,
        published=published_on(*map(tagged.text, ("8", "D"))) or published_on(tagged.text("D")),
        kind=kind,
        details=_details(tagged, kind, issns),
        note="\n\n".join(map(note_text, tagged.all("Z", "<"))),
        tags=_keywords(tagged),
        citation_key=tagged.text("F") or None,
    )
    draft.name(Scheme.DOI, *tagged.all("R"))
    draft.name(Scheme.ISBN, *isbns)
    for value in tagged.all("U", ">"):
        draft.link(*find_links(value))
    return draft


def _keywords(tagged: Tagged) -> list[str]:
    found = tagged.listed(";,；，", "K")
    if len(found) == 1 and _WITHOUT_SEPARATORS.search(found[0]):
        return found[0].split()  # Chinese keywords have no blanks in them
    return [inline_text(one) for one in found]


def _details(tagged: Tagged, kind: str | None, issns: list[str]) -> dict[str, Any]:
    number = "issue" if kind in {"article-journal", "article-magazine", None} else "number"
    return details_of(
        volume=tagged.text("V"),
        page=pages(tagged.text("P")),
        edition=tagged.text("7"),
        publisher=tagged.text("I"),
        publisher_place=tagged.text("C"),
        collection_title=tagged.text("S"),
        ISSN=", ".join(issns),
        language=tagged.text("G"),
        editor=[one.name for one in people_of(tagged.all("E"))],
        translator=[one.name for one in people_of(tagged.all("?"))],
    ) | details_of(**{number: tagged.text("N")})


REFER: Final = Format(
    name="refer",
    title="an EndNote file of tagged lines (Refer)",
    recognise=is_refer,
    parse=read_refer,
    is_personal=True,
)
