"""Comparing two generations of the recommender by what people choose."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click
import orjson
from rich.table import Table

from service.cli.terminal import console, opened_runtime, progress_bar
from service.errors import InvalidInput, NotFound
from service.runtime import Runtime

if TYPE_CHECKING:
    from service.recommend.experiments import NewExperiment
    from service.recommend.recipes import Settings
    from service.recommend.use_report import ExperimentReport, PlaceUse, Preference
    from service.tables import Experiment

USUAL_DAYS = 30
MOST_POSITIONS = 20
"""That are shown; programs get all."""


@click.group()
def experiment() -> None:
    """Compare two generations of the recommender by what people choose."""


@experiment.command()
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Challenge the recommender by one trained with this; may be given several times.",
)
@click.option("--challenger", metavar="GENERATION", help="Challenge by a generation that is there.")
@click.option("--control", metavar="GENERATION", help="Against this one; the current if not given.")
@click.option("--name", help="What to call it; made of the arms and the time if not given.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance of an error.")
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    help="A preference that is nearer to even (0.5) than this is none.",
)
def start(
    settings: tuple[str, ...],
    challenger: str | None,
    control: str | None,
    name: str | None,
    alpha: float,
    margin: float,
) -> None:
    """Start an experiment: from now on two generations share each slate.

    With --set, each training makes both anew; with --challenger, two generations that are there
    stay as they are.
    """
    from service.recommend.experiments import (
        NewExperiment,
        check_new,
        put_arms,
        require_none_running,
        require_other_settings,
        require_whole,
        start_experiment,
        why_alike,
    )
    from service.recommend.recipes import parse_settings

    if bool(settings) == bool(challenger) or (control and not challenger):
        raise InvalidInput("Name a challenger by --set or by --challenger, the control with it.")
    wanted = parse_settings(settings)
    now = datetime.now(UTC)
    with opened_runtime() as runtime:
        what = ", ".join(settings) or f"{challenger} against {control or 'the current'}"
        registry = runtime.live_model.registry
        new = NewExperiment(
            name=name if name is not None else f"{what} {now:%Y-%m-%d %H:%M:%S}",
            control=control or registry.current() or "",
            challenger=challenger or "",
            is_pinned=not settings,
            alpha=alpha,
            margin=margin,
        )
        # A training takes minutes: what can be refused is refused before.
        with runtime.reading() as session:
            require_none_running(session, new.name)
            if not new.is_pinned:
                require_other_settings(session, wanted)
        check_new(new)
        if new.is_pinned:
            require_whole(registry, new.control, new.challenger)
        else:
            new = _trained(runtime, new, wanted)
        with runtime.writing() as session:
            row = start_experiment(session, registry, new, now=datetime.now(UTC))
            session.commit()
        put_arms(registry, row)
        hint = why_alike(registry, row)
    console.print(
        f"Started {row.name}: {row.challenger_generation} challenges {row.control_generation}.\n"
        "Look at it with `papershelf experiment status`, as often as you like."
    )
    if hint:
        console.print(hint)


@experiment.command()
@click.option("--adopt", is_flag=True, help="Let the winner answer alone, and trainings follow it.")
def stop(adopt: bool) -> None:
    """Stop the running experiment; the recommender answers as before."""
    from service.recommend.experiments import running_experiment, settle, stop_experiment
    from service.recommend.use_report import experiment_report

    now = datetime.now(UTC)
    with opened_runtime() as runtime:
        registry = runtime.live_model.registry
        with runtime.writing() as session:
            settle(session, registry)  # a stop that was cut off may have left this to do
        with runtime.reading() as session:
            running = running_experiment(session)
            if running is None:
                raise NotFound("No experiment is running.")
            report = experiment_report(session, registry, running, now=now)
        with runtime.writing() as session:
            row = stop_experiment(
                session,
                registry,
                report.decision,
                adopt=adopt,
                now=now,
                judged=running.public_id,
            )
            session.commit()
        with runtime.writing() as session:
            settle(session, registry)
        console.print(f"Stopped {row.name}.")
        # As it is now: with its end, and with what was decided.
        _print_figures(replace(report, experiment=row))
        if row.adopted is not None:
            console.print(
                f"The {row.adopted} answers from now on, and trainings take its settings; "
                "`papershelf experiment revert` goes back to the defaults."
            )


@experiment.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--days", type=click.IntRange(1, 3650), default=USUAL_DAYS, show_default=True)
def status(name: str | None, as_json: bool, days: int) -> None:
    """Tell what came of an experiment, and how slates were used in the last days.

    Of the running experiment, or else the last one, if none is named. Sums only: nothing tells
    what one person did.
    """
    from service.recommend.experiments import find_experiment
    from service.recommend.use_report import experiment_report, use_of_slates

    now = datetime.now(UTC)
    with opened_runtime() as runtime, runtime.reading() as session:
        found = find_experiment(session, name)
        if found is None and name is not None:
            raise NotFound(f"There is no experiment {name!r}.")
        registry = runtime.live_model.registry
        report = experiment_report(session, registry, found, now=now) if found else None
        use = use_of_slates(session, since=now - timedelta(days=days))
    if as_json:
        shown = {"experiment": report and _as_json(report), "days": days, "use": _use_json(use)}
        click.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    if report is None:
        console.print("There was no experiment yet; `papershelf experiment start` begins one.")
    else:
        _print_report(report)
    _print_use(use, days)


@experiment.command("list")
def list_experiments() -> None:
    """List all experiments, newest first."""
    from service.recommend.experiments import experiments

    with opened_runtime() as runtime, runtime.reading() as session:
        rows = experiments(session)
    table = Table("name", "challenger", "started", "stopped", "decision", "adopted")
    for row in rows:
        table.add_row(
            row.name,
            _arm_in_words(row),
            f"{row.started_at:%Y-%m-%d}",
            f"{row.stopped_at:%Y-%m-%d}" if row.stopped_at else "runs",
            row.decision or "",
            row.adopted or "",
        )
    console.print(table if rows else "There was no experiment yet.")


@experiment.command()
def revert() -> None:
    """Let trainings take the default settings again, whatever was adopted."""
    from service.recommend.experiments import forget_adopted

    with opened_runtime() as runtime, runtime.writing() as session:
        is_changed = forget_adopted(session)
        session.commit()
    console.print(
        "Trainings take the defaults again; `papershelf train` does so now."
        if is_changed
        else "Nothing was adopted; trainings take the defaults."
    )


def _trained(runtime: Runtime, new: "NewExperiment", wanted: "Settings") -> "NewExperiment":
    """The same experiment between two generations that are made now, of the same data."""
    from service.recommend.rebuild import rebuild

    with progress_bar() as bar:
        task = bar.add_task("Training both arms", total=100)
        made = rebuild(
            runtime.sessions,
            runtime.live_model.registry,
            now=datetime.now(UTC),
            clock=time.monotonic,
            progress=lambda stage, share: bar.update(
                task, completed=round(100 * share), description=f"Training both arms: {stage}"
            ),
            challenger=wanted,
        )
    return replace(new, control=made.generation, challenger=made.challenger or "")


def _print_report(report: "ExperimentReport") -> None:
    row = report.experiment
    ended = f", stopped {row.stopped_at:%Y-%m-%d}" if row.stopped_at else ""
    console.print(f"{row.name}: started {row.started_at:%Y-%m-%d}{ended}")
    console.print(f"Challenger: {_arm_in_words(row)}; control: {row.control_generation}")
    if report.trouble:
        console.print(f"Slates come from the live model alone. {report.trouble}")
    if report.hint:
        console.print(report.hint)
    if report.places:
        _print_places("arm", report.places)
    _print_figures(report)


def _print_figures(report: "ExperimentReport") -> None:
    from service.recommend.evaluation_records import people

    shared = f"{report.n_slates:,} shared slate{'' if report.n_slates == 1 else 's'}"
    console.print(f"{shared} of {people(report.n_people)}.")
    if report.n_alike:
        slates = "1 slate" if report.n_alike == 1 else f"{report.n_alike:,} slates"
        console.print(
            f"Both answered the same in {slates}, or one had no answer of its own: nothing to "
            "compare there."
        )
    if report.n_slates:
        _print_preferences(report)
    console.print(report.in_words)


def _print_preferences(report: "ExperimentReport") -> None:
    table = Table("days of people", "won", "lost", "tied", "not over", "share", "interval", "e")
    for what, preference in (("by saves", report.saves), ("by opens", report.opens)):
        table.add_row(what, *_in_cells(preference))
    console.print(table)


def _in_cells(one: "Preference") -> list[str]:
    counts = (one.wins, one.losses, one.ties, one.days_not_over)
    share = "" if one.estimate is None else f"{one.estimate:.0%}"
    return [*map(str, counts), share, f"{one.low:.0%} to {one.high:.0%}", f"{one.e_value:.3g}"]


def _print_use(use: Sequence["PlaceUse"], days: int) -> None:
    if not use:
        console.print(f"No slate of a single generation was shown in the last {days} days.")
        return
    console.print(f"Slates of a single generation in the last {days} days:")
    _print_places("generation", use)
    if explored := sum(place.explored for place in use):
        console.print(
            f"{explored} impressions were explored: divide by their `propensity` in the table "
            "`impression` before you compare them with others."
        )


def _print_places(of: str, places: Sequence["PlaceUse"]) -> None:
    from service.recommend.use_report import summed

    for title, by_position in ((of, False), ("position", True)):
        table = Table(title, "impressions", "opens", "saves", "opened", "saved")
        rows = summed(places, by_position=by_position)
        for row in rows[:MOST_POSITIONS] if by_position else rows:
            counts = (row.impressions, row.opens, row.saves)
            rates = [f"{100 * n / row.impressions:.1f} %" for n in counts[1:]]
            name = str(row.position) if by_position else row.of or "texts alone"
            table.add_row(name, *map(str, counts), *rates)
        console.print(table)
        if by_position and len(rows) > MOST_POSITIONS:
            console.print(f"The first {MOST_POSITIONS} of {len(rows)} positions; --json has all.")


def _arm_in_words(row: "Experiment") -> str:
    settings = ", ".join(f"{name}={value}" for name, value in row.challenger_settings.items())
    return f"{row.challenger_generation} ({'pinned; ' * row.is_pinned}{settings or 'defaults'})"


def _as_json(report: "ExperimentReport") -> dict[str, Any]:
    row = report.experiment
    return {
        "id": row.public_id,
        "name": row.name,
        "control": {"generation": row.control_generation, "settings": row.control_settings},
        "challenger": {
            "generation": row.challenger_generation,
            "settings": row.challenger_settings,
        },
        "pinned": row.is_pinned,
        "alpha": row.alpha,
        "margin": row.margin,
        "started_at": row.started_at,
        "stopped_at": row.stopped_at,
        "adopted": row.adopted,
        "decision": report.decision,
        "decided_on": report.decided_on,
        "in_words": report.in_words,
        "trouble": report.trouble,
        "hint": report.hint,
        "slates": report.n_slates,
        "slates_alike": report.n_alike,
        "people": report.n_people,
        "saves": asdict(report.saves),
        "opens": asdict(report.opens),
        "places": _use_json(report.places, of="arm"),
    }


def _use_json(use: Iterable["PlaceUse"], *, of: str = "generation") -> list[dict[str, Any]]:
    return [{of if key == "of" else key: v for key, v in asdict(one).items()} for one in use]
