"""Conference listings that hold nothing but a heading and abstracts.

No title, no authors, no ids: one paragraph is one paper. Venue and year come from the heading.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median
from typing import Final, TypeAlias

from service.catalogue.fingerprints import abstract_fingerprint
from service.catalogue.links import code_link, find_links
from service.catalogue.records import NewPaper
from service.catalogue.text import clean
from service.errors import InvalidInput
from service.importers.decoding import refuse_other_formats
from service.importers.draft import MAX_ABSTRACT
from service.importers.headings import Heading, is_footer, read_heading
from service.importers.records import Entry, Parsed, Skipped, SkippedKind
from service.importers.sample import Sample
from service.tables import PaperSource

MIN_LETTERS: Final = 40
MIN_CJK_LETTERS: Final = 20
"""A Han character says about as much as a syllable: half as many are enough."""

ONE_LINE_WIDTH: Final = 200
"""Columns, full-width characters counting two. No one wraps lines so wide: lines of this width
are paragraphs, one abstract each."""

UNREADABLE: Final = 0.01
"""Share of replaced characters from which an abstract is damaged beyond use."""

_CJK: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]")
_WIDE: Final = re.compile(
    r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]"
)
_CONTINUES: Final = re.compile(
    r"\W*(?:https?://\S+|(?:our |the |source )?(?:code"
    r"|project|demo|data|website|models?)\b.*https?://.*"
    r"|(?:代码|项目|主页).*https?://.*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


_Block: TypeAlias = list[_Line]


def parse(sample: Sample) -> Parsed:
    """The papers of a listing, in order, and beside them what was passed over.

    Raises ``InvalidInput`` only for what holds nothing, or is data of another kind.
    """
    text = _text_of(sample.text)
    compounds = _Compounds(text)
    heading: Heading | None = None
    name: str | None = None
    entries: list[Entry | Skipped] = []
    seen: dict[str, int] = {}
    for is_first, part in _parts(text):
        found = _as_heading(part, is_first=is_first)
        if found is not None:
            heading = _inherit(found, heading)
            name = name or found.name
            continue
        source = _joined(part, compounds)
        skipped = _refused(source, part)
        if skipped is None:
            fingerprint = abstract_fingerprint(source)
            skipped = _duplicate(source, part, seen.get(fingerprint))
            seen.setdefault(fingerprint, part[0].number)
        entries.append(skipped or _listed(source, part, heading))
    return Parsed(entries=tuple(entries), name=name)


def _text_of(text: str) -> str:
    refuse_other_formats(text)
    text = clean(re.sub(r"[\x0b\x0c\x1c-\x1e]", "\n", text))
    if not text.strip():
        raise InvalidInput("This file is empty: there is no abstract in it.")
    return text


def _listed(source: str, part: _Block, heading: Heading | None) -> Entry:
    return Entry(
        paper=NewPaper(
            source=PaperSource.LISTING,
            abstract=source,
            venue=heading.venue if heading else None,
            year=heading.year if heading else None,
            published=str(heading.year) if heading and heading.year else None,
            code_url=code_link(find_links(source)),
            list_name=heading.name if heading else None,
        ),
        line=part[0].number,
        end_line=part[-1].number,
        source=source,
    )


def _parts(text: str) -> Iterator[tuple[bool, _Block]]:
    """Each heading, abstract and footer with its lines; the flag marks what begins the file."""
    is_first = True
    for block in _blocks(text):
        for part in _split_block(block):
            yield is_first and len(block) == len(part), part
            is_first = False


def _blocks(text: str) -> Iterator[_Block]:
    """Runs of lines between lines that are empty or blank in any script."""
    block: _Block = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            block.append(_Line(number, line.strip()))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _split_block(block: _Block) -> Iterator[_Block]:
    """Headings above and footers below an abstract that no blank line sets apart, and paragraphs
    that are one line each."""
    start, end = 0, len(block)
    while start < end and _is_section(block[start].text):
        yield [block[start]]
        start += 1
    footers: list[_Block] = []
    while end > start and is_footer(block[end - 1].text):
        end -= 1
        footers.insert(0, [block[end]])
    body = block[start:end]
    if body:
        yield from _by_line(body) if _is_one_a_line(body) else [body]
    yield from footers


def _is_section(line: str) -> bool:
    heading = read_heading(line)
    return heading is not None and (
        heading.is_marked or (heading.venue is not None and heading.year is not None)
    )


def _is_one_a_line(body: Sequence[_Line]) -> bool:
    return len(body) > 1 and median(_width(line.text) for line in body) >= ONE_LINE_WIDTH


def _by_line(body: Sequence[_Line]) -> Iterator[_Block]:
    """One part a line; a line with nothing but the code's address belongs to the one before."""
    part: _Block = []
    for line in body:
        if part and not (_width(line.text) < ONE_LINE_WIDTH and _CONTINUES.fullmatch(line.text)):
            yield part
            part = []
        part.append(line)
    yield part


