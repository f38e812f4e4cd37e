"""What a format is to an import: a way to recognise it, and a reader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
