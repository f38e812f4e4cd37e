"""Measures the recommender; changes nothing, and no model comes of it."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime

import numpy as np

from models.config import Config
from models.evaluation.calibration import Calibration
from models.evaluation.comparison import Comparison, Outcome, compare, mean_and_interval
from models.evaluation.plot import draw
from service.db import Sessions
from service.recommend.dataset import training_set
from service.recommend.evaluation_records import (
    CalibrationBin,
    CalibrationReport,
    Estimate,
    Evaluation,
    EvaluationFiles,
    Figures,
    Inputs,
    Source,
    people,
)
from service.recommend.evaluation_tasks import Prepared, of_files, of_installation

Progress = Callable[[str, float], None]
READ = 0.05
"""The share of the work that reading is."""


def evaluate_installation(
    sessions: Sessions,
    *,
    now: datetime,
    k: int,
    seed: int,
    clock: Callable[[], float],
    progress: Progress,
) -> Evaluation:
    """How well the latest papers of everybody here are found from the earlier ones.

    Raises Conflict where there is too little to tell.
    """
    progress("reading the database", 0.0)
    with sessions.reading() as session:
        data, _ = training_set(session, now=now)
    return _evaluation("installation", of_installation(data), k, seed, clock, progress)


def evaluate_files(
    files: EvaluationFiles,
    *,
    k: int,
    seed: int,
    clock: Callable[[], float],
    progress: Progress,
) -> Evaluation:
    """How well what the files hold out is found. Raises InvalidInput."""
    progress("reading the files", 0.0)
    prepared = of_files(files, rng=np.random.default_rng(seed))
    return _evaluation("files", prepared, k, seed, clock, progress)


def _evaluation(
    source: Source,
    prepared: Prepared,
    k: int,
    seed: int,
    clock: Callable[[], float],
    progress: Progress,
) -> Evaluation:
    config = Config()
    comparison = compare(
        prepared.task,
        config,
        k=k,
        seed=seed,
        clock=clock,
        progress=lambda stage, done: progress(stage, READ + (1 - READ) * done),
    )
    inputs = _inputs(source, prepared, comparison, seed, config)
    return Evaluation(
        inputs=inputs,
        results=tuple(_figures(outcome, seed) for outcome in comparison.outcomes),
        calibration=_calibration(comparison.calibration),
        notes=prepared.notes,
        plot=draw(comparison, about=_about(inputs)),
    )


def _inputs(
    source: Source, prepared: Prepared, comparison: Comparison, seed: int, config: Config
) -> Inputs:
    task = prepared.task
    training = task.training
    return Inputs(
        source=source,
        split=prepared.split,
        people=len(np.unique(training.user_ids)),
        papers=len(training.item_ids),
        papers_with_text=sum(bool(text.strip()) for text in training.documents),
        interactions=len(training.user_ids),
        candidates=None if task.allowed is None else len(task.allowed),
        folded_in_people=prepared.n_folded_in,
        judged_people=comparison.n_people,
        rows_to_find=task.n_to_find,
        skipped_unknown_people=task.n_unknown,
        skipped_people_with_nothing_to_find=task.n_nothing_to_find,
        rows_known_already=task.n_known_already,
        k=comparison.k,
        seed=seed,
        config=asdict(config),
    )


def _about(inputs: Inputs) -> str:
    among = f"{inputs.candidates:,} of " if inputs.candidates is not None else ""
    return (
        f"{people(inputs.judged_people)} judged, {among}{inputs.papers:,} papers, "
        f"{inputs.interactions:,} interactions; split: {inputs.split}."
    )


def _figures(outcome: Outcome, seed: int) -> Figures:
    return Figures(
        name=outcome.name,
        kind=outcome.kind,
        recall=_estimate(outcome.recall, seed),
        ndcg=_estimate(outcome.ndcg, seed),
        coverage=_number(outcome.coverage),
        diversity=_estimate(outcome.diversity, seed).mean,
        novelty=_number(outcome.novelty),
        fit_s=_number(outcome.fit_s),
        ms_per_person=outcome.ms_per_person,
    )


def _estimate(values: np.typing.NDArray[np.float32], seed: int) -> Estimate:
    mean, low, high = map(_number, mean_and_interval(values, seed=seed))
    return Estimate(mean=mean, low=low, high=high)


def _number(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def _calibration(found: Calibration | None) -> CalibrationReport | None:
    if found is None:
        return None
    bins = zip(found.predicted, found.observed, found.n_papers, strict=True)
    return CalibrationReport(
        bins=tuple(
            CalibrationBin(predicted=float(predicted), observed=float(observed), papers=int(n))
            for predicted, observed, n in bins
        ),
        error=found.error,
        fitted_on_people=found.n_fitted,
        judged_on_people=found.n_people,
    )
