"""Tunes plain ALS, the rival of the blend, by itself on each set of reading lists.

    python -m benchmarks.als [--lists t|a] [--eval ../shared/eval] [--people 1000]

Climbs, for each number of factors, from one regularization and one confidence to whichever
neighbour on a grid of factors of 1.6 is better (nDCG@20 on warm validation people), until none is:
the best one never lies at an edge. The test parts are never read. The best of each set stands in
``benchmarks/quality.py``, that of CiteULike-t also in ``models/evaluation/baselines.py``.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.quality import ROOT, SEED, K, Protocol, _protocols, _reading_lists, _row
from models import IntArray
from models.collaborative.joint_als import one_blas_thread
from models.config import Config
from models.evaluation.baselines import plain_als
from models.evaluation.metrics import ndcg_at
from models.ranking.candidates import best

FACTORS = (64, 128, 256, 512)
STEP = 1.6
START = (40.0, 40.0)
Cell: TypeAlias = tuple[int, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, default=ROOT.parent / "shared" / "eval")
    parser.add_argument("--lists", choices=["t", "a"], default="t", help="CiteULike-t or -a")
    parser.add_argument("--people", type=int, default=1_000, help="at most so many are judged")
    options = parser.parse_args()
    X = _reading_lists(options.eval, options.lists)["X"]
    warm = next(one for one in _protocols(X, "val", options.eval) if one.name == "warm")
    people = _people(warm, options.people)
    for factors in FACTORS:

        def measured(cell: Cell, factors: int = factors) -> float:
            regularization, alpha = _settings(cell)
            config = replace(Config(), factors=factors, regularization=regularization, alpha=alpha)
            figure = _quality(warm, people, replace(config, term_weight=0.0))
            print(f"{factors} {regularization:g} {alpha:g}: {figure:.4f}", flush=True)
            return figure

        cell, figure = climb(measured)
        regularization, alpha = _settings(cell)
        print(
            f"CiteULike-{options.lists}, {factors} factors: regularization {regularization:g}, "
            f"alpha {alpha:g}, nDCG@{K} {figure:.4f} of {len(people)} people",
            flush=True,
        )


def climb(measured: Callable[[Cell], float]) -> tuple[Cell, float]:
    """The cell of a grid that is better than its eight neighbours, and how good it is."""
    here: Cell = (0, 0)
    found = {here: measured(here)}
    while True:
        for cell in _around(here):
            if cell not in found:
                found[cell] = measured(cell)
                if found[cell] > found[here]:
                    break
        top = max(found, key=lambda cell: found[cell])
        if top == here:
            return here, found[here]
        here = top


def _around(cell: Cell) -> Iterator[Cell]:
    """Both together first: a larger confidence asks for a larger regularization."""
    for down, right in (1, 1), (-1, -1), (0, 1), (1, 0), (0, -1), (-1, 0), (1, -1), (-1, 1):
        yield cell[0] + down, cell[1] + right


def _settings(cell: Cell) -> tuple[float, float]:
    regularization, alpha = (start * STEP**step for start, step in zip(START, cell, strict=True))
    return float(f"{regularization:.2g}"), float(f"{alpha:.2g}")


def _people(protocol: Protocol, most: int) -> IntArray:
    told = (np.diff(protocol.known.indptr) > 0) & (np.diff(protocol.hidden.indptr) > 0)
    return np.random.default_rng(0).permutation(np.flatnonzero(told))[:most]


def _quality(protocol: Protocol, people: IntArray, config: Config) -> float:
    score = plain_als(protocol.train, config, seed=SEED)
    chance = np.random.default_rng(SEED).random(protocol.train.shape[1], np.float32)
    figures = []
    with one_blas_thread():
        for person in people.tolist():
            known = _row(protocol.known, person)
            shut = [_row(matrix, person) for matrix in protocol.excluded]
            candidates = np.ones(len(chance), np.bool_)
            candidates[np.concatenate([known, *shut])] = False
            ranked = best(score(known), np.flatnonzero(candidates), K, chance)
            figures.append(ndcg_at(ranked, _row(protocol.hidden, person), K))
    return float(np.mean(figures))


if __name__ == "__main__":
    main()
