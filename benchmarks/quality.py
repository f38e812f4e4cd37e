"""Quality and time of the parts, the blend and the baselines, side by side in one run.

    python benchmarks/quality.py [--eval ../shared/eval] [--part val|test] [--people 1500]

Reads the reading lists of CiteULike-t (Wang, Chen & Li, IJCAI 2013), which are not part of this
repository, and runs three protocols through ``models.evaluation``, which trains, folds in and
scores by the code that serves: *warm* (10 % of each list hidden), *cold* (papers that training
never saw) and *new person* (1, 3 or 5 saves of somebody who was not in training).
Choose on ``val``; report ``test`` once. Settings were chosen on the first 500 people of ``val``,
who are skipped where enough others are left (not among the new people: there are only 109).
"""

import argparse
import gzip
import importlib.util
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from models import FloatArray, IntArray  # noqa: E402
from models.config import Config  # noqa: E402
from models.evaluation.baselines import BASELINES, TUNED_ALS, ease, plain_als  # noqa: E402
from models.evaluation.comparison import Comparison, judge, mean_and_interval  # noqa: E402
from models.evaluation.contestants import Contestant, baselines, trained  # noqa: E402
from models.evaluation.tasks import Judged, Task  # noqa: E402
from models.feedback import History  # noqa: E402
from models.ranking.model import Model  # noqa: E402
from models.training import TrainingSet  # noqa: E402

