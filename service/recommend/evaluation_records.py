"""What crosses the door of an evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

Source: TypeAlias = Literal["installation", "files"]
Split: TypeAlias = Literal["holdout", "time", "random"]


def people(n: int) -> str:
    """So many people, in words."""
    return f"{n:,} {'person' if n == 1 else 'people'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationFiles:
    """Data of one's own; docs/operations.md says what each file holds.

    Without ``holdout`` a part of the interactions is hidden. ``has_ratings``: values are stars.
    """

    interactions: Path
    documents: Path | None = None
    holdout: Path | None = None
    fold_in: Path | None = None
    candidates: Path | None = None
    has_ratings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over people with its 95 % bootstrap interval; None where there is no number."""

    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How well one baseline, one part or the blend did at k; None where it can't be told.

    ``coverage`` is a share of the papers that may be ranked, ``diversity`` 1 minus the mean cosine
    within a list, ``novelty`` in bits. ``fit_s`` seconds to fit it, ``ms_per_person`` milliseconds
    to score and rank for one person.
    """

    name: str
    kind: Literal["baseline", "part", "blend"]
    recall: Estimate
    ndcg: Estimate
    coverage: float | None
    diversity: float | None
    novelty: float | None
    fit_s: float | None
    ms_per_person: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What went in. ``people`` and ``interactions`` are those trained on, ``papers`` all of them,
    ``papers_with_text`` those with words; ``rows_to_find`` is summed over the judged people."""

    source: Source
    split: Split
    people: int
    papers: int
    papers_with_text: int
    interactions: int
    candidates: int | None
    folded_in_people: int
    judged_people: int
    rows_to_find: int
    skipped_unknown_people: int
    skipped_people_with_nothing_to_find: int
    rows_known_already: int
    k: int
    seed: int
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Papers of like scores: the share predicted to be saved, and the share that was."""

    predicted: float
    observed: float
    papers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """From low scores to high; ``error`` is the mean distance of the two shares."""

    bins: tuple[CalibrationBin, ...]
    error: float
    fitted_on_people: int
    judged_on_people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """All of it; ``notes`` are sentences on how the data was taken, ``plot`` is an SVG document."""

    inputs: Inputs
    results: tuple[Figures, ...]
    calibration: CalibrationReport | None
    notes: tuple[str, ...]
    plot: str
