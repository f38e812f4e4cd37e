"""How good the recommendations are, measured."""

import json
import os
import secrets
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.table import Table

from service.cli.terminal import opened_runtime, plain_console, progress_bar
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.recommend.evaluation_records import Estimate, Evaluation, EvaluationFiles

SMALLEST_WIDTH = 120
"""The table is not squeezed into less: figures broken over lines can't be compared."""
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--interactions", type=FILE, help="Who has which paper; instead of this database.")
@click.option("--documents", type=FILE, help="The papers' texts, one JSON object a line.")
@click.option("--holdout", type=FILE, help="What is to be found; else 20 % are hidden.")
@click.option("--fold-in", type=FILE, help="What is known of people whom training never saw.")
@click.option("--candidates", type=FILE, help="Ids of papers, one a line; only these are ranked.")
@click.option("--ratings", is_flag=True, help="Values in the files are ratings of 1 to 5.")
@click.option("--k", type=click.IntRange(1, 1000), default=20, show_default=True, help="Length.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the curves to this SVG file.")
def evaluate(
    interactions: Path | None,
    documents: Path | None,
    holdout: Path | None,
    fold_in: Path | None,
    candidates: Path | None,
    ratings: bool,
    k: int,
    seed: int,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Compare the recommender with its parts and with simple baselines.

    Trains on a part of the reading lists and counts how much of the rest is found: in this
    installation, or with --interactions in files. docs/operations.md says what they hold. The
    database and the live model are left as they are.
    """
    from service.recommend.evaluation_records import EvaluationFiles

    _require_place(plot)
    files = None
    if interactions is not None:
        files = EvaluationFiles(
            interactions=interactions,
            documents=documents,
            holdout=holdout,
            fold_in=fold_in,
            candidates=candidates,
            has_ratings=ratings,
        )
    elif documents or holdout or fold_in or candidates or ratings:
        raise click.UsageError("Files go with --interactions: who has which paper.")
    if fold_in and not holdout:
        raise click.UsageError("--fold-in goes with --holdout: what those people should find.")
    found = _evaluated(files, k, seed)
    if plot is not None:
        _write_whole(plot, found.plot)
    if as_json:
        click.echo(json.dumps(_as_json(found), indent=2, allow_nan=False))
    else:
        _print(found, plot)


def _evaluated(files: "EvaluationFiles | None", k: int, seed: int) -> "Evaluation":
    from service.recommend.evaluate import evaluate_files, evaluate_installation

    clock = time.perf_counter
    with progress_bar(plain_console(stderr=True)) as bar:
        task = bar.add_task("Evaluating", total=100)

        def advance(stage: str, done: float) -> None:
            bar.update(task, completed=round(100 * done), description=f"Evaluating: {stage}")

        if files is not None:
            found = evaluate_files(files, k=k, seed=seed, clock=clock, progress=advance)
        else:
            now = datetime.now(UTC)
            with opened_runtime() as runtime:
                found = evaluate_installation(
                    runtime.sessions, now=now, k=k, seed=seed, clock=clock, progress=advance
                )
        bar.update(task, completed=100, description="Evaluating")
    return found


def _as_json(found: "Evaluation") -> dict[str, object]:
    written = asdict(found)
    del written["plot"]
    return written


def _print(found: "Evaluation", plot: Path | None) -> None:
    from service.recommend.evaluation_records import people

    inputs = found.inputs
    console = plain_console(width=max(plain_console().width, SMALLEST_WIDTH))
    among = f" {inputs.candidates:,} of" if inputs.candidates is not None else ""
    console.print(
        f"Trained on {inputs.interactions:,} interactions of {people(inputs.people)}; "
        f"{people(inputs.judged_people)} judged,{among} {inputs.papers:,} papers ranked, "
        f"{inputs.rows_to_find:,} to be found."
    )
    for note in found.notes:
        console.print(note)
    console.print(_table(found))
    if plot is not None:
        console.print(f"Drawn to {plot}.")


def _table(found: "Evaluation") -> Table:
    k = found.inputs.k
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(no_wrap=True)
    for heading in (
        *(f"recall@{k} (95 %)", f"nDCG@{k} (95 %)"),
        *("coverage", "diversity", "novelty", "fit s", "ms/person"),
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    kind = None
    for one in found.results:
        if kind not in {None, one.kind}:
            table.add_section()
        kind = one.kind
        table.add_row(
            one.name,
            _estimate(one.recall),
            _estimate(one.ndcg),
            _figure(one.coverage, 3),
            _figure(one.diversity, 3),
            _figure(one.novelty, 1),
            _figure(one.fit_s, 2),
            _figure(one.ms_per_person, 2),
        )
    return table


def _estimate(estimate: "Estimate") -> str:
    mean = _figure(estimate.mean, 4)
    if estimate.low is None or estimate.high is None:
        return mean
    return f"{mean} ({estimate.low:.4f}–{estimate.high:.4f})"


def _figure(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:.{places}f}"


def _require_place(file: Path | None) -> None:
    """Raise InvalidInput before the long work if the picture could not be written after it."""
    if file is None:
        return
    if file.exists() and not file.is_file():
        raise InvalidInput(f"{file} is no file; name one for the plot.")
    if file.suffix.lower() != ".svg":
        raise InvalidInput(f"The plot is an SVG, and {file} does not end in .svg.")
    if not (file.parent.is_dir() and os.access(file.parent, os.W_OK)):
        raise InvalidInput(f"{file.parent} is no folder that can be written to; make it first.")


def _write_whole(file: Path, text: str) -> None:
    """Who looks sees the old picture or the new one, never half."""
    aside = file.with_name(f".plot-{secrets.token_hex(8)}")
    try:
        with aside.open("x", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        aside.replace(file)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise InvalidInput(f"{file} could not be written: {error.strerror}.") from error
