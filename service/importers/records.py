"""What a file says, before anything of it is kept: what every reader of a format makes."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from service.catalogue.records import NewPaper
from service.library.records import Kept

EXCERPT = 200
"""Characters of an entry that a report shows."""

SkippedKind: TypeAlias = Literal[
    "footer", "duplicate", "too_short", "too_long", "undecodable", "heading", "unreadable", "empty"
]
NO_LOSS: frozenset[SkippedKind] = frozenset({"footer", "duplicate", "heading"})
"""What is passed over without anything being lost: nobody needs to mend and send it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One paper of a file. Lines count from 1; ``source`` is as written."""

    paper: NewPaper
    line: int
    end_line: int
    source: str
    kept: Kept = field(default_factory=Kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A part of the file that did not become a paper, why, and what would help."""

    line: int
    end_line: int
    text: str
    reason: str
    remedy: str
    kind: SkippedKind = "unreadable"

    @property
    def is_loss(self) -> bool:
        return self.kind not in NO_LOSS


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file, read. ``name`` is that of the list it holds, if it says one."""

    entries: tuple[Entry | Skipped, ...]
    name: str | None = None

    @property
    def papers(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Entry))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Skipped))
