"""Compiles the starter catalogue from a folder of paper lists.

    python -m service.catalogue.starter.compile FOLDER OUT

FOLDER holds files like ``icml2017.jsonl.gz``, one paper a line. Only facts are taken: title,
authors, venue, year and where it was published. The same lists give the same bytes.
"""

import gzip
import json
import lzma
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pylatexenc.latex2text import LatexNodes2Text

from service.catalogue.identifiers import Identifier, Scheme, find_identifier, pdf_url
from service.catalogue.starter import FORMAT

VENUES = {
    "acl": "ACL",
    "aistats": "AISTATS",
    "automl": "AutoML",
    "colm": "COLM",
    "colt": "COLT",
    "iclr": "ICLR",
    "icml": "ICML",
    "nips": "NeurIPS",
}
"""By the name of the list. NIPS became NeurIPS in 2018; people look for all its years there."""

TRACKS = {
    "Findings": "Findings of {}",
    "Workshop": "{} Workshop",
    "Poster Workshop": "{} Workshop",
    "Oral Workshop": "{} Workshop",
}
ACCEPTED = {"Poster", "Spotlight", "Oral", "Long", "Short", *TRACKS}
TURNED_DOWN = {"Reject", "Desk Reject", "Withdraw", "Active"}
"""Active: still under review when the list was made (ICLR 2018), authors hidden."""

PROCEEDINGS = {Scheme.PMLR, Scheme.NEURIPS, Scheme.ACL, Scheme.OPENREVIEW}
LINKS = ("oa", "openreview", "site")
"""Fields with the address of a paper, the proceedings before the conference's own pages."""

NOT_A_PAPER = re.compile(
    r"(?:.*: )?(?:preface|foreword|front matter|table of contents|index)", re.IGNORECASE
)
AFFILIATIONS = re.compile(r"(?:OpenAI|Institute of Computing|Telecom-ParisTech) (?=\w+ \w+)")
"""Employers that the proceedings print as a first name."""

NOT_NAMES = {"anonymous", "university edinburgh", "ecprice"}
"""Printed as authors, though they are none: the last is a login beside its owner's name."""

MARKS = "*†‡§¶∗ "
GENERATION = re.compile(r"(?:Jr|Sr|I{2,3}|IV)\.?")
PACKING = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 2 << 20}
"""A dictionary as large as the text: the usual one makes every reader allocate 64 MB."""

