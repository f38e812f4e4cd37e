"""Experiments: which two generations are compared, since when, and what came of it.

The row says what is compared and why; ``ARMS`` in the models folder says by which generations, so
that a service without an experiment asks the database nothing. Both must name the same experiment
for slates to be interleaved. The row is written first and the folder follows it: what is cut off
half-way leaves a service that answers with the live model, and the next training makes good what
the folder lacks (:func:`settle`). A training swaps generations while it holds the rows
(:func:`held_plan`), so that it can never undo a stop.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from models.artifacts.manifest import BrokenGeneration
from models.artifacts.registry import Arms, Registry
from models.config import OF_OTHERS
from service.errors import Conflict, InvalidInput, NotFound
from service.recommend.evaluation_records import people
from service.recommend.recipes import Settings, config_with, settings_of
from service.tables import Arm, Decision, Experiment

ALPHA, MARGIN = 0.05, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewExperiment:
    """``control`` and ``challenger`` are generations that are there."""

    name: str
    control: str
    challenger: str
    is_pinned: bool
    """Keep comparing these two; else each training makes both arms anew."""
    alpha: float = ALPHA
    """How likely a difference may be found where there is none."""
    margin: float = MARGIN
    """A preference that is nearer to even than this is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the next training makes: the live generation, and the challenger to it, if any."""

    settings: Settings
    experiment: UUID | None = None
    challenger: Settings | None = None


def start_experiment(
    session: Session, registry: Registry, new: NewExperiment, *, now: datetime
) -> Experiment:
    """The row of an experiment; it begins with ``put_arms`` after the commit.

    Raises Conflict while another one runs or where the name is taken, InvalidInput for generations
    that are not there or the same, and for a level or a margin that cannot be. Of the generations
    only the manifests are read: ``require_whole`` is for before the database is locked.
    """
    require_none_running(session, new.name)
    check_new(new)
    if new.control == new.challenger:
        raise InvalidInput("Control and challenger are the same generation.", field="challenger")
    row = Experiment(
        public_id=uuid4(),
        name=new.name,
        is_running=True,
        started_at=now,
        control_generation=new.control,
        challenger_generation=new.challenger,
        control_settings=_settings(registry, new.control),
        challenger_settings=_settings(registry, new.challenger),
        is_pinned=new.is_pinned,
        alpha=new.alpha,
        margin=new.margin,
    )
    session.add(row)
    session.flush()
    return row


def check_new(new: NewExperiment) -> None:
    """What can be said before its generations are there; raises InvalidInput."""
    if not new.name.strip():
        raise InvalidInput("An experiment needs a name.", field="name")
    if not 0 < new.alpha < 1:
        raise InvalidInput("alpha lies between 0 and 1.", field="alpha")
    if not 0 < new.margin < 0.5:
        raise InvalidInput("margin lies between 0 and 0.5.", field="margin")


def require_whole(registry: Registry, *generations: str) -> None:
    """Raises InvalidInput unless every file of each is as published; reads all of them."""
    for generation in generations:
        try:
            registry.open(generation)
        except BrokenGeneration as error:
            raise _broken(generation, error) from error


def put_arms(registry: Registry, experiment: Experiment) -> None:
    """Let the service interleave from its next slate on; call it after the commit of the start.

    A control that trainings make anew is the live generation, too, from the first day on: one may
    have been published between its making and this.
    """
    if not experiment.is_pinned:
        registry.point_to(experiment.control_generation)
    registry.point_arms_to(
        Arms(
            experiment=str(experiment.public_id),
            control=experiment.control_generation,
            challenger=experiment.challenger_generation,
        )
    )


def stop_experiment(
    session: Session,
    registry: Registry,
    decision: Decision,
    *,
    adopt: bool,
    now: datetime,
    judged: UUID | None = None,
) -> Experiment:
    """The row of the experiment with its end; call :func:`settle` after the commit, which has
    slates come from the live model alone.

    With ``adopt`` the winner becomes the live generation, and later trainings take its settings.
    Raises NotFound if none is running, Conflict for ``adopt`` without a winner or when the winner
    is damaged, and if the one that runs is not the ``judged`` one, of which the decision is.
    """
    row = running_experiment(session)
    if row is None:
        raise NotFound("No experiment is running.")
    if judged is not None and row.public_id != judged:
        raise Conflict("Another experiment has begun meanwhile; look at its status first.")
    if adopt:
        _adopt(registry, row, decision)
    row.is_running, row.stopped_at, row.decision = None, now, decision
    session.flush()
    return row


def settle(session: Session, registry: Registry) -> None:
    """Let the models folder follow the rows, in a session that writes: an experiment that has been
    stopped has no arms, and its winner, if it was adopted, is the live generation.

    Doing it again changes nothing. Call it after the commit of a stop; a training does, too.
    """
    _hold(session)
    arms = registry.arms()
    row = None if arms is None else _named(session, arms)
    if arms is None or (row is not None and row.is_running):
        return
    if row is not None and row.adopted is not None:
        # One that was damaged in between leaves the live one; the next training has its settings.
        with contextlib.suppress(BrokenGeneration):
            registry.make_current(_by_arm(arms)[row.adopted])
    registry.drop_arms()


def forget_adopted(session: Session) -> bool:
    """Let later trainings take the defaults again; tells whether that is a change.

    Raises Conflict while an experiment runs: its control would become another one.
    """
    require_none_running(session)
    changed = session.scalars(
        update(Experiment)
        .where(Experiment.adopted.is_not(None))
        .values(adopted=None)
        .returning(Experiment.id)
    ).all()
    return bool(changed)


def require_none_running(session: Session, name: str | None = None) -> None:
    """Raises Conflict while one runs, or if there was one of this name."""
    if running_experiment(session) is not None:
        raise Conflict("An experiment is running; end it with `papershelf experiment stop`.")
    if name is not None and find_experiment(session, name) is not None:
        raise Conflict(f"There was an experiment {name!r} already; take another name.")


def require_other_settings(session: Session, settings: Settings) -> None:
    """Raises InvalidInput where a challenger with these would be trained as the control is."""
    adopted = adopted_settings(session)
    if config_with({**adopted, **settings}) == config_with(adopted):
        raise InvalidInput(
            "The recommender is trained with these settings already; name a value that differs.",
            field="settings",
        )


def running_experiment(session: Session) -> Experiment | None:
    return session.scalar(select(Experiment).where(Experiment.is_running.is_(True)))


def experiments(session: Session) -> Sequence[Experiment]:
    """All there were, newest first."""
    return session.scalars(
        select(Experiment).order_by(Experiment.started_at.desc(), Experiment.id.desc())
    ).all()


def find_experiment(session: Session, name: str | None) -> Experiment | None:
    """The one of this name; without a name the one that runs, or else the last one."""
    if name is None:
        return running_experiment(session) or next(iter(experiments(session)), None)
    return session.scalar(select(Experiment).where(Experiment.name == name))


def training_plan(session: Session) -> Plan:
    """With which settings the next training trains, and whom beside the live generation."""
    settings = adopted_settings(session)
    row = running_experiment(session)
    if row is None or row.is_pinned:
        return Plan(settings=settings)
    return Plan(settings=settings, experiment=row.public_id, challenger=row.challenger_settings)


def held_plan(session: Session) -> Plan:
    """The plan as it stays until this session ends, which must be one that writes."""
    _hold(session)
    return training_plan(session)


def adopted_settings(session: Session) -> Settings:
    """The settings of the arm that was adopted last; empty for the defaults."""
    row = session.scalar(
        select(Experiment)
        .where(Experiment.adopted.is_not(None))
        .order_by(Experiment.stopped_at.desc(), Experiment.id.desc())
        .limit(1)
    )
    if row is None:
        return {}
    return dict(row.challenger_settings if row.adopted is Arm.CHALLENGER else row.control_settings)


def why_not_interleaved(registry: Registry, experiment: Experiment) -> str | None:
    """What keeps a running experiment from its slates, or None; reads both generations whole."""
    arms = registry.arms()
    if arms is None or arms.experiment != str(experiment.public_id):
        remedy = "stop it and start another" if experiment.is_pinned else "run `papershelf train`"
        return f"The models folder does not name its arms; {remedy}."
    for arm, generation in _by_arm(arms).items():
        try:
            registry.open(generation)
        except BrokenGeneration as error:
            return f"The {arm.value}, generation {generation}, is missing or damaged ({error})."
    return None


def why_alike(registry: Registry, experiment: Experiment) -> str | None:
    """What keeps the arms of a running experiment from answering differently, or None.

    Of two that are trained of the same data, as pinned ones need not be; reads the control whole.
    """
    arms = registry.arms()
    if experiment.is_pinned or arms is None or arms.experiment != str(experiment.public_id):
        return None
    try:
        control, _ = registry.open(arms.control)
        challenger = registry.config_of(arms.challenger)
    except BrokenGeneration:
        return None
    n_items, n_people = len(control.items), control.n_people
    those = control.config.differing(challenger, n_items=n_items, n_people=n_people)
    if not those:
        return (
            f"With {n_items:,} papers and {people(n_people)} these settings make the same model "
            "in both arms: there is no difference to be found."
        )
    if n_people <= 1 and those <= OF_OTHERS:
        return (
            f"{', '.join(sorted(those))}: this is about what others read, which has no weight "
            f"with {people(n_people)}. Both arms will answer alike, or nearly so."
        )
    return None


def _hold(session: Session) -> None:
    """Let no experiment begin or end until the session does; SQLite has one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE experiment IN SHARE ROW EXCLUSIVE MODE"))


