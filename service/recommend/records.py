"""What crosses the door of the recommendations."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.tables import Paper


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to have recommended."""

    limit: int = 10
    diversity: float | None = None
    """0 for the best scores whatever they are about, up to 1; None for the default."""
    tag: str | None = None
    """From the papers with this tag only, instead of the whole library."""
    seeds: tuple[UUID, ...] = ()
    """From these papers only, instead of the library."""
    interest: UUID | None = None
    """From the papers of this interest only, muted or not."""
    venue: str | None = None
    year_from: int | None = None
    list_name: str | None = None
    """Only papers of the listing with this heading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A paper of the person's own, and how much of the score it brought."""

    paper: Paper
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestName:
    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestSummary:
    """An interest as it is shown."""

    id: UUID
    name: str
    derived_name: str
    terms: tuple[str, ...]
    n_papers: int
    share: float
    """Of a slate, 0 to 1; 0 if it is muted or merged into another."""
    weight: float
    muted: bool
    merged: tuple[InterestName, ...]
    """What is merged into it, as far as it has papers."""
    merged_into: UUID | None
    papers: tuple[Paper, ...]
    """The most typical."""
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedPaper:
    paper: Paper
    rank: int
    score: float
    parts: Mapping[str, float]
    """What each part of the model brought; they add up to the score."""
    because: tuple[Reason, ...]
    """The largest positive shares of the score, at most three."""
    others: float
    """What all other papers of the person's brought, for it or against: the rest of the score."""
    propensity: float
    interest: InterestName | None = None
    """The interest of the person that it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """How old is what stands behind a list, and whether that is too old."""

    generation: str | None
    trained_at: datetime | None
    catalogue_as_of: datetime
    stale: bool
    stale_because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendations:
    slate_id: UUID
    strategy: str
    """``personal``, or ``cold_start``: recent and central papers, as nothing is known yet."""
    explanation: str
    """The strategy in a sentence for people."""
    items: tuple[RecommendedPaper, ...]
    model: ModelFacts
    library_version: int
    catalogue_version: int
