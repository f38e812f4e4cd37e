"""Plain text from Web of Science: tags of two letters, values that go on behind three blanks."""

import re
from typing import Any, Final

from service.catalogue.identifiers import Scheme
from service.importers.draft import Draft
from service.importers.format import Format
from service.importers.kinds import kind_named
from service.importers.records import Parsed
from service.importers.rich_text import block_text
from service.importers.sample import Sample
from service.importers.tagged import Dialect, Tagged, details_of, pages, people_of, read_tagged
from service.importers.values import group, people, published_on

_DIALECT: Final = Dialect(
    tag=re.compile(r"(?P<tag>[A-Z][A-Z0-9])(?= |$)(?P<value>.*)"),
    first=frozenset(["PT"]),
    last=frozenset(["ER"]),
    of_file=frozenset(["FN", "VR", "EF"]),
)
_START: Final = re.compile(r"(?:FN [^\n]*\n(?:VR [^\n]*\n)?\s*)?PT [A-Z]\n[A-Z][A-Z0-9] ")
_KINDS: Final = {"J": "article-journal", "B": "book", "S": "chapter", "P": "patent"}


def is_web_of_science(sample: Sample) -> bool:
    """It begins as an export from there does, or with an entry of one."""
    return _START.match(sample.head) is not None


def read_web_of_science(sample: Sample) -> Parsed:
    """Every entry from PT to ER."""
    return read_tagged(sample, _DIALECT, _draft)


def _draft(tagged: Tagged) -> Draft:
    kind = kind_named(tagged.text("DT")) if "proceeding" in tagged.text("DT").lower() else None
    date = f"{tagged.text('PD')} {tagged.text('PY')}"
    names = "\n".join(tagged.all("AF") or tagged.all("AU")).split("\n")
    organisations = "\n".join(tagged.all("CA")).split("\n")
    draft = Draft(
        title=tagged.text("TI"),
        abstract=block_text(" ".join(tagged.first("AB").split("\n"))),
        authors=people([*people_of(names), *map(group, organisations)]),
        venue=tagged.text("SO") or None,
        published=published_on(date, tagged.text("PY"), tagged.text("EA")),
        kind=kind or _KINDS.get(tagged.text("PT").upper()),
        details=_details(tagged),
        tags=[" ".join(tag.split()) for tag in tagged.first("DE").replace("\n", " ").split(";")],
    )
    draft.name(Scheme.DOI, tagged.text("DI"))
    draft.name(Scheme.PUBMED, tagged.text("PM"))
    draft.name(Scheme.ISBN, *tagged.listed("; ", "BN"))
    return draft


def _details(tagged: Tagged) -> dict[str, Any]:
    editors = "\n".join(tagged.all("BE") or tagged.all("ED")).split("\n")
    return details_of(
        volume=tagged.text("VL"),
        issue=tagged.text("IS"),
        page=pages(tagged.text("BP") or tagged.text("AR"), tagged.text("EP")),
        publisher=tagged.text("PU"),
        publisher_place=tagged.text("PI"),
        collection_title=tagged.text("SE"),
        event_title=tagged.text("CT"),
        ISSN=", ".join(filter(None, (tagged.text("SN"), tagged.text("EI")))),
        language=tagged.text("LA"),
        keyword=" ".join(tagged.text("ID").split()),
        editor=[one.name for one in people_of(editors)],
    )


WEB_OF_SCIENCE: Final = Format(
    name="wos",
    title="a plain text export of Web of Science",
    recognise=is_web_of_science,
    parse=read_web_of_science,
    is_personal=True,
)