def _named(session: Session, arms: Arms) -> Experiment | None:
    """The experiment that the arms are of."""
    return next(
        (row for row in experiments(session) if str(row.public_id) == arms.experiment), None
    )


def _by_arm(arms: Arms) -> Mapping[Arm, str]:
    return {Arm.CONTROL: arms.control, Arm.CHALLENGER: arms.challenger}


def _settings(registry: Registry, generation: str) -> dict[str, int | float]:
    try:
        return dict(settings_of(registry.config_of(generation)))
    except BrokenGeneration as error:
        raise _broken(generation, error) from error


def _broken(generation: str, error: BrokenGeneration) -> InvalidInput:
    return InvalidInput(
        f"Generation {generation} is missing or damaged ({error}).", field="challenger"
    )


def _adopt(registry: Registry, row: Experiment, decision: Decision) -> None:
    if decision not in {Decision.CONTROL, Decision.CHALLENGER}:
        raise Conflict("Neither arm has won; without --adopt the experiment just ends.")
    arm = Arm(decision.value)
    arms = registry.arms()
    if arms is None or arms.experiment != str(row.public_id):
        raise Conflict("The models folder does not name the arms; stop without --adopt.")
    try:
        registry.open(_by_arm(arms)[arm])
    except BrokenGeneration as error:
        raise Conflict(f"The winner cannot be adopted: {error}.") from error
    row.adopted = arm