K = 20
SEED = 0
ALS: Mapping[str, Mapping[str, Any]] = {
    "t": TUNED_ALS,
    "a": {**TUNED_ALS, "regularization": 100.0, "alpha": 260.0},
}
"""Tuned on the validation part of each set of lists by ``benchmarks/als.py``."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """``train`` people by items; then for each person of ``known`` rows what is to be found."""

    name: str
    train: sp.csr_matrix
    known: sp.csr_matrix
    hidden: sp.csr_matrix
    excluded: Sequence[sp.csr_matrix] = ()
    allowed: IntArray | None = None


def main() -> None:
    options = _options()
    data = _reading_lists(options.eval, options.lists)
    texts = _texts(options.eval, data)
    fitted: tuple[sp.csr_matrix, Model, list[Contestant]] | None = None
    for protocol in _protocols(data["X"], options.part, options.eval):
        if protocol.name not in options.only:
            continue
        task = _task(protocol, texts, options.people, options.skip)
        if fitted is None or fitted[0] is not protocol.train:
            fitted = (protocol.train, *_fitted(task, options))
        _, model, contestants = fitted
        print(f"\n**CiteULike-{options.lists}, {protocol.name}** ({options.part})\n")
        _print_table(judge(task, model, contestants, k=K, seed=SEED, clock=time.perf_counter))


def _fitted(task: Task, options: argparse.Namespace) -> tuple[Model, list[Contestant]]:
    clock = time.perf_counter
    model, contestants = trained(task, Config(), seed=SEED, clock=clock)
    als = replace(Config(), **ALS[options.lists])
    table = {
        **BASELINES,
        "ALS": lambda known: plain_als(known.user_items, als, seed=known.seed),
        "EASE": lambda known: ease(known.user_items),
    }
    chosen = [name for name in table if name != "EASE" or options.ease]
    if options.baselines:
        only = {name: table[name] for name in chosen}
        contestants += baselines(task, model, seed=SEED, clock=clock, table=only)
    return model, contestants


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, default=ROOT.parent / "shared" / "eval")
    parser.add_argument("--lists", choices=["t", "a"], default="t", help="CiteULike-t or -a")
    parser.add_argument("--ease", action="store_true", help="a dense inverse: minutes, gigabytes")
    parser.add_argument("--part", choices=["val", "test"], default="val")
    parser.add_argument("--people", type=int, default=1500, help="at most so many are judged")
    parser.add_argument("--skip", type=int, default=500, help="leave out those settled on")
    parser.add_argument("--baselines", action=argparse.BooleanOptionalAction, default=True)
    names = ["warm", "cold", "new 1", "new 3", "new 5"]
    parser.add_argument("--only", nargs="*", default=names, choices=names)
    options = parser.parse_args()
    if not options.eval.is_dir():
        parser.exit(0, f"{options.eval} is not here: nothing to measure on\n")
    return options


def _protocols(X: sp.csr_matrix, part: str, folder: Path) -> list[Protocol]:
    splits = _module(folder)
    fit, val, test = splits.split_warm(X)
    cold = splits.split_cold(X)
    users = splits.split_users(X)
    hidden, other = (val, test) if part == "val" else (test, val)
    found = [
        Protocol(name="warm", train=fit, known=fit, hidden=hidden, excluded=(other,)),
        Protocol(
            name="cold",
            train=cold["train"],
            known=cold["train"],
            hidden=cold[f"{part}_cold"],
            allowed=cold[f"cold_{part}"],
        ),
    ]
    known, hidden = users[part]
    for k in (1, 3, 5):
        folded = Protocol(name=f"new {k}", train=users["train"], known=known[k], hidden=hidden)
        found.append(folded)
    return found


def _task(protocol: Protocol, texts: Sequence[str], most: int, skip: int) -> Task:
    n_known, n_hidden = np.diff(protocol.known.indptr), np.diff(protocol.hidden.indptr)
    people = np.flatnonzero((n_known > 0) & (n_hidden > 0))
    people = np.random.default_rng(0).permutation(people)
    if len(people) > 2 * skip:  # the settings were chosen on the first; too few are used whole
        people = people[skip:]
    return Task(
        training=_training_set(protocol.train, texts),
        people=tuple(_judged(protocol, person) for person in np.sort(people[:most])),
        allowed=protocol.allowed,
    )


def _training_set(X: sp.csr_matrix, texts: Sequence[str]) -> TrainingSet:
    cells = X.tocoo()
    m = X.shape[1]
    return TrainingSet(
        user_ids=cells.row.astype(np.int64),
        history=History.of_saved(cells.col.astype(np.int64)),
        item_ids=np.arange(m),
        documents=texts,
        published_year=np.full(m, np.nan, np.float32),
        added_days=np.zeros(m, np.float32),
    )


def _judged(protocol: Protocol, person: int) -> Judged:
    nothing = np.zeros(0, np.int64)
    return Judged(
        known=History.of_saved(_row(protocol.known, person)),
        relevant=_row(protocol.hidden, person),
        excluded=np.concatenate([nothing, *(_row(shut, person) for shut in protocol.excluded)]),
    )


def _row(matrix: sp.csr_matrix, row: int) -> IntArray:
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].astype(np.int64)


def _print_table(comparison: Comparison) -> None:
    n_people = comparison.n_people
    print(
        f"| {n_people} people | nDCG@{K} (95 %) | Recall@{K} | blend / this (95 % of the "
        "difference) | coverage | diversity | novelty | fit s | ms a person |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    blended = comparison.outcome("blend").ndcg
    for one in comparison.outcomes:
        ndcg, low, high = _estimated(one.ndcg)
        _, worse, better = _estimated(blended - one.ndcg)
        fit = "–" if one.fit_s is None else f"{one.fit_s:.1f}"
        ratio = float(blended.mean()) / max(ndcg, 1e-9)
        print(
            f"| {one.name} | {ndcg:.4f} ({low:.4f}..{high:.4f}) | {one.recall.mean():.4f} "
            f"| {ratio:.2f} ({worse:+.4f}..{better:+.4f}) | {one.coverage:.1%} "
            f"| {np.nanmean(one.diversity):.3f} | {one.novelty:.1f} | {fit} "
            f"| {one.ms_per_person:.1f} |"
        )


def _estimated(values: FloatArray) -> tuple[float, float, float]:
    return mean_and_interval(values, seed=SEED)


def _module(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("protocols", folder / "protocols.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(folder / "protocols.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _reading_lists(folder: Path, name: str = "t") -> dict[str, Any]:
    return dict(_module(folder).load(name))


def _texts(folder: Path, data: dict[str, Any]) -> list[str]:
    """Each paper's words, repeated as often as they are counted; the order is lost. CiteULike-a
    comes without words here: its tags stand for them, though they tell of the hidden saves."""
    if data["words"] is None:
        names = np.array([f"tag{number}" for number in range(data["tags"].shape[1])], object)
        counts = data["tags"].tocsr()
    else:
        path = folder / "citeulike-t" / "vocabulary.dat.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            names = np.array([line.strip() for line in file], object)
        counts = data["words"].tocsr()
    texts = []
    for start, end in zip(counts.indptr, counts.indptr[1:], strict=False):
        repeated = np.repeat(names[counts.indices[start:end]], counts.data[start:end].astype(int))
        texts.append(" ".join(repeated))
    return texts


if __name__ == "__main__":
    main()
