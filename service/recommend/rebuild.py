"""Trains a generation and publishes it, or keeps the last and says why."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from models.artifacts.registry import Arms, Registry, UnfitModel
from models.training import TrainingSet, UnfitData, train
from service.db import Sessions
from service.errors import ModelRefused
from service.recommend.dataset import HighWater, first_change, training_set
from service.recommend.experiments import Plan, held_plan, settle, training_plan
from service.recommend.recipes import Settings, config_with

Progress = Callable[[str, float], None]

KEPT_GENERATIONS = 3
LIBRARY_CHANGES = 10
"""Saves, ratings and dismissals that make a retraining worth while on a small installation..."""
LIBRARY_SHARE = 0.02
"""...and as a share of all changes on a large one: each answers at once by fold-in anyway."""
NEW_WORKS = 10
NEW_WORKS_SHARE = 0.002
"""A hundred thousand papers train in minutes, and a good day brings them two hundred more."""
DUE_AFTER = timedelta(days=1)
"""With anything new at all a training is due by then; with much that is new, sooner."""
LATE_AFTER = timedelta(hours=2)
"""A training takes minutes, and a failed one is tried five times within one hour."""
STALE_AFTER = DUE_AFTER + LATE_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    generation: str
    n_people: int
    n_works: int
    n_interactions: int
    seconds: float
    challenger: str | None = None
    """The generation of the other arm, where an experiment runs or is to begin."""


def rebuild(
    sessions: Sessions,
    registry: Registry,
    *,
    now: datetime,
    clock: Callable[[], float],
    progress: Progress | None = None,
    challenger: Settings | None = None,
) -> Rebuilt:
    """Read everything, train, check, publish. Writes to the models folder, never to the database.

    While an experiment runs both of its arms are made of the same data; ``challenger`` makes the
    other arm of one that is to begin. If other settings are adopted meanwhile, it begins again with
    those. Raises ModelRefused when a new generation is not fit to serve: what it was to replace
    stays, the live one or the arms.
    """
    training = _Training(
        sessions=sessions,
        registry=registry,
        now=now,
        clock=clock,
        progress=progress or _silent,
    )
    try:
        while (made := training.run(challenger)) is None:
            pass  # each time is owed to somebody who changed the settings
    finally:
        registry.prune(keep=KEPT_GENERATIONS)
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class _Training:
    """A training, and what it needs."""

    sessions: Sessions
    registry: Registry
    now: datetime
    clock: Callable[[], float]
    progress: Progress

    def run(self, challenger: Settings | None) -> Rebuilt | None:
        """Train both arms, or one; None if the settings are no longer those that were wanted."""
        started = self.clock()
        with self.sessions.reading() as session, _refused():
            data, mark = training_set(session, now=self.now)
            plan = training_plan(session)
        wanted = plan.challenger if challenger is None else {**plan.settings, **challenger}
        facts: dict[str, Any] = {
            "trained_at": self.now.isoformat(),
            "catalogue_version": mark.catalogue_version,
            "library_changes": mark.library_changes,
            "n_works": mark.n_works,
            "n_people": len(set(data.user_ids.tolist())),
            "n_interactions": len(data.user_ids),
        }
        part = self.progress if wanted is None else _part_of(self.progress, 0.0)
        control = self._publish(data, plan.settings, facts, part)
        if not self._make_current(control, plan):
            return None
        other = None
        if wanted is not None:
            half = _part_of(self.progress, 0.5)
            other = self._publish(data, wanted, facts, half, aside=True)
            with self.sessions.writing() as session:
                held = held_plan(session)
                if held.settings != plan.settings:
                    return None
                if plan.experiment is not None:
                    other = self._put_arms(plan, held, control, other)
        return Rebuilt(
            generation=control,
            n_people=facts["n_people"],
            n_works=len(data.item_ids),
            n_interactions=len(data.user_ids),
            seconds=self.clock() - started,
            challenger=other,
        )

    def _publish(
        self,
        data: TrainingSet,
        settings: Settings,
        facts: dict[str, Any],
        progress: Progress,
        *,
        aside: bool = False,
    ) -> str:
        started = self.clock()
        with _refused():
            model = train(data, config_with(settings), progress=progress)
            facts = {**facts, "fit_seconds": round(self.clock() - started, 3)}
            return self.registry.publish(model, facts=facts, aside=aside, swap=False)

    def _make_current(self, generation: str, plan: Plan) -> bool:
        """Let the generation answer, unless other settings have been adopted since, or an
        experiment has begun: its control answers until both arms are made anew."""
        with self.sessions.writing() as session:
            held = held_plan(session)
            settle(session, self.registry)
            if held.settings != plan.settings or held.experiment not in (None, plan.experiment):
                return False
            self.registry.point_to(generation)
            return True

    def _put_arms(self, plan: Plan, held: Plan, control: str, challenger: str) -> str | None:
        """Compare the two from now on, unless the experiment has ended since; the challenger."""
        if held.experiment != plan.experiment:
            return None
        name = str(plan.experiment)
        self.registry.point_arms_to(Arms(experiment=name, control=control, challenger=challenger))
        return challenger


def _part_of(progress: Progress, begin: float) -> Progress:
    """The half of the work that begins at this share of it."""
    return lambda stage, share: progress(stage, begin + share / 2)


def _silent(_stage: str, _share: float) -> None:
    return None


@contextmanager
def _refused() -> Iterator[None]:
    """What must not be learned from, and what must not be served, is refused in the same words."""
    try:
        yield
    except (UnfitData, UnfitModel) as error:
        raise ModelRefused(f"The new model is not fit to serve: {error}.") from error


def why_rebuild(facts: dict[str, Any] | None, mark: HighWater, *, now: datetime) -> str | None:
    """What makes a retraining worth while, or None while the last one is good enough."""
    if facts is None:
        return "there is no model yet"
    changes = mark.library_changes - int(facts.get("library_changes", 0))
    works = mark.n_works - int(facts.get("n_works", 0))
    if works >= max(NEW_WORKS, math.ceil(NEW_WORKS_SHARE * mark.n_works)):
        return f"{works} new papers"
    if changes >= max(LIBRARY_CHANGES, math.ceil(LIBRARY_SHARE * mark.library_changes)):
        return f"{changes} changes of people's libraries"
    trained_at = _trained_at(facts)
    age = now - trained_at if trained_at else STALE_AFTER
    is_other = mark.catalogue_version != int(facts.get("catalogue_version", 0))
    if (changes or is_other) and age > DUE_AFTER:
        return "a day has passed"
    return None


def why_stale(facts: dict[str, Any] | None, mark: HighWater, *, now: datetime) -> str | None:
    """What a reader of a list should know of the model's age, or None if it is as it should be."""
    trained_at = _trained_at(facts)
    if facts is None or trained_at is None:
        return "No model has been trained yet; papers are compared by their texts alone."
    age = now - trained_at
    changes = mark.library_changes - int(facts.get("library_changes", 0))
    works = mark.n_works - int(facts.get("n_works", 0))
    if age > STALE_AFTER and (changes or works):
        return (
            f"The last training is {age.days} days old; {works} papers and {changes} changes "
            "of people's libraries came since."
        )
    return None


def why_late(session: Session, facts: dict[str, Any] | None, *, now: datetime) -> str | None:
    """What an operator should know: a training has been due for two hours and did not come.

    It is due a day after the last one, or with the first thing that happens later than that: an
    installation at rest is not late, nor is one that wakes up, nor one that nobody uses.
    """
    trained_at = _trained_at(facts)
    if trained_at is not None and now - trained_at <= STALE_AFTER:
        return None
    changed_at = first_change(session, after=trained_at)
    if changed_at is None:
        return None
    due_at = max(changed_at, trained_at + DUE_AFTER) if trained_at else changed_at
    if now - due_at <= LATE_AFTER:
        return None
    last = f"the last was on {trained_at:%Y-%m-%d}" if trained_at else "there was none yet"
    return f"A training has been due since {due_at:%Y-%m-%d %H:%M} UTC; {last}."


def _trained_at(facts: dict[str, Any] | None) -> datetime | None:
    at = (facts or {}).get("trained_at")
    return datetime.fromisoformat(at) if at else None
