"""BibTeX and BibLaTeX files.

bibtexparser finds the blocks; what is in them is read here, block by block, so that one that is
broken costs nothing but itself, and so that no chain of ``@string`` can grow without bound
(the grammar: https://www.ctan.org/pkg/btxdoc; the fields: https://www.ctan.org/pkg/biblatex).
"""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bibtexparser.middlewares.names import (
    parse_single_name_into_parts,
    split_multiple_persons_names,
)
from bibtexparser.model import (
    Block,
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    ExplicitComment,
    ImplicitComment,
    Preamble,
    String,
)
from bibtexparser.model import Entry as Item
from bibtexparser.splitter import Splitter

from service.catalogue.identifiers import Scheme
from service.catalogue.links import find_links
from service.catalogue.records import Author
from service.catalogue.text import to_plain
from service.importers.draft import Draft
from service.importers.format import Format
from service.importers.records import Entry, Parsed, Skipped
from service.importers.sample import Sample
from service.importers.values import (
    authors,
    date_of_parts,
    group,
    line_of,
    moment,
    named,
    people,
    person,
    published_on,
)
from service.tables import ReadingStatus

# What it has to say is in the report; the output of the process that reads is the report's.
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)

LONGEST_VALUE: Final = 200_000
"""Characters of one value with its abbreviations spelt out; what goes beyond is not read."""
_GENERATIONS: Final = 3
"""How far a ``crossref`` of a ``crossref`` is followed."""

_BLOCK: Final = re.compile(
    r"^[ \t]*@\s*(?:%[^\n]*\s*)*(?:(?:string|comment|preamble)\s*(?:%[^\n]*\s*)*[({]"
    r"|\w+\s*[({]\s*[^\s,{}()=\"]*\s*,)",
    re.IGNORECASE | re.MULTILINE,
)
_COMMENTED: Final = re.compile(r"^(\s*%[^\n@]*)@(?=\w*[ \t]*[({])", re.MULTILINE)
_BROKEN_BLOCK_START: Final = re.compile(
    r"^([ \t]*)@((?:\s|%[^\n]*\n)*)(\w+)((?:\s|%[^\n]*\n)*)(?=[({])", re.MULTILINE
)
_ATOM: Final = re.compile(r"[^\s{}\"#,=]+")
_SPECIAL: Final = re.compile(r"[\\{}$~&*_`'\"-]")
_HOUSE_MACROS: Final = (
    ("\\ocirc", "\\r"),
    ("\\polhk", "\\k"),
    ("\\cprime", "\N{MODIFIER LETTER PRIME}"),
    ("\\cdprime", "\N{MODIFIER LETTER DOUBLE PRIME}"),
)
"""Accents that Mathematical Reviews defines in the preamble of its files."""
_NO_PAPERS: Final = frozenset(["set", "control", "bibnote"])
"""Entry types of BibLaTeX that hold neither a work nor parts of one."""

_KINDS: Final = {
    "article": "article-journal",
    "book": "book",
    "mvbook": "book",
    "collection": "book",
    "proceedings": "book",
    "mvproceedings": "book",
    "booklet": "pamphlet",
    "inbook": "chapter",
    "bookinbook": "chapter",
    "suppbook": "chapter",
    "incollection": "chapter",
    "inproceedings": "paper-conference",
    "conference": "paper-conference",
    "phdthesis": "thesis",
    "mastersthesis": "thesis",
    "thesis": "thesis",
    "techreport": "report",
    "report": "report",
    "manual": "report",
    "online": "webpage",
    "electronic": "webpage",
    "www": "webpage",
    "dataset": "dataset",
    "software": "software",
    "patent": "patent",
    "unpublished": "manuscript",
}
"""CSL's word for an entry type."""
_DETAILS: Final = (
    ("volume", ("volume",)),
    ("edition", ("edition",)),
    ("publisher", ("publisher", "organization")),
    ("publisher-place", ("address", "location")),
    ("collection-title", ("series",)),
    ("chapter-number", ("chapter",)),
    ("event-title", ("eventtitle",)),
    ("ISSN", ("issn",)),
    ("language", ("language", "langid")),
    ("genre", ("type",)),
    ("note", ("note",)),
    ("medium", ("howpublished",)),
)
"""CSL variables, and the fields that give them."""
_VENUES: Final = ("journaltitle", "journal", "booktitle", "school", "institution", "eventtitle")
_OF_PARENT: Final = {"title": "booktitle", "subtitle": "booksubtitle"}
"""What the fields of a volume are to its chapters."""
_NOT_INHERITED: Final = frozenset(
    ["crossref", "xdata", "doi", "eprint", "author", "abstract", "keywords", "url", "pages", "note"]
)
_ARXIV_VENUE: Final = re.compile(r"\barxiv\b.*?((?:[a-z.-]+/)?\d[\d./]*\d(?:v\d+)?)", re.IGNORECASE)
_CORR: Final = re.compile(r"abs/(\S+)", re.IGNORECASE)
_STATUS: Final = {
    "read": ReadingStatus.READ,
    "skimmed": ReadingStatus.READING,
    "reading": ReadingStatus.READING,
    "unread": ReadingStatus.TO_READ,
    "toread": ReadingStatus.TO_READ,
}
"""What JabRef, and people by hand, write into ``readstatus`` or ``read``."""


