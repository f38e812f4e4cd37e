"""What diversity costs and what it brings: the curve of both ways to re-rank, in one run.

    python -m benchmarks.diversity [--eval ../shared/eval] [--part val|test] [--people 500]

On the warm protocol of ``benchmarks/quality.py``, with the same model and the same pools of
candidates: maximal marginal relevance, which the service uses, and beside it the greedy MAP of a
determinantal point process (Chen, Zhang & Zhou, NeurIPS 2018). Prints a Markdown table of nDCG@20,
its loss, the mean diversity within a slate (1 - cosine, Ziegler et al. 2005), the coverage of the
catalogue by all slates, and the milliseconds of processor a slate; then nDCG@20 of both at the same
diversity, and the time that re-ranking a pool of 400 takes.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import quality
from benchmarks.quality import ROOT, K
from models import FloatArray, IntArray
from models.content.similar import cosine
from models.content.tfidf import TermIndex
from models.evaluation.metrics import bootstrap_interval, coverage, intra_list_diversity, ndcg_at
from models.ranking.blend import Evidence, blend
from models.ranking.candidates import best
from models.ranking.model import Model
from models.ranking.rerank import diversified
from models.recommending import LARGEST_POOL, POOL_FACTOR
from models.training import train

KNOBS = (0.05, 0.1, 0.12, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0)
OWN = 1e-3
"""What each paper has of its own beside its words, so that copies add little, not -infinity."""
LEVELS = (0.92, 0.93, 0.94, 0.95, 0.96, 0.97)
Rerank = Callable[..., IntArray]


@dataclass(frozen=True, kw_only=True)
class Person:
    """What is ranked for one person: ``pool`` rows by descending ``scores``, some ``relevant``."""

    pool: IntArray
    scores: FloatArray
    relevant: IntArray


def main() -> None:
    options = _options()
    data = quality._reading_lists(options.eval)
    texts = quality._texts(options.eval, data)
    protocol = next(
        p for p in quality._protocols(data["X"], options.part, options.eval) if p.name == "warm"
    )
    model = train(quality._training_set(protocol.train, texts))
    people = list(_people(model, protocol, options))
    plain, line = _judge(model, people, diversified, 0.0)
    curves: dict[str, list[tuple[float, float]]] = {}
    print(f"\n{len(people)} people of {options.part}, pools of {POOL_FACTOR * K} papers\n")
    print("| re-ranking | diversity | nDCG@20 | loss (95 % interval) | within | coverage | ms |")
    print("|---|---|---|---|---|---|---|")
    print(_row("none", 0.0, plain, plain, line))
    start = (line[0], float(plain.mean()))
    for name, rerank in RERANKERS.items():
        curves[name] = [start]
        for knob in KNOBS:
            figures, line = _judge(model, people, rerank, knob)
            curves[name].append((line[0], float(figures.mean())))
            print(_row(name, knob, figures, plain, line), flush=True)
    _print_levels(curves)
    _print_times(model, people)


def determinant(
    index: TermIndex, rows: IntArray, scores: FloatArray, *, limit: int, diversity: float
) -> IntArray:
    """Each step takes the highest (1 - diversity) · score + diversity · ln d².

    d² is the share of a paper's term vector that those taken before do not span, plus ``OWN``: by
    its logarithm grows that of the determinant of all cosines. O(c · limit²) by a Cholesky factor.
    """
    bottom = min(float(scores[-1]), 0.0)
    relevance = (1 - diversity) * (scores - bottom) / max(float(scores[0]) - bottom, 1e-9)
    near = cosine(index, rows).astype(np.float64)
    factor = np.zeros((limit, len(rows)))
    gain = np.full(len(rows), 1 + OWN)
    chosen = [0]
    while len(chosen) < min(limit, len(rows)):
        last, step = chosen[-1], len(chosen) - 1
        spanned = factor[:step, last] @ factor[:step]
        factor[step] = (near[last] - spanned) / np.sqrt(gain[last])
        gain = np.maximum(gain - factor[step] ** 2, OWN / 2)
        value = relevance + diversity * np.log(gain)
        value[chosen] = -np.inf
        chosen.append(int(np.argmax(value)))
    return np.asarray(rows[np.array(chosen)], np.int64)


RERANKERS: Mapping[str, Rerank] = {
    "marginal relevance": diversified,
    "determinant": determinant,
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, default=ROOT.parent / "shared" / "eval")
    parser.add_argument("--part", choices=["val", "test"], default="val")
    parser.add_argument("--people", type=int, default=500, help="at most so many are judged")
    parser.add_argument("--skip", type=int, default=0, help="leave out those settled on")
    options = parser.parse_args()
    if not options.eval.is_dir():
        parser.exit(0, f"{options.eval} is not here: nothing to measure on\n")
    return options


def _people(
    model: Model, protocol: quality.Protocol, options: argparse.Namespace
) -> Sequence[Person]:
    n_known, n_hidden = np.diff(protocol.known.indptr), np.diff(protocol.hidden.indptr)
    people = np.flatnonzero((n_known > 0) & (n_hidden > 0))
    people = np.random.default_rng(0).permutation(people)[options.skip :][: options.people]
    return [_person(model, protocol, person) for person in np.sort(people)]


def _person(model: Model, protocol: quality.Protocol, person: int) -> Person:
    known = quality._row(protocol.known, person)
    evidence = Evidence(rows=known, confidence=np.ones(len(known), np.float32))
    scores = blend(model, evidence).scores
    open_rows = np.ones(len(scores), np.bool_)
    for matrix in (protocol.known, *protocol.excluded):
        open_rows[quality._row(matrix, person)] = False
    pool = best(scores, np.flatnonzero(open_rows), LARGEST_POOL, scores)
    return Person(pool=pool, scores=scores[pool], relevant=quality._row(protocol.hidden, person))


def _judge(
    model: Model, people: Sequence[Person], rerank: Rerank, knob: float
) -> tuple[FloatArray, tuple[float, float, float]]:
    """nDCG of each person (n,); mean diversity, coverage and milliseconds."""
    size = POOL_FACTOR * K
    started = time.process_time()
    slates = [
        rerank(model.content, one.pool[:size], one.scores[:size], limit=K, diversity=knob)
        for one in people
    ]
    milliseconds = (time.process_time() - started) * 1000 / len(people)
    figures = [ndcg_at(slate, one.relevant, K) for slate, one in zip(slates, people, strict=True)]
    within = [intra_list_diversity(cosine(model.content, slate)) for slate in slates]
    covered = coverage(slates, len(model.items))
    return np.array(figures, np.float32), (float(np.nanmean(within)), covered, milliseconds)


def _row(
    name: str, knob: float, figures: FloatArray, plain: FloatArray, line: tuple[float, float, float]
) -> str:
    whole = float(plain.mean())
    low, high = bootstrap_interval(plain - figures, rng=np.random.default_rng(0))
    lost = f"{(whole - figures.mean()) / whole:+.1%} ({low / whole:+.1%}..{high / whole:+.1%})"
    within, covered, milliseconds = line
    return (
        f"| {name} | {knob:.2f} | {figures.mean():.4f} | {lost} | {within:.3f} | {covered:.1%} "
        f"| {milliseconds:.1f} |"
    )


def _print_levels(curves: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """nDCG at the same diversity within a slate, read off between the knobs."""
    print("\n| nDCG@20 at diversity within a slate |", *(f"{level} |" for level in LEVELS))
    print("|---|" + "---|" * len(LEVELS))
    for name, curve in curves.items():
        within, ndcg = np.array(sorted(curve)).T
        print(f"| {name} |", *(f"{value:.4f} |" for value in np.interp(LEVELS, within, ndcg)))


def _print_times(model: Model, people: Sequence[Person]) -> None:
    for limit in (20, 100):
        started = time.process_time()
        for one in people[:50]:
            diversified(model.content, one.pool, one.scores, limit=limit, diversity=0.1)
        spent = (time.process_time() - started) * 1000 / len(people[:50])
        print(f"\n{limit} of {LARGEST_POOL} candidates: {spent:.1f} ms")


if __name__ == "__main__":
    main()