DOI_IN_BIBTEX = re.compile(r'\bdoi = "([^"]+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the catalogue to be."""

    venue: str
    year: int
    identifiers: tuple[Identifier, ...]
    title: str
    authors: tuple[str, ...]
    pdf: str | None

    @property
    def order(self) -> tuple[object, ...]:
        """By title within a year: like titles lie together, which makes the file smaller."""
        return self.venue, self.year, self.title.casefold(), self.title, str(self.identifiers[0])

    @property
    def same_paper(self) -> tuple[object, ...]:
        """Equal for a poster and the talk about it."""
        return self.venue, self.year, _key(self.title), tuple(map(_key, self.authors))

    def line(self) -> str:
        """As ``parse_line`` reads it."""
        names = " ".join(f"{name.scheme}:{name.value}" for name in self.identifiers)
        fields = [self.venue, str(self.year), names, self.title, ";".join(self.authors)]
        return "\t".join([*fields, self.pdf] if self.pdf else fields)


def compile_starter(folder: Path) -> bytes:
    """The whole file, compressed."""
    entries = merge(
        entry
        for path in sorted(folder.glob("*.jsonl.gz"))
        for record in _records(path)
        if (entry := read_record(record, *_venue_and_year(path))) is not None
    )
    lines = [f"{FORMAT}\t{len(entries)}", *(entry.line() for entry in entries)]
    text = "".join(f"{line}\n" for line in lines)
    return lzma.compress(text.encode("utf-8"), filters=[PACKING])


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _venue_and_year(path: Path) -> tuple[str, int]:
    found = re.fullmatch(r"([a-z]+)(\d{4})", path.name.removesuffix(".jsonl.gz"))
    if found is None or found[1] not in VENUES:
        raise ValueError(f"{path.name}: no venue of this name; add it to VENUES")
    return VENUES[found[1]], int(found[2])


def read_record(record: Mapping[str, Any], venue: str, year: int) -> Entry | None:
    """The paper of a record; None for what was not accepted, or is not a published paper.

    A record without a status comes from the proceedings alone (the paper changed its title after
    the programme was made), so being published decides. A record without a page in the
    proceedings is a talk about a paper that has its own record, or an award.
    """
    status = record.get("status")
    if status in TURNED_DOWN:
        return None
    if status is not None and status not in ACCEPTED:
        raise ValueError(f"{record['id']}: decide whether {status!r} means accepted")
    title = clean_title(record.get("title") or "")
    authors = clean_authors(record)
    published = _published(record)
    if not title or not authors or published is None or NOT_A_PAPER.fullmatch(title):
        return None
    return Entry(
        venue=TRACKS.get(status or "", "{}").format(venue),
        year=year,
        identifiers=(published, *_doi(record)),
        title=title,
        authors=authors,
        pdf=_pdf(record.get("pdf"), published),
    )


def merge(entries: Iterable[Entry]) -> list[Entry]:
    """In order, each paper once: the same title and authors at a venue, or the same identifier."""
    merged: dict[object, Entry] = {}
    known: dict[object, object] = {}
    for entry in sorted(entries, key=lambda entry: entry.order):
        names = (entry.same_paper, *entry.identifiers)
        key = next((known[name] for name in names if name in known), entry.same_paper)
        for name in names:
            known.setdefault(name, key)
        merged[key] = _joined(merged[key], entry) if key in merged else entry
    return list(merged.values())


def _joined(first: Entry, second: Entry) -> Entry:
    """The first, with the names that only the second has."""
    names = tuple(dict.fromkeys((*first.identifiers, *second.identifiers)))
    return replace(first, identifiers=names)


def _published(record: Mapping[str, Any]) -> Identifier | None:
    named = (find_identifier(record.get(link) or "") for link in LINKS)
    return next((name for name in named if name and name.scheme in PROCEEDINGS), None)


def _doi(record: Mapping[str, Any]) -> tuple[Identifier, ...]:
    found = DOI_IN_BIBTEX.search(record.get("bibtex") or "")
    doi = find_identifier(found[1]) if found else None
    return (doi,) if doi and doi.scheme == Scheme.DOI else ()


def _pdf(given: str | None, published: Identifier) -> str | None:
    """The address of the text, unless it follows from the name."""
    if not given or (find_identifier(given) == published and pdf_url(published)):
        return None
    return re.sub(r"^http://(?=proceedings\.mlr\.press/)", "https://", given)


def clean(text: str) -> str:
    """One line of NFC without control characters and what a word processor left behind."""
    text = re.sub("ı(?=[\u0300-\u036f])", "i", text)
    kept = (" " if c.isspace() or not c.isprintable() or c == "\ufffc" else c for c in text)
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def clean_title(title: str) -> str:
    """As published, LaTeX included, without the full stop or a stray mark at the end."""
    title = clean(title).rstrip("` ")
    if title.endswith(".") and not title.endswith("..") and not re.search(r"\b\w\.$", title):
        title = title[:-1].rstrip()
    return title


def clean_authors(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Names as "Given Family", in order; a name doubled by the source counts once.

    Only neighbours count as doubled: two people of one name do write papers together.
    """
    site = [clean_name(name) for name in (record.get("author_site") or "").split(",")]
    listed = (record.get("author") or "").split(";")
    listed = listed if any(map(str.strip, listed)) else site
    names: list[str] = []
    previous = ""
    for raw in listed:
        if raw.strip() == previous:
            continue
        previous = raw.strip()
        for part in previous.split(" and "):
            name = _with_given_name(clean_name(part), site)
            if GENERATION.fullmatch(name) and names:
                names[-1] += f" {name}"
            elif name and name.lower() not in NOT_NAMES:
                names.append(name)
    return tuple(names)


def clean_name(name: str) -> str:
    """One person's name without marks, LaTeX, titles and shouting."""
    if "\\" in name:
        name = LatexNodes2Text().latex_to_text(name)
    name = clean(name.replace("\x7f", "")).strip(MARKS)
    family, comma, given = name.partition(", ")
    if comma and not GENERATION.fullmatch(given):
        name = f"{given} {family}"
    name = AFFILIATIONS.sub("", re.sub(r"^(?:Dr|Prof)\. ?", "", name))
    name = re.sub(r"([’'])\s+", r"\1", re.sub(r"(\w)\(", r"\1 (", name))
    name = re.sub(r"\bIii$", "III", re.sub(r"(\w{3})\.$", r"\1", name))
    if " " in name and (name.isupper() or name.islower()):
        name = re.sub(r"\w+", lambda word: word[0].capitalize(), name)
    return name


def _with_given_name(name: str, site: Sequence[str]) -> str:
    """A family name standing alone gets its given name back from the conference's page."""
    if " " in name or not name:
        return name
    full = (other for other in site if " " in other and _key(other.split()[-1]) == _key(name))
    return next(full, name)


def _key(text: str) -> str:
    """Letters and digits only, without accents and case."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(compile_starter(Path(sys.argv[1])))