def is_bibtex(sample: Sample) -> bool:
    """A block begins a line, and the file as a whole is nothing else."""
    return not sample.head.startswith(("<", "[", "{")) and _BLOCK.search(sample.text) is not None


def read_bibtex(sample: Sample) -> Parsed:
    """Every entry in order; blocks that cannot be read are skipped with their line."""
    blocks = list(_blocks(sample.text))
    macros = _Macros(block for block in blocks if isinstance(block, String))
    found = [_read(block, macros) for block in blocks]
    parents = {item.key.lower(): item for item in found if isinstance(item, _Item) and item.key}
    entries = [
        item if isinstance(item, Skipped) else _entry(item, parents)
        for item in found
        if isinstance(item, Skipped) or (item is not None and item.type != "xdata")
    ]
    return Parsed(entries=tuple(entries))


def _blocks(text: str) -> Iterator[Block]:
    # A commented entry is a comment; and between @, type and brace there may be line ends and
    # comments, which the splitter does not expect. Lines keep their numbers.
    text = _COMMENTED.sub("\\1\N{FULLWIDTH COMMERCIAL AT}", text)
    text = _BROKEN_BLOCK_START.sub(_mended_start, text)
    for block in Splitter(text).split().blocks:
        if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock):
            yield block.ignore_error_block or block
        else:
            yield block


def _mended_start(found: re.Match[str]) -> str:
    indent, before, name, after = found.groups()
    return "\n" * (before + after).count("\n") + f"{indent}@{name}"


# ---- Values ------------------------------------------------------------------------------------


class _Broken(Exception):
    """A value that is none; the message says what is wrong, for the file's owner."""


class _Macros:
    """The abbreviations of a file; one may use those before it."""

    def __init__(self, blocks: Iterable[String]) -> None:
        self._values: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        for block in blocks:
            name = block.key.lower()
            try:
                self._values[name] = self.value(block.value, set())
            except _Broken:
                continue
            self.sources[name] = (block.raw or "").strip()

    def value(self, raw: str, used: set[str]) -> str:
        """Texts in braces or quotes, numbers and abbreviations, joined by ``#``.

        Abbreviations go into ``used``; one that is not known stands for itself.
        """
        pieces: list[str] = []
        at, length, is_joined = 0, 0, True
        while at < len(raw):
            if raw[at].isspace():
                at += 1
                continue
            if raw[at] == "#":
                at, is_joined = at + 1, True
                continue
            if not is_joined:
                raise _Broken("a comma is missing after")
            start, at = at, _piece_end(raw, at)
            piece = raw[start:at]
            if piece[0] in '{"':
                pieces.append(piece[1:-1])
            else:
                name = piece.lower()
                used.add(name)
                pieces.append(self._values.get(name, piece))
            length += len(pieces[-1])
            if length > LONGEST_VALUE:
                raise _Broken(f"more than {LONGEST_VALUE:,} characters are in")
            is_joined = False
        return "".join(pieces)


