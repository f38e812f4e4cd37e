"""The formats that can come in: how each is recognised, and who reads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.errors import InvalidInput
from service.importers import listing
from service.importers.records import Parsed
from service.importers.sample import Sample


def _paragraphs(sources: Sequence[str]) -> str:
    return "\n\n".join(sources) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """``name`` is what a caller says to force it, ``title`` what a person reads."""

    name: str
    title: str
    recognise: Callable[[Sample], bool]
    """Whether the file is of this format; cheap, and never raises."""
    parse: Callable[[Sample], Parsed]
    is_personal: bool
    """Whether it is what somebody kept for themselves: then its papers go to their library."""
    join: Callable[[Sequence[str]], str] = _paragraphs
    """A file of some of the entries, from their sources."""


LISTING: Final = Format(
    name="listing",
    title="a conference listing",
    recognise=lambda sample: True,
    parse=listing.parse,
    is_personal=False,
)

FORMATS: Final[tuple[Format, ...]] = (LISTING,)
"""In the order in which they are tried; the last one takes all that is text."""


def recognise(sample: Sample) -> Format:
    """The format of a file, by what is in it."""
    return next(format_ for format_ in FORMATS if format_.recognise(sample))


def format_named(name: str) -> Format:
    """Raises InvalidInput, field ``format``, for a name that none has."""
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    known = ", ".join(format_.name for format_ in FORMATS)
    raise InvalidInput(f"Use one of these formats: {known}.", field="format")
