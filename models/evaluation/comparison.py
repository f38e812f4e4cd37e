"""The parts, the baselines and their blend, side by side on one task.

Scores are those that people are served by: each judged person is folded in, and ``blend`` ranks
every paper they do not know. People are scored one by one, so that memory stays that of the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import BoolArray, FloatArray, IntArray
from models.collaborative.joint_als import one_blas_thread
from models.config import Config
from models.evaluation.calibration import Calibration, calibrate
from models.evaluation.contestants import BLEND, Clock, Contestant, Kind, baselines, trained
from models.evaluation.metrics import (
    bootstrap_interval,
    coverage,
    intra_list_diversity,
    ndcg_at,
    novelty,
    recall_at,
)
from models.evaluation.tasks import Judged, Task
from models.interactions import unit_rows
from models.ranking.candidates import best, candidates
from models.ranking.model import Model
from models.ranking.scoring import evidence_of
from models.training import Progress

LONGEST_CURVE = 100
"""Recall is drawn up to here, and scores are calibrated on so many papers a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one contestant did; people in the order of the task.

    ``recall``, ``ndcg`` and ``diversity`` (n,) float32 at k, a person each; the last is NaN where
    fewer than two papers of a list have words. ``curve`` (l,) is the mean recall at 1 to l.
    ``coverage`` 0 to 1, of the papers that may be ranked; ``novelty`` in bits.
    ``ms_per_person`` is for scoring and ranking.
    """

    name: str
    kind: Kind
    fit_s: float | None
    ms_per_person: float
    recall: FloatArray
    ndcg: FloatArray
    diversity: FloatArray
    curve: FloatArray
    coverage: float
    novelty: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All outcomes at ``k``: baselines, parts, blend. ``calibration`` is the blend's, None
    without it or of too few people."""

    k: int
    n_people: int
    outcomes: tuple[Outcome, ...]
    calibration: Calibration | None

    def outcome(self, name: str) -> Outcome:
        """The one of this name; raises KeyError."""
        return {outcome.name: outcome for outcome in self.outcomes}[name]


def compare(
    task: Task,
    config: Config | None = None,
    *,
    k: int,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
) -> Comparison:
    """Train on the task, and judge every part, every baseline and the blend at ``k``.

    ``clock`` gives seconds; the same seed gives the same figures but for the times.
    """
    report = progress or (lambda _stage, _done: None)
    config = config or Config()
    model, parts_and_blend = trained(
        task, config, seed=seed, clock=clock, progress=lambda stage, done: report(stage, 0.4 * done)
    )
    rivals = baselines(
        task,
        model,
        seed=seed,
        clock=clock,
        progress=lambda stage, done: report(stage, 0.4 + done / 10),
    )
    return judge(
        task,
        model,
        [*rivals, *parts_and_blend],
        k=k,
        seed=seed,
        clock=clock,
        progress=lambda stage, done: report(stage, 0.5 + done / 2),
    )


def judge(
    task: Task,
    model: Model,
    contestants: Sequence[Contestant],
    *,
    k: int,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
) -> Comparison:
    """Rank for everybody of the task by every contestant; the blend, if it is there, is calibrated.

    Raises ValueError if there is nobody to judge.
    """
    if not task.people:
        raise ValueError("there is nobody to judge")
    judges = _Judges(task, model, contestants, k, clock)
    with one_blas_thread():  # as the service is run
        for one in contestants:  # what only the first call pays for is nobody's time
            one.score(evidence_of(model, task.people[0].known))
        for place, person in enumerate(task.people):
            judges.see(place, person)
            if progress is not None:
                progress("judging people", (place + 1) / len(task.people))
    return judges.comparison(np.random.default_rng(seed))


