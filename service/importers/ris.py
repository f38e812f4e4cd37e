"""RIS files, as reference managers and publishers write them.

The tags are those of Research Information Systems (2001, 2011), with what Scopus, SciFinder, Zotero
and others make of them. rispy loses entries without TY or ER, the order of authors and the lines of
the file, so it does not serve here.
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

_TAGS: Final = (
    "TY|ER|A[1-4]|AB|AD|AN|AU|AV|BT|C[1-8]|CA|CL|CN|CP|CT|CY|DA|DB|DI|DO|DP|ED|EP|ET|ID|IS|J[12AFO]"
    "|KW|L[1-4BAK]|LA|LB|LK|M[1-3]|N[12]|NV|OP|PB|PP|PY|RI|RN|RP|SE|SN|SP|ST|T[1-3AIT]|TI|TT|U[1-5]"
    "|UR|UT|V[LO]|WT|WV|Y[12]|ZA"
)
_DIALECT: Final = Dialect(
    # By the book two blanks stand before the dash; behind a known tag one to three will do.
    tag=re.compile(
        rf"(?P<tag>[A-Z][A-Z0-9](?=  -)|(?:{_TAGS})(?=[ \t]{{1,3}}-))[ \t]+-(?P<value>.*)"
    ),
    first=frozenset(["TY"]),
    last=frozenset(["ER"]),
)
_START: Final = re.compile(r"^TY[ \t]{1,3}-[ \t]*\S", re.MULTILINE)
_END: Final = re.compile(r"^ER[ \t]{1,3}-[ \t]*$", re.MULTILINE)

_KINDS: Final = {
    "JOUR": "article-journal",
    "EJOU": "article-journal",
    "ABST": "article-journal",
    "INPR": "article-journal",
    "JFULL": "article-journal",
    "MGZN": "article-magazine",
    "NEWS": "article-newspaper",
    "CONF": "paper-conference",
    "CPAPER": "paper-conference",
    "BOOK": "book",
    "EBOOK": "book",
    "EDBOOK": "book",
    "WHOLE": "book",
    "CHAP": "chapter",
    "ECHAP": "chapter",
    "THES": "thesis",
    "RPRT": "report",
    "GOVDOC": "report",
    "STAND": "standard",
    "UNPB": "manuscript",
    "MANSCPT": "manuscript",
    "DATA": "dataset",
    "AGGR": "dataset",
    "COMP": "software",
    "PAT": "patent",
    "ELEC": "webpage",
    "ICOMM": "webpage",
    "WEB": "webpage",
    "BLOG": "post-weblog",
    "SLIDE": "speech",
    "ENCYC": "entry-encyclopedia",
    "DICT": "entry-dictionary",
}
_NOT_NOTED: Final = re.compile(
    r"cited by\b|export date\b|times cited\b|references: ?\d|doi: ?10\.|caplus an\b|correspondence "
    r"address|language of original|publication stage|conference code|e-?mail:|pmid: ?\d",
    re.IGNORECASE,
)
"""Notes that are a database's and not a person's."""
_DOI_LABEL: Final = re.compile(r"\s*doi:\s*", re.IGNORECASE)


def is_ris(sample: Sample) -> bool:
    """An entry begins or ends in it as RIS has it."""
    return _START.search(sample.text) is not None or _END.search(sample.text) is not None


def read_ris(sample: Sample) -> Parsed:
    """Every entry, also one without TY or ER."""
    return read_tagged(sample, _DIALECT, _draft)


def _draft(tagged: Tagged) -> Draft:
    type_ = tagged.text("TY")
    kind = _KINDS.get(type_.upper()) or kind_named(type_)
    title = tagged.text("TI", "T1", "CT", *(["BT"] if kind == "book" else []), "ST")
    isbns, issns = serials(tagged.all("SN"))
    label = tagged.text("ID", "LB")
    draft = Draft(
        title=title,
        abstract="\n\n".join(map(block_text, tagged.all("AB") or tagged.all("N2"))),
        authors=people_of(tagged.all("AU", "A1")),
        venue=_venue(tagged, kind, title),
        published=published_on(*map(tagged.text, ("Y1", "PY", "DA"))),
        kind=kind,
        details=_details(tagged, kind, issns),
        note="\n\n".join(
            note_text(note) for note in tagged.all("N1", "RN") if not _NOT_NOTED.match(note)
        ),
        tags=[inline_text(tag) for tag in tagged.listed(";", "KW")],
        # Databases number their entries there.
        citation_key=label if re.search(r"[^\W\d_]", label) and " " not in label else None,
    )
    draft.name(Scheme.DOI, *tagged.all("DO", "DI"))
    draft.name(Scheme.DOI, *(_DOI_LABEL.sub("", one) for one in tagged.all("M3", "N1", "L3")))
    draft.name(Scheme.ISBN, *isbns)
    if tagged.text("DB", "DP").lower() in {"pubmed", "medline"}:
        draft.name(Scheme.PUBMED, tagged.text("AN"))
    for value in tagged.all("UR", "LK", "L1", "L2"):
        draft.link(*find_links(value))
    return draft


def _venue(tagged: Tagged, kind: str | None, title: str) -> str | None:
    """Where it came out; of a book T2 is the series."""
    if kind == "book":
        return None
    tags = ("JF", "T2", "BT", "C3", "JO", "JA", "J2", "J1")
    return next((name for tag in tags if (name := tagged.text(tag)) and name != title), None)


def _details(tagged: Tagged, kind: str | None, issns: list[str]) -> dict[str, Any]:
    editors, translators = tagged.all("ED", "A2"), tagged.all("A4")
    number = "issue" if kind in {"article-journal", "article-magazine", None} else "number"
    return details_of(
        volume=tagged.text("VL", "VO"),
        page=pages(tagged.text("SP") or tagged.text("C7"), tagged.text("EP")),
        edition=tagged.text("ET"),
        publisher=tagged.text("PB"),
        publisher_place=tagged.text("CY", "PP"),
        collection_title=tagged.text("T2") if kind == "book" else tagged.text("T3"),
        ISSN=", ".join(issns),
        language=tagged.text("LA"),
        editor=[one.name for one in people_of(editors)],
        translator=[one.name for one in people_of(translators)],
    ) | details_of(**{number: tagged.text("IS", "CP", "M1" if kind == "report" else "IS")})


RIS: Final = Format(
    name="ris", title="an RIS file", recognise=is_ris, parse=read_ris, is_personal=True
)
