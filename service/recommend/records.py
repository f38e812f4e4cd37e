"""What crosses the door of the recommendations."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from service.tables import Arm, Paper


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to have recommended."""

    limit: int = 10
    diversity: float | None = None
    """0 for the best scores whatever they are about, up to 1; None for the default."""
    tag: str | None = None
    """From the papers with this tag only, instead of the whole library."""
    collection: str | None = None
    """From the papers in this collection and those inside it only; names joined by "/"."""
    seeds: tuple[UUID, ...] = ()
    """From these papers only, instead of the library."""
    interest: UUID | None = None
    """From the papers of this interest only, muted or not."""
    exclude_tags: tuple[str, ...] = ()
    """Go by the library without the papers that have one of these tags."""
    venues: tuple[str, ...] = ()
    """Only papers of one of these, capitals aside."""
    year_from: int | None = None
    year_to: int | None = None
    published_after: date | None = None
    """To the year, as no more is known of a paper: see ``restrictions.earliest_year``."""
    list_name: str | None = None
    """Only papers of the listing with this heading."""
    exclude: tuple[UUID, ...] = ()
    """Papers not to be shown this time; says nothing of taste."""
    freshness: float = 0.0
    """0 to 1: how much recent papers gain."""
    exploration: float = 0.0
    """0 to 0.5: the share of the slate that is drawn from below it."""
    explain: bool = True
    """Whether to say which of the person's papers brought the scores."""


class Deed(enum.StrEnum):
    """What a person did with a paper of their own."""

    NAMED = "named"
    """As a seed of this very request."""
    RATED = "rated"
    FINISHED = "finished"
    SAVED = "saved"
    MORE_LIKE_THIS = "more_like_this"
    DISMISSED = "dismissed"
    """As not their topic."""
    LOW_QUALITY = "low_quality"
    OPENED = "opened"


class Standing(enum.StrEnum):
    """Whether a paper can be recommended to somebody, and if not, why."""

    CANDIDATE = "candidate"
    IN_LIBRARY = "in_library"
    DISMISSED = "dismissed"
    """As not their topic."""
    LOW_QUALITY = "low_quality"
    MORE_LIKE_THIS = "more_like_this"
    SEEN = "seen"
    MUTED = "muted"
    """It belongs to an interest that is muted."""
    LATER = "later"
    """Put aside, and its time is not over."""
    RATED = "rated"
    OPENED = "opened"
    """A short time ago, and nothing else was done with it."""
    SEED = "seed"
    NOT_ASKED_FOR = "not_asked_for"
    """It does not fit the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A paper of the person's own, how much of the score it brought, and what stands behind it."""

    paper: Paper
    amount: float
    deeds: tuple[Deed, ...]
    """What the person did with it, what says most first."""
    stars: int | None
    is_liked: bool
    terms: tuple[str, ...]
    """Words of both papers as they are written there, at most three."""
    readers: int | None
    """How many other people keep both papers; None for few, see ``readers``."""
    rank_without: int | None = None
    """Where the recommended paper would rank without this one; None if that was not tried."""
    text: str = ""
    """All of it in a sentence."""


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
    """What all other papers of the person's brought, for it or against: the rest of the score but
    for the parts ``prior`` and ``freshness``, which are nobody's papers'."""
    terms: tuple["WordOfScore", ...]
    """What its words brought, the largest first, at most five."""
    other_terms: float | None
    not_from_words: float | None
    """With ``terms`` these two add up to the score; None where it was not taken apart."""
    propensity: float | None
    """The chance that it had to be in this slate; None where that is not known, which is while an
    experiment and exploration both draw."""
    explored: bool
    """It is here because it was drawn, not by its score."""
    interest: InterestName | None = None
    """The interest of the person that it comes from."""
    arm: Arm | None = None
    """Who proposed it, where two generations share the list."""
    generation: str | None = None
    """The arm's generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a change did to the person's best 50 papers by score, before any re-ranking."""

    changed_of_top_50: int
    """How many are in it now that were not, or the other way round, whichever is more."""
    text: str
    """The same in a sentence; where there are fewer than 50 papers left, it says so."""
    entered: tuple[Paper, ...]
    """The best of those that are in it now and were not."""
    left: tuple[Paper, ...]
    """The best, as they ranked before, of those that are in it no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """How old is what stands behind a list, and whether that is too old."""

    generation: str | None
    trained_at: datetime | None
    catalogue_as_of: datetime
    stale: bool
    stale_because: str | None
    experiment: str | None = None
    """The experiment whose two generations share the list, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFacts:
    """How the trainings stand, for those who watch the service."""

    generation: str | None
    trained_at: datetime | None
    seconds: float | None
    """How long the last one took."""
    catalogue_lag: int
    """Changes of the catalogue that it did not know; the living model has their texts already."""
    late_because: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedPapers:
    items: tuple[tuple[Paper, float], ...]
    """With their scores, best first."""
    model: ModelFacts


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
    experiment_id: int | None = None
    interests_fit: bool = True
    """Whether the rows are those of the interests of today; if not, remember these and ask anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfScore:
    """``amount`` = ``raw`` (the score on the part's own scale) · ``gain`` (weight by scale)."""

    name: str
    raw: float
    gain: float
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WordOfScore:
    term: str
    """A word of the paper as it is written there."""
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperExplanation:
    """Why a paper has its score for one person.

    Three views, each of which sums to the score: ``parts``; ``papers``, ``other_papers`` and
    ``not_from_papers``; ``terms``, ``other_terms`` and ``not_from_words``.
    """

    paper: Paper
    strategy: str
    standing: Standing
    score: float
    rank: int | None
    """By score among the candidates, before any re-ranking; None for a paper that is none."""
    n_candidates: int
    parts: tuple[PartOfScore, ...]
    papers: tuple[Reason, ...]
    n_papers: int
    """How many of the person's papers speak, shown or not."""
    other_papers: float
    not_from_papers: float
    terms: tuple[WordOfScore, ...]
    other_terms: float
    not_from_words: float
    summary: str
    model: ModelFacts
