"""Names, dates, moments and identifiers, as the files of many programs write them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any, Final

from service.catalogue.identifiers import Identifier, Scheme, find_identifier, normalise
from service.catalogue.markup_tokens import clean
from service.catalogue.records import Author
from service.errors import InvalidInput

_BLANKS: Final = re.compile(r"\s+")
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SEASONS: Final = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_YEAR: Final = re.compile(r"(?<!\d)(1[0-9]{3}|20\d\d|21\d\d)(?!\d)")
_NUMBERS: Final = re.compile(
    r"\s*(\d{4})(?:\s*[-/.]\s*(\d{1,2})(?:\s*[-/.]\s*(\d{1,2}))?)?(?!\d)[\s/.-]*(?:T.*|\d\d:.*)?",
    re.DOTALL,
)
_MONTH_NAME: Final = re.compile(rf"\b({_MONTHS})[a-z]*\.?", re.IGNORECASE)
_DAY: Final = re.compile(r"(?<![\d:])(\d{1,2})(?:st|nd|rd|th)?(?![\d:])")
_EPOCHS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which number on a moment counts nano-, micro- or milliseconds, and how many make one."""
_ZONE_HOURS: Final = re.compile(r"([+-]\d\d)$")
_SUFFIX: Final = re.compile(r"(?:jr|sr|[ivx]{2,5})\.?", re.IGNORECASE)
_INITIALS_LAST: Final = re.compile(r"(?:[A-Z]\.-?){1,4}")
_PARTICLE: Final = re.compile(
    r"(?:van|von|der|den|de|del|della|di|da|dos|du|la|le|ten|ter|zu|zur|af|bin|ibn|al|el)",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(r"[*†‡§¶∗⋆✉☨\u00b9\u00b2\u00b3\u2070-\u2079]+|\$?\^\{?[\d,*†]+\}?\$?")
_HOMONYM: Final = re.compile(r"\s+\d{4}$")
"""DBLP numbers people of the same name."""
_AFFILIATION: Final = re.compile(r"\s*[(（][^()（）]*[)）]")
_SEPARATORS: Final = re.compile(r"\s*(?:;|；|\s[·⋅•∙|]\s?|\||、)\s*")
_FULL_STOP: Final = re.compile(r"(?<=[^\W\d_]{3})\.$")
_AND: Final = re.compile(r"\s*,?\s+(?:and|&|und|et)\s+", re.IGNORECASE)
_OTHERS: Final = re.compile(r"(?:others|et\.?\s*al\.?)", re.IGNORECASE)


def line_of(text: Any) -> str:
    """A value as one line of clean text, its runs of white space one blank; "" for None."""
    return "" if text is None else _BLANKS.sub(" ", clean(str(text))).strip()


def block_of(text: Any) -> str:
    """A value as clean text of one or more paragraphs; "" for None."""
    if text is None:
        return ""
    paragraphs = re.split(r"\n[ \t\u3000]*\n\s*", clean(str(text)))
    return "\n\n".join(filter(None, (_BLANKS.sub(" ", part).strip() for part in paragraphs)))


# ---- People ------------------------------------------------------------------------------------


def author(text: Any) -> Author | None:
    """A person written "First Last" or "Last, First" or "Last, Jr., First"; None for no name.

    Marks of affiliation and the numbers that tell namesakes apart are left out.
    """
    name = _HOMONYM.sub("", _MARKS.sub("", line_of(text))).strip(" ,;")
    if not name or _OTHERS.fullmatch(name) or not any(map(str.isalpha, name)):
        return None
    family, comma, given = (part.strip() for part in name.partition(","))
    if not comma:
        return Author(name, _family_of(name))
    suffix, comma, rest = (part.strip() for part in given.partition(","))
    if comma and _SUFFIX.fullmatch(suffix):
        return person(given=rest, family=family, suffix=suffix)
    if comma and _SUFFIX.fullmatch(rest):
        return person(given=suffix, family=family, suffix=rest)
    return person(given=given, family=family)


def person(*, given: Any, family: Any, particle: Any = "", suffix: Any = "") -> Author | None:
    """Somebody whose names are told apart; None where there is none."""
    given, family, particle, suffix = map(line_of, (given, family, particle, suffix))
    name = " ".join(filter(None, (given, particle, family, suffix)))
    return Author(name, _without_particles(family) or None) if name else None


def group(text: Any) -> Author | None:
    """An organisation; its name is never taken apart."""
    name = line_of(text)
    return Author(name) if name else None


def authors(text: Any) -> list[Author]:
    """People in one line, whatever stands between them; affiliations in brackets are left out."""
    line = _FULL_STOP.sub("", _AFFILIATION.sub("", line_of(text)).strip(" ;"))
    is_separated = _SEPARATORS.search(line) is not None
    pieces = _SEPARATORS.split(line) if is_separated else list(_by_comma(line))
    return people(piece for whole in pieces for piece in _AND.split(whole))


def people(names: Iterable[Any]) -> list[Author]:
    """Each once, in order."""
    found = (name if isinstance(name, Author) else author(name) for name in names)
    return list(dict.fromkeys(name for name in found if name is not None))


def _by_comma(line: str) -> Iterator[str]:
    """Names between commas: "Last, F., Last, F." has as many initials as names."""
    parts = [part.strip() for whole in _AND.split(line) for part in whole.split(",")]
    parts = [part for part in parts if part]
    is_inverted = len(parts) % 2 == 0 and all(_is_initials(given) for given in parts[1::2])
    if is_inverted and parts:
        yield from map(", ".join, zip(parts[::2], parts[1::2], strict=True))
        return
    if len(parts) == 2 and " and " not in line and all(" " not in part for part in parts):
        yield ", ".join(parts)
        return
    for part, after in pairwise([*parts, ""]):
        if not _SUFFIX.fullmatch(part):
            yield f"{part}, {after}" if _SUFFIX.fullmatch(after) else part


def _is_initials(text: str) -> bool:
    return re.fullmatch(r"(?:[^\W\d_]\.?[\s-]?){1,4}", text) is not None


def _family_of(name: str) -> str | None:
    if _is_written_without_blanks(name):
        return None
    words = name.split()
    while len(words) > 1 and _SUFFIX.fullmatch(words[-1].strip(",")):
        words.pop()
    if len(words) < 2:
        return None
    # "Fanning E.", as Embase and others have it.
    return words[0] if _INITIALS_LAST.fullmatch(words[-1]) else words[-1]


def _is_written_without_blanks(name: str) -> bool:
    return " " not in name or unicodedata.name(name[0], "").startswith(("CJK", "HANGUL"))


def _without_particles(family: str) -> str:
    words = family.split()
    n = 0
    while n < len(words) - 1 and words[n][0].islower() and _PARTICLE.fullmatch(words[n]):
        n += 1
    return " ".join(words[n:])


# ---- Time --------------------------------------------------------------------------------------


def published_on(*values: Any) -> str | None:
    """The most exact of some dates as 2026, 2026-12 or 2026-12-06; None where none is one.

    Takes texts ("6 Dec. 2026", "2015/october", "2012///"), numbers and CSL's date-parts. Of
    equally exact ones it is the first.
    """
    return max(filter(None, map(_date, values)), key=len, default=None)


def date_of_parts(year: Any, month: Any = None, day: Any = None) -> str | None:
    """A date whose parts stand apart; the month as a number or a name."""
    whole = _date(year)
    if whole is None or len(whole) > 4:
        return whole
    number = _month(month)
    if number is None:
        return whole
    try:
        return date(int(whole), number, int(line_of(day))).isoformat()
    except ValueError:
        return f"{whole}-{number:02d}"


def year_of(published: str | None) -> int | None:
    return int(published[:4]) if published else None


def moment(value: Any) -> datetime | None:
    """A point in time: ISO 8601, or counted from 1970 in seconds or any finer unit."""
    text = line_of(value)
    try:
        return _since_1970(float(text)) if re.fullmatch(r"\d+(?:\.\d+)?", text) else _iso(text)
    except (ValueError, OverflowError):
        return None


def _since_1970(number: float) -> datetime | None:
    for least, unit in _EPOCHS:
        if number >= least:
            number /= unit
            break
    return datetime.fromtimestamp(number, UTC) if number > 0 else None


def _iso(text: str) -> datetime:
    text = _ZONE_HOURS.sub(r"\1:00", text.removesuffix(" UTC")) if ":" in text else text
    found = datetime.fromisoformat(text.replace("/", "-"))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _date(value: Any) -> str | None:
    if isinstance(value, Sequence) and not isinstance(value, str):
        parts = value[0] if value and isinstance(value[0], Sequence) else value
        return None if isinstance(parts, str) or not parts else date_of_parts(*parts[:3])
    text = line_of(value)
    if found := _NUMBERS.fullmatch(text):
        year, month, day = found.groups()
        if not 1000 <= int(year) <= 2199:
            return None
        return date_of_parts(year, month, day) if month else year
    year_found = _YEAR.search(text)
    if year_found is None:
        return None
    rest = f"{text[: year_found.start()]} {text[year_found.end() :]}"
    number = _month(rest)
    if number is None:
        return year_found[1]
    day_found = _DAY.search(_MONTH_NAME.sub(" ", rest))
    return date_of_parts(year_found[1], number, day_found[1] if day_found else None)


def _month(value: Any) -> int | None:
    text = line_of(value).lower()
    if text.isdecimal():
        return int(text) if 1 <= int(text) <= 12 else None
    if found := _MONTH_NAME.search(text):
        return _MONTHS.split("|").index(found[1].lower()) + 1
    return next((n for name, n in _SEASONS.items() if name in text), None)


# ---- Names of papers ---------------------------------------------------------------------------


def named(scheme: Scheme, value: Any) -> Identifier | None:
    """A value that a file says is a name of this kind; None if it cannot be one."""
    text = line_of(value)
    try:
        return normalise(scheme, text) if text else None
    except InvalidInput:
        return None


def found_in(value: Any) -> Identifier | None:
    """The name that a link or a note tells, whatever its kind; a page is one by its address."""
    text = line_of(value)
    return find_identifier(text) if text else None
