"""Whether a higher score means a likelier save, and how much likelier."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from models import BoolArray, FloatArray, IntArray

LEAST_PEOPLE = 10
"""Half of fewer people is no sample to fit a curve on."""
N_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Predicted against observed save rate, by score, from low to high; b ≤ 10 bins.

    ``predicted`` and ``observed`` (b,) float32 within 0 to 1; ``n_papers`` (b,) int64 of each bin;
    ``error`` is the expected calibration error, their mean distance weighted by ``n_papers``.
    ``n_fitted`` people made the prediction, ``n_people`` others were predicted.
    """

    predicted: FloatArray
    observed: FloatArray
    n_papers: IntArray
    error: float
    n_fitted: int
    n_people: int


def calibrate(
    scores: FloatArray, saved: BoolArray, *, rng: np.random.Generator
) -> Calibration | None:
    """How well scores tell the share of papers that are saved; None for fewer than ten people.

    ``scores`` (n, l) are those of each person's first l papers, NaN where a list is shorter;
    ``saved`` (n, l) which of these turned out to be saved. A score is no probability, so isotonic
    regression (Zadrozny & Elkan, KDD 2002) makes it one on a random half of the people, and the
    other half is predicted: nobody is predicted from their own saves.
    """
    n = len(scores)
    if n < LEAST_PEOPLE:
        return None
    order = rng.permutation(n)
    fitted, judged = order[: n // 2], order[n // 2 :]
    knots, shares = _isotonic(scores[fitted], saved[fitted])
    is_paper = np.isfinite(scores[judged])
    of_paper, was_saved = scores[judged][is_paper], saved[judged][is_paper]
    by_score = np.argsort(of_paper, kind="stable")
    bins = [rows for rows in np.array_split(by_score, N_BINS) if len(rows)]
    predicted = np.interp(of_paper, knots, shares)
    expected = np.array([predicted[rows].mean() for rows in bins], np.float32)
    observed = np.array([was_saved[rows].mean() for rows in bins], np.float32)
    n_papers = np.array([len(rows) for rows in bins], np.int64)
    return Calibration(
        predicted=expected,
        observed=observed,
        n_papers=n_papers,
        error=float(np.average(np.abs(expected - observed), weights=n_papers)),
        n_fitted=len(fitted),
        n_people=len(judged),
    )


def _isotonic(scores: FloatArray, saved: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Scores in ascending order, each once, and the share of saves that never falls with them."""
    is_paper = np.isfinite(scores)
    knots, place, counts = np.unique(scores[is_paper], return_inverse=True, return_counts=True)
    saves = np.bincount(place, saved[is_paper], minlength=len(knots))
    fitted = isotonic_regression(saves / counts, weights=counts.astype(np.float64))
    return knots, np.asarray(fitted.x, np.float32)