def _piece_end(raw: str, start: int) -> int:
    opening = raw[start]
    if opening not in '{"':
        found = _ATOM.match(raw, start)
        if found is None:
            raise _Broken("there is a stray bracket or quotation mark in")
        return found.end()
    depth, at = 0, start
    while at < len(raw):
        character = raw[at]
        if character == "\\":
            at += 2
            continue
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        at += 1
        is_end = character == "}" if opening == "{" else character == '"' and at > start + 1
        if is_end and depth == 0:
            return at
    raise _Broken("a bracket or quotation mark is not closed in")


def _plain(value: str) -> str:
    """One line of text without markup, as names and all but title and abstract are kept."""
    if not _SPECIAL.search(value):
        return line_of(value)
    for macro, known in _HOUSE_MACROS:
        value = value.replace(macro, known)
    return line_of(to_plain(value))


# ---- Blocks ------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class _Item:
    type: str
    key: str
    fields: dict[str, str]
    line: int
    source: str
    seen: set[str] = field(default_factory=set)

    @property
    def end_line(self) -> int:
        return self.line + self.source.count("\n")


def _read(block: Block, macros: _Macros) -> _Item | Skipped | None:
    if isinstance(block, String | Preamble | ExplicitComment | ImplicitComment):
        return None
    line, source = (block.start_line or 0) + 1, (block.raw or "").strip()
    if isinstance(block, Item):
        type_, key = block.entry_type, block.key
        pairs = [(one.key, one.value) for one in block.fields]
    else:
        opening = _OPENING.match(source)
        if opening is None:
            return None if "=" not in source else _skip(line, source, _NO_KEY)
        type_, key = opening["type"].lower(), opening["key"]
        pairs = list(_salvaged(source, opening.end()))
        if not any(name.lower() in _TELLING for name, _ in pairs):
            return _skip(line, source, _NOT_CLOSED)
    if type_ in _NO_PAPERS or not (pairs or type_ in _KINDS):
        return None  # an e-mail address before a bracket looks like a block, too
    fields: dict[str, str] = {}
    used: set[str] = set()
    for name, raw in pairs:
        try:
            value = macros.value(raw, used)
        except _Broken as error:
            where = f"{error} the field “{name.strip().lower()[:40]}”"
            return _skip(line, source, f"{where[0].upper()}{where[1:]}.")
        if value.strip():
            fields.setdefault(name.strip().lower(), value)
    # An entry that is sent again must not lose what its abbreviations stand for.
    needed = [macros.sources[name] for name in sorted(used) if name in macros.sources]
    return _Item(
        type=type_,
        key=key,
        fields=fields,
        line=line,
        source="\n".join([source, *needed]) if needed else source,
    )


_NO_KEY: Final = "There is no comma after the key of this entry."
_NOT_CLOSED: Final = "This entry is not closed: a bracket or a quotation mark is missing in it."
_OPENING: Final = re.compile(r"@(?P<type>\w+)\s*[({]\s*(?P<key>[^\s,{}()=\"]*)\s*,")
_FIELD: Final = re.compile(r"[\s,]*([\w:+.-]+)\s*=\s*")
_NEXT_FIELD: Final = re.compile(r"[}\"]\s*(?:,\s*|\n\s*)(?=[\w-]+\s*=\s*[\"{\w])")
_JOINT: Final = re.compile(r"\s*#\s*")
_TELLING: Final = frozenset(["title", "booktitle", "doi", "eprint", "url"])


def _salvaged(source: str, at: int) -> Iterator[tuple[str, str]]:
    """The fields of an entry that is not closed: a value without its end has it where the next
    field begins, or with the entry."""
    while found := _FIELD.match(source, at):
        start = found.end()
        end = _value_end(source, start)
        following = _NEXT_FIELD.search(source, start, end or len(source))
        if end is not None and following is None:
            yield found[1], source[start:end]
            at = end
        elif "\n" in following[0] if following else found[1].lower() not in _TELLING:
            text = source[start : following.start() if following else len(source)]
            text = text.strip().strip('{}"')
            # Braces without a partner go: what is in them stays.
            yield found[1], "{" + re.sub(r"(?<!\\)[{}]", "", text.rstrip(",")).rstrip("\\") + "}"
            at = following.end() if following else len(source)
        else:
            return  # what ends nowhere is no title


def _value_end(source: str, at: int) -> int | None:
    try:
        at = _piece_end(source, at)
        while joint := _JOINT.match(source, at):
            at = _piece_end(source, joint.end())
    except (_Broken, IndexError):
        return None
    return at


