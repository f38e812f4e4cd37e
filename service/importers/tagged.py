"""Files of tagged lines: what RIS, EndNote's Refer, Web of Science and MEDLINE have in common.

Each line begins with a tag or goes on with the value of the one before it. The four differ in how a
tag is written and in where an entry begins and ends; what a tag means is told in ``ris.py``,
``refer.py``, ``web_of_science.py`` and ``medline.py``.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from service.catalogue.records import Author
from service.importers.draft import Draft
from service.importers.records import Entry, Parsed, Skipped
from service.importers.rich_text import inline_text
from service.importers.sample import Sample
from service.importers.values import author, authors, line_of, people


@dataclass(slots=True)
class Tagged:
    """One entry: its tags and values in order. A value that goes on has line ends in it."""

    line: int
    values: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def all(self, *tags: str) -> list[str]:
        """The values of these tags that say something, as they stand in the file."""
        return [value for tag, value in self.values if tag in tags and value.strip()]

    def first(self, *tags: str) -> str:
        """The value of the first of these tags that says something; "" if none does."""
        return next((found[0] for tag in tags if (found := self.all(tag))), "")

    def text(self, *tags: str) -> str:
        """The same as one line of text without markup."""
        return inline_text(self.first(*tags))

    def listed(self, separators: str, *tags: str) -> list[str]:
        """All values of these tags, taken apart at line ends and at any of the separators."""
        parts = re.split(rf"[\n{separators}]", "\n".join(self.all(*tags)))
        return [part.strip(" *") for part in parts if part.strip(" *")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """``tag`` matches a line with a tag as ``tag`` and ``value``. A ``first`` tag begins an entry,
    ``last`` ends it; a blank line does if ``ends_at_blank``. What comes before the first tag of a
    file, and the tags in ``of_file``, belong to no entry."""

    tag: re.Pattern[str]
    first: frozenset[str]
    last: frozenset[str] = frozenset()
    of_file: frozenset[str] = frozenset()
    ends_at_blank: bool = False

    def entries(self, text: str) -> Iterator[Tagged]:
        """Every entry, whether or not it has its first and its last tag."""
        entry: Tagged | None = None
        for number, line in enumerate(text.split("\n"), start=1):
            found = self.tag.match(line)
            tag = found["tag"].upper() if found else ""
            if tag in self.of_file:
                continue
            if entry is not None and (
                (tag in self.first and any(known in self.first for known, _ in entry.values))
                or (self.ends_at_blank and not line.strip())
            ):
                yield entry
                entry = None
            if tag in self.last:
                if entry is not None:
                    entry.lines.append(line)
                    yield entry
                entry = None
            elif found:
                entry = entry or Tagged(number)
                entry.lines.append(line)
                entry.values.append((tag, found["value"].strip()))
            elif entry is not None:
                entry.lines.append(line)
                if line.strip():
                    tag, value = entry.values[-1]
                    entry.values[-1] = (tag, f"{value}\n{line.strip()}")
        if entry is not None:
            yield entry


def read_tagged(sample: Sample, dialect: Dialect, draft_of: Callable[[Tagged], Draft]) -> Parsed:
    """All entries of a file, each made by ``draft_of``."""
    entries: list[Entry | Skipped] = []
    for tagged in dialect.entries(sample.text):
        source = "\n".join(tagged.lines).rstrip()
        end_line = tagged.line + source.count("\n")
        entries.append(draft_of(tagged).entry(line=tagged.line, end_line=end_line, source=source))
    return Parsed(entries=tuple(entries))


def pages(first: str, last: str = "") -> str:
    """A range of pages as CSL writes it."""
    whole = f"{first}-{last}" if first and last and last != first else first or last
    return re.sub(r"\s*[-\N{EN DASH}\N{EM DASH}]+\s*", "-", whole)


def people_of(names: Iterable[str]) -> list[Author]:
    """Each value is a person, "Last, First", or an organisation; several may share one."""
    return people(
        one
        for name in map(line_of, names)
        for one in (authors(name) if ";" in name else [author(name)])
    )


def serials(values: Iterable[str]) -> tuple[list[str], list[str]]:
    """The ISBNs and the ISSNs among numbers that are written for either."""
    found = [one for value in values for one in re.findall(r"[\dXx][\dXx -]{6,20}", value)]
    numbers = [re.sub(r"[ -]", "", one) for one in found]
    issns = [f"{one[:4]}-{one[4:]}".upper() for one in numbers if len(one) == 8]
    return [one for one in numbers if len(one) in {10, 13}], list(dict.fromkeys(issns))


def details_of(**values: Any) -> dict[str, Any]:
    """CSL's variables, by names with ``_`` for ``-``, without those that say nothing."""
    return {name.replace("_", "-"): value for name, value in values.items() if value}
