"""Reading lists in files, for evaluating on data that is not in the database.

Bytes in, records out. A line that can't be used ends the reading with InvalidInput, which names the
file and the line and says what would be right: figures from half a file would look like figures.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from service.errors import InvalidInput

SHAPE = "person, paper[, value[, time]], separated by tabs"
PERSON_NAMES = frozenset({"person", "person_id", "user", "user_id", "userid"})
PAPER_NAMES = frozenset({"paper", "paper_id", "item", "item_id", "itemid"})
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of reading lists. ``value`` is None where none is given; ``at`` is in seconds."""

    person: str
    paper: str
    value: float | None
    at: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file, for what is said of it."""

    file: str
    line: int

    def refuse(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self.file}, line {self.line}: {what}", line=self.line)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, one at a time. Raises InvalidInput if it can't be read."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        why = error.strerror or "it can't be read"
        raise InvalidInput(f"{path}: {why}; name a file that can be read.") from error


def parse_rows(lines: Iterable[bytes], file: str, *, ratings: bool = False) -> list[Row]:
    """Who has which paper, in the order of the file; at least one row.

    ``ratings``: a value is a rating of 1 to 5 stars. Blank lines are passed over, and so is a first
    line that names the columns.
    """
    rows = []
    for place, text in _texts(lines, file):
        fields = [field.strip() for field in text.split("\t")]
        if not 2 <= len(fields) <= 4:
            hint = " Are these spaces?" if len(fields) == 1 and " " in text else ""
            columns = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            raise place.refuse(f"{columns} where 2 to 4 belong: {SHAPE}.{hint}")
        if place.line == 1 and _is_header(fields):
            continue
        rows.append(_row(place, fields, ratings=ratings))
    if not rows:
        raise InvalidInput(f"{file}: There is no row in it; each line holds {SHAPE}.")
    return rows


def _is_header(fields: list[str]) -> bool:
    """Only what can't be data: both names at once."""
    return fields[0].lower() in PERSON_NAMES and fields[1].lower() in PAPER_NAMES


def _row(place: Place, fields: list[str], *, ratings: bool) -> Row:
    person, paper, value, at = (*fields, "", "")[:4]
    if not person or not paper:
        raise place.refuse(f"The {'paper' if person else 'person'} is empty; {SHAPE}.")
    return Row(person, paper, _value(place, value, ratings=ratings), _at(place, at))


def _value(place: Place, text: str, *, ratings: bool) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise place.refuse(f"The value {text!r} is no number; leave it blank for a plain save.")
    if ratings and value not in {1, 2, 3, 4, 5}:
        raise place.refuse(f"The rating {text!r} is not 1, 2, 3, 4 or 5, or blank for a save.")
    return value


def _at(place: Place, text: str) -> float | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise place.refuse(
            f"The time {text!r} is not ISO 8601, like 2026-05-01T12:30:00Z or 2026-05-01."
        ) from None
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH).total_seconds()


def parse_documents(lines: Iterable[bytes], file: str) -> dict[str, str]:
    """The text of each paper by its id; none for an empty file."""
    texts: dict[str, str] = {}
    first: dict[str, int] = {}
    for place, line in _texts(lines, file):
        paper, text = _document(place, line)
        if paper in texts:
            raise place.refuse(
                f"The document {paper!r} is on line {first[paper]} already; each id stands once."
            )
        texts[paper], first[paper] = text, place.line
    return texts


def _document(place: Place, line: str) -> tuple[str, str]:
    right = 'each line holds {"id": "…", "text": "…"}'
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "too large or too deep"
        raise place.refuse(f"This is not JSON ({why}); {right}.") from None
    if not isinstance(found, dict) or not {"id", "text"} <= found.keys():
        raise place.refuse(f"There is no id or no text; {right}.")
    paper, text = found["id"], found["text"]
    if isinstance(paper, int) and not isinstance(paper, bool):
        paper = str(paper)
    if not isinstance(paper, str) or not paper.strip():
        raise place.refuse(f"The id is not a text that says something; {right}.")
    if not isinstance(text, str):
        raise place.refuse(f'The text is not a text; {right}, and "" for a paper without one.')
    return paper.strip(), text


def parse_ids(lines: Iterable[bytes], file: str) -> dict[str, Place]:
    """Ids of papers, one a line, with the place where each stands first; at least one."""
    ids: dict[str, Place] = {}
    for place, text in _texts(lines, file):
        if "\t" in text.strip():
            raise place.refuse("There is more than one column; each line holds the id of a paper.")
        ids.setdefault(text.strip(), place)
    if not ids:
        raise InvalidInput(f"{file}: There is no id in it; each line holds the id of a paper.")
    return ids


def _texts(lines: Iterable[bytes], file: str) -> Iterator[tuple[Place, str]]:
    """The lines with something on them, without their ends and without a byte order mark."""
    for number, line in enumerate(lines, start=1):
        place = Place(file, number)
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise place.refuse(
                f"Byte {error.start + 1} is not UTF-8; save the file as UTF-8."
            ) from None
        if text.strip(" "):
            yield place, text