def _skip(line: int, source: str, reason: str) -> Skipped:
    return Skipped(
        line=line,
        end_line=line + source.count("\n"),
        text=source,
        reason=reason,
        remedy="Mend this entry and import it again; the others are in.",
    )


def _entry(item: _Item, parents: Mapping[str, _Item]) -> Entry | Skipped:
    draft = _draft(item.type, item.key, _with_inherited(item, parents))
    return draft.entry(line=item.line, end_line=item.end_line, source=item.source)


def _with_inherited(item: _Item, parents: Mapping[str, _Item]) -> dict[str, str]:
    """The fields, and those that the volume or the shared data give them."""
    fields = dict(item.fields)
    family = [(item, 0)]
    seen = {item.key.lower()}
    while family:
        child, generation = family.pop()
        shared = [(key, False) for key in child.fields.get("xdata", "").split(",")]
        for key, is_volume in [(child.fields.get("crossref", ""), True), *shared]:
            parent = parents.get(key.strip().lower())
            if parent is None or parent.key.lower() in seen or generation >= _GENERATIONS:
                continue
            seen.add(parent.key.lower())
            for name, value in parent.fields.items():
                if name not in _NOT_INHERITED or not is_volume:
                    fields.setdefault(_OF_PARENT.get(name, name) if is_volume else name, value)
            family.append((parent, generation + 1))
    return fields


# ---- Fields ------------------------------------------------------------------------------------


def _draft(type_: str, key: str, fields: Mapping[str, str]) -> Draft:
    def first(*names: str) -> str:
        return next((fields[name] for name in names if name in fields), "")

    title = first("title") or (first("booktitle") if type_ in {"collection", "proceedings"} else "")
    subtitle = first("subtitle")
    draft = Draft(
        title=f"{title}: {subtitle}" if title and subtitle else title,
        abstract=first("abstract", "abstractnote") or None,
        authors=list(_names(first("author"))),
        venue=_venue(type_, fields, title),
        published=_published(fields),
        kind=_KINDS.get(type_),
        details=dict(_details(type_, fields)),
        saved_at=moment(first("date-added", "creationdate", "dateadded"))
        or moment(first("timestamp").replace(".", "-")),
        status=_STATUS.get(_plain(first("readstatus", "read")).lower()),
        stars=_stars(first("ranking", "rating")),
        note="\n\n".join(
            to_plain(fields[name])
            for name in ("annote", "annotation", "comment", "review")
            if name in fields
        ),
        tags=[tag for name in _TAG_FIELDS if name in fields for tag in _listed(fields[name])],
        collections=[(name,) for name in _listed(first("groups"))],
        citation_key=key or None,
    )
    _name(draft, fields)
    return draft


_TAG_FIELDS: Final = ("keywords", "keyword", "tags", "mendeley-tags")


def _listed(value: str) -> list[str]:
    text = _plain(value)
    return [part.strip() for part in text.split(";" if ";" in text else ",")]


def _stars(value: str) -> int | None:
    found = re.fullmatch(r"\s*(?:rank)?([1-5])\s*", value)
    return int(found[1]) if found else None


def _venue(type_: str, fields: Mapping[str, str], title: str) -> str | None:
    for name in _VENUES:
        value = fields.get(name, "")
        if value and value != title and not _ARXIV_VENUE.search(value):
            return _plain(value)
    return None


def _published(fields: Mapping[str, str]) -> str | None:
    date = fields.get("date") or fields.get("issued") or ""
    year, month = _plain(fields.get("year", "")), _plain(fields.get("month", "")).strip(" ,.;")
    return published_on(
        date.partition("/")[0] if re.match(r"\s*\d{4}", date) else _plain(date),
        date_of_parts(year, month, _plain(fields.get("day", ""))) if year else None,
    )


