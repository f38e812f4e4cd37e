"""A decoded file, and the structures that a reader may ask it for: each made once, and safely."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from lxml import etree

from service.errors import InvalidInput
from service.importers.records import Skipped

HEAD: Final = 16_384
"""Characters in which a file shows what it is."""

_XML_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*\?>")
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f\ufeff]")
_HALVES: Final = re.compile("[\ud800-\udfff]")
_JSON: Final = json.JSONDecoder(strict=False)
_WHITE: Final = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Record:
    """One value of a JSON file where it stands. Lines count from 1."""

    value: Any
    line: int
    end_line: int
    source: str


class Sample:
    """The text of a file and the name that it came with.

    Every way to end a line is ``\\n``; other control characters than tabs are left out, halves of
    surrogate pairs are U+FFFD.
    """

    def __init__(self, text: str, file_name: str = "") -> None:
        self.text = _HALVES.sub("\ufffd", _CONTROLS.sub("", _LINE_ENDS.sub("\n", text)))
        self.file_name = file_name

    @cached_property
    def head(self) -> str:
        """The beginning, without blanks before it."""
        return self.text[: 2 * HEAD].lstrip()[:HEAD]

    @cached_property
    def json(self) -> Any:
        """The whole as JSON; None if it is something else. ``null`` is none, too."""
        if not self.head.startswith(("{", "[")):
            return None
        try:
            return _JSON.decode(self.text.strip())
        except (ValueError, RecursionError):
            return None

    @cached_property
    def json_lines(self) -> list[Record]:
        """An object a line, as far as the lines are; empty unless the first two of them are."""
        records: list[Record] = []
        for number, line in enumerate(self.text.split("\n"), start=1):
            if not line.strip():
                continue
            value = _object(line)
            if value is None and len(records) < 2:
                return []
            records.append(Record(value, number, number, line))
        return records if len(records) > 1 else []

    def records(self, *path: str) -> Iterator[Record]:
        """The members of a JSON array: the outermost, or the one under these keys.

        A path that leads to one object gives that one. Where there is no such thing, none.
        """
        place = _Place(self.text)
        try:
            for key in path:
                if not place.enter(key):
                    return
            yield from place.members()
        except (ValueError, IndexError, RecursionError) as error:
            raise InvalidInput("This is not JSON that can be read.") from error

    @cached_property
    def _tree(self) -> tuple[Any, Any]:
        """The root of the XML and the first error in it; entities are never expanded."""
        data = _XML_DECLARATION.sub("", self.text, count=1).lstrip().encode("utf-8", "replace")
        parser = etree.XMLParser(
            encoding="utf-8",
            recover=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            return None, None
        return root, next(iter(parser.error_log), None)

    @property
    def xml(self) -> Any:
        """The root element; None if this is no XML at all."""
        return self._tree[0] if self.head.startswith("<") else None

    @cached_property
    def xml_lines_before(self) -> int:
        """Lines that stand before the one that ``sourceline`` calls the first."""
        declaration = _XML_DECLARATION.match(self.text)
        start = declaration.end() if declaration else 0
        rest = self.text[start:]
        return self.text.count("\n", 0, start + len(rest) - len(rest.lstrip()))

    @property
    def broken_xml(self) -> tuple[Skipped, ...]:
        """What to report where the XML is not well formed: from there on some may be lost."""
        fault = self._tree[1]
        if fault is None:
            return ()
        line = fault.line + self.xml_lines_before
        return (
            Skipped(
                line=line,
                end_line=line,
                text=self.line(line),
                reason=f"The XML is broken in this line ({fault.message}).",
                remedy="Mend it, or export the file again; what stands before it is in.",
            ),
        )

    def record_of(self, element: Any) -> Record:
        """An XML element where it stands."""
        source = etree.tostring(element, encoding="unicode", with_tail=False)
        line = (element.sourceline or 1) + self.xml_lines_before
        return Record(element, line, line + source.count("\n"), source)

    def line(self, number: int) -> str:
        """One line; empty behind the last."""
        lines = self._lines
        return lines[number - 1] if 0 < number <= len(lines) else ""

    @cached_property
    def _lines(self) -> Sequence[str]:
        return self.text.split("\n")


class _Place:
    """A position in a JSON text, moved from value to value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = self._skip(0)
        self._line, self._counted = 1, 0

    def enter(self, key: str) -> bool:
        """Go to the value under the key of the object here."""
        if self._text[self._at] != "{":
            return False
        self._at = self._skip(self._at + 1)
        while self._text[self._at] != "}":
            name, end = _JSON.raw_decode(self._text, self._at)
            self._at = self._skip(self._skip(end) + 1)
            if name == key:
                return True
            self._at = self._after(_JSON.raw_decode(self._text, self._at)[1])
        return False

    def members(self) -> Iterator[Record]:
        if self._text[self._at] != "[":
            yield self._record()
            return
        self._at = self._skip(self._at + 1)
        while self._text[self._at] != "]":
            yield self._record()
            self._at = self._after(self._at)

    def _record(self) -> Record:
        start = self._at
        value, self._at = _JSON.raw_decode(self._text, start)
        self._line += self._text.count("\n", self._counted, start)
        self._counted = start
        source = self._text[start : self._at]
        return Record(value, self._line, self._line + source.count("\n"), source)

    def _after(self, end: int) -> int:
        """Behind the comma, if one follows."""
        end = self._skip(end)
        return self._skip(end + 1) if self._text[end] == "," else end

    def _skip(self, at: int) -> int:
        found = _WHITE.match(self._text, at)
        return found.end() if found else at


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = _JSON.decode(line.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
