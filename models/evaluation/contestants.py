"""What is compared: the parts of a model and its blend, and the baselines they have to beat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from models import FloatArray
from models.config import Config
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
    """Something that scores papers: ``kind`` of it, and what fitting it took, None if unknown."""

    name: str
    kind: Kind
    fit_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Contestants that are scored in one pass.

    ``score`` gives (m,) float32 for each by name; of equal scores the paper with more of
    ``tie_break`` (m,) comes first. ``timed`` names the one that the time of the pass belongs to.
    """

    contestants: tuple[Contestant, ...]
    score: Callable[[Evidence], Mapping[str, FloatArray]]
    tie_break: Mapping[str, FloatArray]
    timed: str


def trained(
    task: Task,
    config: Config,
    *,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
) -> tuple[Model, Entry]:
    """The model of the task, and the entry of its parts and its blend, with measured times."""
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
) -> Entry:
    """The parts of a model, each as if it ranked alone, and the blend, by one call of ``blend``."""
    times = fit_s or {}
    chance = _chance(model, seed)

    def score(evidence: Evidence) -> Mapping[str, FloatArray]:
        blended = blend(model, evidence)
        return {**{name: blended.raw[name] for name in PARTS}, BLEND: blended.scores}

    parts = [Contestant(name=name, kind="part", fit_s=times.get(name)) for name in PARTS]
    whole = Contestant(name=BLEND, kind="blend", fit_s=times.get(BLEND))
    return Entry(
        contestants=(*parts, whole),
        score=score,
        tie_break={**dict.fromkeys(PARTS, chance), BLEND: model.recency + model.centrality},
        timed=BLEND,
    )


def baselines(
    task: Task,
    model: Model,
    *,
    seed: int,
    clock: Clock,
    progress: Progress | None = None,
) -> list[Entry]:
    """What the model has to beat, fitted on the same data; words are those the model counted."""
    data = task.training
    known = Known(
        user_items=user_item_matrix(data.user_ids, data.history, model.items),
        term_weights=model.content.weights,
        config=model.config,
        seed=seed,
    )
    chance = _chance(model, seed)
    entries = []
    for place, (name, fit) in enumerate(BASELINES.items()):
        if progress is not None:
            progress(f"fitting {name}", place / len(BASELINES))
        start = clock()
        scorer = fit(known)
        entries.append(_of_baseline(name, scorer, clock() - start, chance))
    return entries


def _of_baseline(name: str, scorer: Scorer, fit_s: float, chance: FloatArray) -> Entry:
    def score(evidence: Evidence) -> Mapping[str, FloatArray]:
        return {name: scorer(evidence.rows[evidence.confidence > 0])}

    return Entry(
        contestants=(Contestant(name=name, kind="baseline", fit_s=fit_s),),
        score=score,
        tie_break={name: chance},
        timed=name,
    )


def _chance(model: Model, seed: int) -> FloatArray:
    """An order of all papers that knows nothing, for those that a contestant can't tell apart.

    The order of the files may know something; the blend has an order of its own.
    """
    return np.random.default_rng(seed).random(len(model.items), np.float32)
