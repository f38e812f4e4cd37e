"""MEDLINE files (``.nbib``) from PubMed: https://www.nlm.nih.gov/bsd/mms/medlineelements.html."""

import re
from typing import Any, Final

from service.catalogue.identifiers import Scheme
from service.importers.draft import Draft
from service.importers.format import Format
from service.importers.records import Parsed
from service.importers.rich_text import block_text
from service.importers.sample import Sample
from service.importers.tagged import Dialect, Tagged, details_of, pages, people_of, read_tagged
from service.importers.values import group, people, published_on

_DIALECT: Final = Dialect(
    tag=re.compile(r"(?P<tag>[A-Z]{2,4}) {0,2}- (?P<value>.*)"),
    first=frozenset(["PMID"]),
)
_START: Final = re.compile(r"^PMID ?- ?\d", re.MULTILINE)
_KINDS: Final = (
    ("preprint", "article"),
    ("dataset", "dataset"),
    ("book", "book"),
    ("journal article", "article-journal"),
)


def is_medline(sample: Sample) -> bool:
    """A line gives a number of PubMed."""
    return _START.search(sample.head) is not None


def read_medline(sample: Sample) -> Parsed:
    """Every entry; PMID begins another."""
    return read_tagged(sample, _DIALECT, _draft)


def _draft(tagged: Tagged) -> Draft:
    kinds = [one.lower() for one in tagged.all("PT")]
    kind = next((kind for name, kind in _KINDS if any(name in one for one in kinds)), None)
    draft = Draft(
        title=tagged.text("TI", "BTI").removesuffix(".").strip("[]"),
        abstract="\n\n".join(block_text(_joined(one)) for one in tagged.all("AB")),
        authors=people(
            [*people_of(tagged.all("FAU") or tagged.all("AU")), *map(group, tagged.all("CN"))]
        ),
        venue=tagged.text("JT", "TA") or None,
        published=published_on(*map(tagged.text, ("DP", "DEP"))),
        kind=kind,
        details=_details(tagged),
        withdrawal="Retracted" if "retracted publication" in kinds else None,
        tags=[one.strip() for one in tagged.listed("", "OT")],
    )
    draft.name(Scheme.PUBMED, tagged.text("PMID"))
    for value in tagged.all("LID", "AID"):
        if value.endswith("[doi]"):
            draft.name(Scheme.DOI, value.removesuffix("[doi]").strip())
    draft.name(Scheme.ISBN, *tagged.all("ISBN"))
    return draft


def _joined(value: str) -> str:
    return " ".join(value.split("\n"))


def _details(tagged: Tagged) -> dict[str, Any]:
    issns = [found[0] for one in tagged.all("IS") if (found := re.match(r"[\dXx-]{9}", one))]
    return details_of(
        volume=tagged.text("VI"),
        issue=tagged.text("IP"),
        page=pages(tagged.text("PG")),
        publisher=tagged.text("PB"),
        publisher_place=tagged.text("PL"),
        ISSN=", ".join(issns),
        language=tagged.text("LA"),
        keyword="; ".join(one.replace("*", "") for one in tagged.all("MH")),
        editor=[one.name for one in people_of(tagged.all("FED") or tagged.all("ED"))],
    )


MEDLINE: Final = Format(
    name="nbib",
    title="a PubMed file (MEDLINE)",
    recognise=is_medline,
    parse=read_medline,
    is_personal=True,
)
