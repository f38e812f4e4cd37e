"""What is compared: the parts of a model and its blend, and the baselines they have to beat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from models import FloatArray
from models.config import Config
from models.content.tfidf import textbook_weights
from models.evaluation.baselines import BASELINES, Known, Scorer
from models.evaluation.tasks import Task
from models.interactions import user_item_matrix
from models.ranking.blend import PARTS, Evidence, blend
from models.ranking.model import Model
from models.training import STAGE_OF_PART, Progress, train

Clock = Callable[[], float]
Kind: TypeAlias = Literal["baseline", "part", "blend"]
BLEND = "blend"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Something that scores papers.

    ``score`` gives (m,) float32 for a person; of equal scores the paper with more of ``tie_break``
    (m,) comes first. ``fit_s``: seconds that fitting it took, None if that can't be told.
    """

    name: str
    kind: Kind
    score: Callable[[Evidence], FloatArray]
    tie_break: FloatArray
    fit_s: float | None = None


def trained(
    task: Task,
    config: Config,
    *,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
) -> tuple[Model, list[Contestant]]:
    """The model of the task, and its parts and its blend, with the times that fitting took."""
    watch = _Watch(clock, progress)
    model = train(task.training, config, seed=seed, progress=watch)
    times = {name: watch.spent.get(STAGE_OF_PART.get(name, "")) for name in PARTS}
    return model, of_model(model, {**times, BLEND: sum(watch.spent.values())}, seed=seed)


class _Watch:
    """Hears which stage begins, and adds up how long each lasts."""

    def __init__(self, clock: Clock, progress: Progress | None) -> None:
        self.spent: dict[str, float] = {}
        self._clock, self._progress = clock, progress
        self._stage, self._since = "", 0.0

    def __call__(self, stage: str, done: float) -> None:
        now = self._clock()
        if self._stage:
            self.spent[self._stage] = self.spent.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now
        if self._progress is not None:
            self._progress(stage, done)


def of_model(
    model: Model, fit_s: Mapping[str, float | None] | None = None, *, seed: int = 0
) -> list[Contestant]:
    """The parts of a model, each as if it ranked alone, and then the blend that people are served.

    ``fit_s`` by name, as far as it is known.
    """
    times = fit_s or {}
    chance = _chance(model, seed)
    parts = [
        Contestant(
            name=name,
            kind="part",
            score=partial(_score_part, model, name),
            tie_break=chance,
            fit_s=times.get(name),
        )
        for name in PARTS
    ]
    whole = Contestant(
        name=BLEND,
        kind="blend",
        score=lambda evidence: blend(model, evidence).scores,
        tie_break=model.recency + model.centrality,
        fit_s=times.get(BLEND),
    )
    return [*parts, whole]


def _score_part(model: Model, name: str, evidence: Evidence) -> FloatArray:
    return PARTS[name].score(model, evidence).raw


def baselines(
    task: Task,
    model: Model,
    *,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
    table: Mapping[str, Callable[[Known], Scorer]] = BASELINES,
) -> list[Contestant]:
    """What the model has to beat, fitted on the same data; words are those the model counted."""
    data = task.training
    known = Known(
        user_items=user_item_matrix(data.user_ids, data.history, model.items),
        term_weights=textbook_weights(model.content),
        config=model.config,
        seed=seed,
    )
    chance = _chance(model, seed)
    contestants = []
    for place, (name, fit) in enumerate(table.items()):
        if progress is not None:
            progress(f"fitting {name}", place / len(table))
        start = clock()
        scorer = fit(known)
        fitted = Contestant(
            name=name,
            kind="baseline",
            score=partial(_score_baseline, scorer),
            tie_break=chance,
            fit_s=clock() - start,
        )
        contestants.append(fitted)
    return contestants


def _score_baseline(scorer: Scorer, evidence: Evidence) -> FloatArray:
    """Baselines know likes only."""
    return scorer(evidence.rows[evidence.confidence > 0])


def _chance(model: Model, seed: int) -> FloatArray:
    """An order of all papers that knows nothing, for those that a contestant can't tell apart.

    The order of the files may know something; the blend has an order of its own.
    """
    return np.random.default_rng(seed).random(len(model.items), np.float32)
