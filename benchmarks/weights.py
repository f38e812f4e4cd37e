"""Learns what the parts of the blend weigh: prints the numbers of ``models/ranking/weights.py``.

    python -m benchmarks.weights [--eval ../shared/eval] [--people 1500]

Trains on the training part of each protocol of ``benchmarks/quality.py`` (warm, cold, new
people) for CiteULike-t, CiteULike-a and, so that the weights learn from a sparse community of the
second kind too, 1,650 people of CiteULike-a. Takes for each validation person the best papers of
every part as a pool, and fits by softmax regression how the parts' scores, each on the scale of the
person's own top, are to be added. Half of the people are kept aside and only judged; the final
numbers are learned on all of them. The test parts are never read.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from benchmarks.quality import (
    ROOT,
    Protocol,
    _protocols,
    _reading_lists,
    _row,
    _texts,
    _training_set,
)
from models import BoolArray, FloatArray, IntArray
from models.evaluation.metrics import ndcg_at
from models.ranking.blend import PARTS, Evidence, blend, scale_of
from models.ranking.model import Model
from models.ranking.weights import LEARNED, density, grown, known
from models.training import train

POOL = 150
"""Candidates that each part proposes; the papers to be found are among them or lost anyway."""
K = 20
RIDGE = 1e-3
NAMES = tuple(LEARNED)
SPARSE_PEOPLE = 1_650
"""Of CiteULike-a: so few that a paper has as many readers as in CiteULike-t."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """One person's candidates ``rows`` (c,): parts by their scale (c, parts), k (c,), z and the
    density, ln(1 + people) (c,), and which are to be found (c,)."""

    rows: IntArray
    scores: FloatArray
    known: FloatArray
    grown: float
    density: float
    readers: FloatArray
    relevant: BoolArray
    n_relevant: int

    def features(self) -> FloatArray:
        """(c, 5 · parts + 4): what the weights and the prior are linear in."""
        prior = np.stack([self.readers, self.readers == 0], axis=1)
        columns = [
            self.scores,
            self.scores * self.known[:, None],
            self.scores * self.grown,
            self.scores * self.density,
            self.scores * self.known[:, None] * self.density,
            prior,
            prior * self.density,
        ]
        return np.concatenate(columns, axis=1, dtype=np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, default=ROOT.parent / "shared" / "eval")
    parser.add_argument("--people", type=int, default=1_500, help="of each protocol at most")
    options = parser.parse_args()
    pools: dict[str, list[Pool]] = {}
    for lists in ("t", "a", "sparse a"):
        pools |= _of_lists(lists, options.eval, options.people)
    learning = {name: those[::2] for name, those in pools.items()}
    weights = _learned(list(learning.values()))
    for name, those in pools.items():
        print(
            f"{name}: nDCG@{K} {_quality(those[::2], weights):.4f} of those learned from, "
            f"{_quality(those[1::2], weights):.4f} of the others"
        )
    _print(_learned(list(pools.values())))


def _of_lists(lists: str, folder: Path, most: int) -> Mapping[str, list[Pool]]:
    """The pools of each protocol of one set of reading lists."""
    data = _reading_lists(folder, lists[-1])
    X, texts = data["X"], _texts(folder, data)
    if lists == "sparse a":
        X = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:SPARSE_PEOPLE])]
    found: dict[str, list[Pool]] = {}
    model, trained_on = None, None
    for protocol in _protocols(X, "val", folder):
        if lists == "sparse a" and protocol.name != "warm":
            continue
        if model is None or protocol.train is not trained_on:
            model, trained_on = train(_training_set(protocol.train, texts)), protocol.train
        name = f"{lists}, {protocol.name}"
        found[name] = list(_pools(model, protocol, most))
        print(f"{name}: {len(found[name])} people", flush=True)
    return found


def _pools(model: Model, protocol: Protocol, most: int) -> Iterator[Pool]:
    people = np.flatnonzero(
        (np.diff(protocol.known.indptr) > 0) & (np.diff(protocol.hidden.indptr) > 0)
    )
    people = np.random.default_rng(0).permutation(people)[:most]
    for person in people.tolist():
        rows, relevant = _row(protocol.known, person), _row(protocol.hidden, person)
        open_rows = np.ones(len(model.items), np.bool_)
        if protocol.allowed is not None:
            open_rows[:] = False
            open_rows[protocol.allowed] = True
        for matrix in (protocol.known, *protocol.excluded):
            open_rows[_row(matrix, person)] = False
        yield _pool(model, rows, relevant, np.flatnonzero(open_rows))


def _pool(model: Model, rows: IntArray, relevant: IntArray, candidates: IntArray) -> Pool:
    evidence = Evidence(rows=rows, confidence=np.ones(len(rows), np.float32))
    raw = blend(model, evidence).raw
    others = np.ones(len(model.items), np.bool_)
    others[rows] = False
    scaled = np.stack(
        [
            raw[name] / scale_of(raw[name][others], PARTS[name].smallest_scale or 1.0)
            for name in NAMES
        ],
        axis=1,
    )
    size = min(POOL, len(candidates))
    top = [
        candidates[np.argpartition(-scaled[candidates, i], size - 1)[:size]]
        for i in range(len(NAMES))
    ]
    chosen = np.unique(np.concatenate(top))
    return Pool(
        rows=chosen,
        scores=scaled[chosen],
        known=known(model.people)[chosen],
        grown=grown(evidence),
        density=density(model),
        readers=np.log1p(model.people[chosen]),
        relevant=np.isin(chosen, relevant),
        n_relevant=len(relevant),
    )


def _learned(groups: Sequence[Sequence[Pool]]) -> FloatArray:
    """The weights (features,) that make what people keep likely; each group has one voice."""
    told = [[pool for pool in group if pool.relevant.any()] for group in groups]
    batches = [
        [(pool.features(), pool.relevant / pool.relevant.sum()) for pool in those] for those in told
    ]
    n = batches[0][0][0].shape[1]

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for batch in batches:
            for features, wanted in batch:
                scores = features @ weights
                scores -= scores.max()
                chance = np.exp(scores)
                mass = chance.sum()
                total -= float((scores - np.log(mass)) @ wanted) / len(batch) / len(batches)
                slope = slope - (wanted - chance / mass) @ features / len(batch) / len(batches)
        return total, slope

    start = np.concatenate([np.ones(len(NAMES)), np.zeros(n - len(NAMES))])
    # scipy-stubs knows a function that gives its slope, too, only if it takes further arguments.
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})  # type: ignore[call-overload]
    return np.asarray(found.x, np.float64)


def _quality(pools: Sequence[Pool], weights: FloatArray) -> float:
    figures = []
    for pool in pools:
        ranked = np.argsort(-(pool.features() @ weights), kind="stable")
        found = np.flatnonzero(pool.relevant)
        lost = np.arange(pool.n_relevant - len(found)) + len(ranked)  # no part proposed them
        figures.append(ndcg_at(ranked, np.concatenate([found, lost]), K))
    return float(np.mean(figures))


def _print(weights: FloatArray) -> None:
    """In units in which the factors weigh 1 for a half-known paper and a person of seven papers."""
    n = len(NAMES)
    by_part = weights[: 5 * n].reshape(5, n).T
    unit = by_part[0, 0] + by_part[0, 1] / 2
    for name, numbers in zip(NAMES, by_part / unit, strict=True):
        print(f'    "{name}": ({", ".join(f"{number:.2f}" for number in numbers)}),')
    readers, unread, denser_readers, denser_unread = weights[5 * n :] / unit
    print(f"OF_READERS = ({readers:.2f}, {denser_readers:.2f})")
    print(f"OF_UNREAD = ({unread:.2f}, {denser_unread:.2f})")


if __name__ == "__main__":
    main()