class _Tally:
    """What is kept of one contestant's lists, a row a person."""

    def __init__(self, contestant: Contestant, n_people: int, length: int) -> None:
        self.contestant = contestant
        self.hits = np.zeros((n_people, length), np.bool_)
        is_calibrated = contestant.name == BLEND
        self.scores = np.full((n_people, length if is_calibrated else 0), np.nan, np.float32)
        self.recall = np.zeros(n_people, np.float32)
        self.ndcg = np.zeros(n_people, np.float32)
        self.diversity = np.full(n_people, np.nan, np.float32)
        self.lists: list[IntArray] = []
        self.seconds = 0.0


class _Judges:
    """Everybody's lists by every contestant, summed up as they come."""

    def __init__(
        self, task: Task, model: Model, contestants: Sequence[Contestant], k: int, clock: Clock
    ) -> None:
        self.task, self.model, self.k, self.clock = task, model, k, clock
        self.n_candidates = len(candidates(model.items, task.allowed))
        self.length = min(max(k, LONGEST_CURVE), self.n_candidates)
        self.n_relevant = np.zeros(len(task.people), np.int64)
        self.units = unit_rows(model.content.weights)
        self.has_words: BoolArray = np.diff(self.units.indptr) > 0
        self.tallies = [_Tally(one, len(task.people), self.length) for one in contestants]

    def see(self, place: int, person: Judged) -> None:
        items = self.model.items
        rows = candidates(items, self.task.allowed, person.known.known_ids, person.excluded)
        relevant = items.positions(person.relevant)
        self.n_relevant[place] = len(relevant)
        evidence = evidence_of(self.model, person.known)
        for tally in self.tallies:
            one = tally.contestant
            start = self.clock()
            scores = one.score(evidence)
            ranked = best(scores, rows, self.length, one.tie_break)
            tally.seconds += self.clock() - start
            self._note(tally, place, ranked, scores[ranked], relevant)

    def _note(
        self, tally: _Tally, place: int, ranked: IntArray, scores: FloatArray, relevant: IntArray
    ) -> None:
        tally.hits[place, : len(ranked)] = np.isin(ranked, relevant)
        width = tally.scores[place].size
        tally.scores[place, : len(ranked)] = scores[:width]
        tally.recall[place] = recall_at(ranked, relevant, self.k)
        tally.ndcg[place] = ndcg_at(ranked, relevant, self.k)
        tally.diversity[place] = self._diversity(ranked[: self.k])
        tally.lists.append(ranked[: self.k])

    def _diversity(self, ranked: IntArray) -> float:
        vectors = self.units[ranked[self.has_words[ranked]]]
        return intra_list_diversity(sp.csr_matrix(vectors @ vectors.T).toarray())

    def comparison(self, rng: np.random.Generator) -> Comparison:
        calibrations = [
            calibrate(tally.scores, tally.hits, rng=rng)
            for tally in self.tallies
            if tally.contestant.name == BLEND
        ]
        return Comparison(
            k=self.k,
            n_people=len(self.task.people),
            outcomes=tuple(map(self._outcome, self.tallies)),
            calibration=calibrations[0] if calibrations else None,
        )

    def _outcome(self, tally: _Tally) -> Outcome:
        n = len(self.task.people)
        found = np.cumsum(tally.hits, axis=1) / self.n_relevant[:, None]
        one = tally.contestant
        return Outcome(
            name=one.name,
            kind=one.kind,
            fit_s=one.fit_s,
            ms_per_person=1000 * tally.seconds / n,
            recall=tally.recall,
            ndcg=tally.ndcg,
            diversity=tally.diversity,
            curve=found.mean(axis=0).astype(np.float32),
            coverage=coverage(tally.lists, self.n_candidates),
            novelty=novelty(tally.lists, self.model.people, self.model.n_people),
        )


def mean_and_interval(values: FloatArray, *, seed: int) -> tuple[float, float, float]:
    """The mean of per-person values (n,), NaN left out, and its 95 % bootstrap interval.

    All NaN if no value is known; the interval is NaN for one person, who is no sample.
    """
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return (float(known.mean()) if len(known) else np.nan, np.nan, np.nan)
    low, high = bootstrap_interval(known, rng=np.random.default_rng(seed))
    return float(known.mean()), low, high