def _width(text: str) -> int:
    return len(text) + len(_WIDE.findall(text))


def _as_heading(part: _Block, *, is_first: bool) -> Heading | None:
    """A heading stands alone: at the beginning any short line, later one with a venue or a mark."""
    heading = read_heading(part[0].text) if len(part) == 1 else None
    if heading is None or is_first or _is_section(part[0].text):
        return heading
    return heading if heading.venue and len(heading.name.split()) <= 6 else None


def _inherit(found: Heading, before: Heading | None) -> Heading:
    """A sub-heading without venue ("## Orals") stays within the conference above it."""
    if found.venue is None and before is not None:
        return replace(found, venue=before.venue, year=before.year)
    return found


class _Compounds:
    """The words of a file, made when first asked: they tell hyphens from hyphenation."""

    def __init__(self, text: str) -> None:
        self._words: Callable[[], frozenset[str]] = cache(
            lambda: frozenset(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower()))
        )

    def join(self, left: str, right: str) -> str:
        """``left`` ended a line with a hyphen and ``right`` begins the next: the word they make."""
        words = self._words()
        whole = left + right
        if "-" in right or f"{left}-{right}" in words:
            return f"{left}-{right}"
        if whole in words:
            return whole
        is_compound = left in words and right in words and len(left) > 1
        return f"{left}-{right}" if is_compound else whole


def _joined(part: _Block, compounds: _Compounds) -> str:
    pieces = [part[0].text]
    for line in part[1:]:
        previous, text = pieces[-1], line.text
        left = re.search(r"(?:^|[\s(/“\"-])([^\W\d_]+)-$", previous[-60:])
        right = re.match(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)
        if left and right and right[0][0].islower():
            word = compounds.join(left[1].lower(), right[0].lower())
            keeps_hyphen = word.startswith(f"{left[1].lower()}-")
            pieces[-1] = previous if keeps_hyphen else previous[:-1]
        elif not re.search(r"\w-$", previous) and not (
            _CJK.match(text) and (_CJK.match(previous[-1:]) or previous[-1:] in "，。、；：！？）")
        ):
            pieces.append(" ")
        pieces.append(text)
    return "".join(pieces)


def _refused(source: str, part: _Block) -> Skipped | None:
    if len(part) == 1 and is_footer(source):
        return _skip(part, source, "footer", "This line counts or ends the list.", "Nothing to do.")
    if len(source) > MAX_ABSTRACT:
        reason = (
            f"This paragraph has {len(source):,} characters, an abstract at most {MAX_ABSTRACT:,}."
        )
        return _skip(part, source, "too_long", reason, "Put a blank line between abstracts.")
    if source.count("\ufffd") > UNREADABLE * len(source):
        reason = "Characters of this paragraph cannot be read in the encoding of the file."
        return _skip(
            part, source, "undecodable", reason, "Save the file as UTF-8 and import again."
        )
    n_letters = sum(character.isalpha() for character in source)
    if n_letters < MIN_LETTERS and len(_CJK.findall(source)) < MIN_CJK_LETTERS:
        heading = read_heading(source)
        if len(part) == 1 and heading is not None and n_letters:
            reason = "This line is a heading without a venue."
            return _skip(part, source, "heading", reason, 'Write it as "# …" to name a section.')
        reason = "This paragraph is too short for an abstract."
        return _skip(
            part, source, "too_short", reason, "Add the abstract, or save the paper by hand."
        )
    return None


def _duplicate(source: str, part: _Block, first_line: int | None) -> Skipped | None:
    if first_line is None:
        return None
    reason = f"The same abstract stands in line {first_line}."
    return _skip(part, source, "duplicate", reason, "Nothing to do: it is imported once.")


def _skip(part: _Block, text: str, kind: SkippedKind, reason: str, remedy: str) -> Skipped:
    return Skipped(
        line=part[0].number,
        end_line=part[-1].number,
        text=text,
        reason=reason,
        remedy=remedy,
        kind=kind,
    )