def _details(type_: str, fields: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for variable, names in _DETAILS:
        value = next((fields[name] for name in names if name in fields), "")
        if text := _plain(value):
            yield variable, text
    if number := _plain(fields.get("issue") or fields.get("number") or ""):
        yield ("issue" if type_ == "article" else "number"), number
    if pages := _plain(fields.get("pages") or fields.get("eid") or ""):
        yield "page", re.sub(r"\s*[-\N{EN DASH}\N{EM DASH}]+\s*", "-", pages)
    for role in ("editor", "translator"):
        if found := [one.name for one in _names(fields.get(role, ""))]:
            yield role, found
    if _has_others(fields.get("author", "")):
        yield "et-al", True


def _name(draft: Draft, fields: Mapping[str, str]) -> None:
    """Identifiers and links, from wherever people put them."""
    value = {name: _plain(text) for name, text in fields.items() if name in _LINKS}
    draft.name(Scheme.DOI, value.get("doi"))
    kind = (value.get("archiveprefix") or value.get("eprinttype") or "arxiv").lower()
    if scheme := _ARCHIVES.get(kind):
        draft.name(scheme, value.get("eprint"))
    draft.name(Scheme.ARXIV, value.get("arxivid"))
    draft.name(Scheme.PUBMED, value.get("pmid"))
    draft.name(Scheme.ISBN, *re.split(r"[,;]", value.get("isbn", "")))
    draft.name(Scheme.OPENREVIEW, value.get("openreview"))
    for name in ("journal", "journaltitle", "howpublished", "note", "publisher"):
        if found := _ARXIV_VENUE.search(value.get(name, "")):
            draft.name(Scheme.ARXIV, found[1])
    if value.get("journal", "").lower() == "corr" and (
        found := _CORR.search(value.get("volume", ""))
    ):
        draft.name(Scheme.ARXIV, found[1])
    # An address in a text field ends where the text goes on, and may be written as a command.
    for name in ("url", "ee", "link", "howpublished", "note", "pdf"):
        draft.link(*find_links(fields.get(name, "")))
    if "doi" in value and named(Scheme.DOI, value["doi"]) is None:
        draft.link(*find_links(fields["doi"]))


_LINKS: Final = frozenset(
    {"doi", "eprint", "archiveprefix", "eprinttype", "arxivid", "pmid", "isbn", "openreview"}
    | {"journal", "journaltitle", "howpublished", "note", "publisher", "volume"}
)
_ARCHIVES: Final = {"arxiv": Scheme.ARXIV, "pubmed": Scheme.PUBMED, "pmid": Scheme.PUBMED}


# ---- People ------------------------------------------------------------------------------------


def _names(value: str) -> list[Author]:
    if not value:
        return []
    return people(one for name in _split(value) for one in _people_of(name))


def _split(value: str) -> Sequence[str]:
    return [name.strip(" \t\n,") for name in split_multiple_persons_names(value)]


def _has_others(value: str) -> bool:
    return any(name.lower() == "others" for name in _split(value)[-1:]) if value else False


def _people_of(name: str) -> Iterator[Author | None]:
    if name.lower() == "others":
        return
    if _is_one_group(name):
        yield group(_plain(name[1:-1]))
    elif re.match(r"(?:id|given|family|prefix|suffix)(?:-i)?\s*=", name):
        yield _extended(name)
    elif ";" in name or name.count(",") > 2:
        # Not BibTeX's "and", but what people write without it.
        yield from authors(_plain(name))
    else:
        parts = parse_single_name_into_parts(name, strict=False)
        texts = [_plain(" ".join(words)) for words in (parts.first, parts.von, parts.last)]
        suffix = _plain(" ".join(parts.jr))
        yield person(given=texts[0], particle=texts[1], family=texts[2], suffix=suffix)


def _is_one_group(name: str) -> bool:
    if not (name.startswith("{") and name.endswith("}")):
        return False
    depth = 0
    for character in name[:-1]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            return False
    return not re.match(r"\{\s*\\", name)


def _extended(name: str) -> Author | None:
    """BibLaTeX's names by parts: ``family=Adler, given=Alfred``."""
    pieces = [part.partition("=") for part in re.split(r",(?![^{]*\})", name)]
    parts = {key.strip(): _plain(value) for key, _, value in pieces}
    return person(
        given=parts.get("given", ""),
        family=parts.get("family", ""),
        particle=parts.get("prefix", ""),
        suffix=parts.get("suffix", ""),
    )


BIBTEX: Final = Format(
    name="bibtex",
    title="a BibTeX file",
    recognise=is_bibtex,
    parse=read_bibtex,
    is_personal=True,
)
