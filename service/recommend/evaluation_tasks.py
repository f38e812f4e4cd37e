"""From reading lists, in files or in the database, to a task for ``models.evaluation``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.evaluation.split import LEAST_LIKED, split_at_random, split_by_time
from models.evaluation.tasks import Evidences, Task, task_of
from models.feedback import History
from models.training import TrainingSet
from service.errors import Conflict, InvalidInput
from service.recommend.evaluation_files import (
    Place,
    Row,
    lines_of,
    parse_documents,
    parse_ids,
    parse_rows,
)
from service.recommend.evaluation_records import EvaluationFiles, Split, people

SECONDS_A_DAY = 86_400.0
LEAST_PEOPLE = 5
"""Of fewer people the mean says nothing, and who knows them may read each one's taste out of it."""
ENOUGH_PEOPLE = 20
"""Of fewer the interval of a mean spans most of what figures can be."""
LATEST = (
    f"Split by time: the latest 20 % of each person with {LEAST_LIKED} or more liked papers are "
    "hidden."
)
DRAWN = (
    f"Split at random: 20 % of each person with {LEAST_LIKED} or more liked papers are hidden, as "
    "{why}."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A task and what is to be said of it."""

    task: Task
    split: Split
    n_folded_in: int
    notes: tuple[str, ...]


def of_installation(data: TrainingSet) -> Prepared:
    """The latest of everybody's papers are to be found.

    Raises Conflict where too few people have enough papers.
    """
    everything = Evidences(user_ids=data.user_ids, history=data.history)
    split = split_by_time(data.user_ids, data.history)
    known = everything.chosen(split.known)
    training = replace(data, user_ids=known.user_ids, history=known.history)
    task = task_of(training, known, everything.chosen(split.hidden))
    n = len(task.people)
    if n < LEAST_PEOPLE:
        have = "1 person has" if n == 1 else f"{n or 'no'} people have"
        raise Conflict(
            f"There is too little here to evaluate: {have} {LEAST_LIKED} or more liked papers, and "
            f"it takes {LEAST_PEOPLE} people. (Liked is what was saved, opened or rated 3 to 5.) "
            "To evaluate on files, use --interactions."
        )
    return Prepared(task=task, split="time", n_folded_in=0, notes=(LATEST, *_warnings(task)))


def of_files(files: EvaluationFiles, *, rng: np.random.Generator) -> Prepared:
    """What the files say. Raises InvalidInput, which names the file and the line."""
    read = _read(files)
    interactions = read.evidences(read.interactions)
    folded_in = read.evidences(read.fold_in)
    notes: list[str] = []
    split: Split = "holdout"
    if files.holdout is None:
        split, hidden_rows = _hidden(read.interactions, interactions, rng, notes)
        hidden = interactions.chosen(hidden_rows)
        interactions = interactions.chosen(~hidden_rows)
    else:
        hidden = read.evidences(read.holdout)
    known = interactions.joined(folded_in)
    allowed = None if read.candidates is None else read.numbers(read.candidates)
    task = task_of(read.training_set(interactions), known, hidden, allowed=allowed)
    both = np.intersect1d(interactions.user_ids, folded_in.user_ids)
    if len(both):
        notes.append(
            f"{len(both):,} of the people to be folded in {_is(len(both))} in the interactions as "
            "well, so that training knows them already."
        )
    _requirepeople(task)
    return Prepared(
        task=task,
        split=split,
        n_folded_in=len(np.unique(folded_in.user_ids)),
        notes=(*notes, *_told(task), *_warnings(task)),
    )


def _hidden(
    rows: Sequence[Row], evidences: Evidences, rng: np.random.Generator, notes: list[str]
) -> tuple[Split, NDArray[np.bool_]]:
    """Which interactions are hidden where no holdout is given."""
    n_timeless = sum(row.at is None for row in rows)
    if n_timeless == 0:
        notes.append(LATEST)
        return "time", split_by_time(evidences.user_ids, evidences.history).hidden
    why = "no row has a time" if n_timeless == len(rows) else f"{_rows(n_timeless)} no time"
    notes.append(DRAWN.format(why=why))
    return "random", split_at_random(evidences.user_ids, evidences.history, rng=rng).hidden


def _told(task: Task) -> list[str]:
    notes = []
    if task.n_unknown:
        notes.append(
            f"{people(task.n_unknown)} {_is(task.n_unknown)} skipped: nothing they like is "
            "in the interactions or in what is folded in."
        )
    if task.n_nothing_to_find:
        notes.append(
            f"{people(task.n_nothing_to_find)} {_is(task.n_nothing_to_find)} skipped: none of "
            "their held-out papers may be ranked."
        )
    if task.n_known_already:
        notes.append(
            f"{task.n_known_already:,} of the held-out papers {_is(task.n_known_already)} known of "
            "their person already; known papers are never ranked, so there is nothing to find."
        )
    return notes


def _warnings(task: Task) -> list[str]:
    """What a reader of the figures should know before believing them."""
    n = len(task.people)
    if n >= ENOUGH_PEOPLE:
        return []
    return [f"Only {people(n)} {_is(n, 'was', 'were')} judged: the figures say little."]


def _rows(n: int) -> str:
    return "1 row has" if n == 1 else f"{n:,} rows have"


def _is(n: int, one: str = "is", many: str = "are") -> str:
    return one if n == 1 else many


def _requirepeople(task: Task) -> None:
    if not task.people:
        why = " ".join(_told(task)) or f"Nobody has {LEAST_LIKED} or more liked papers."
        raise InvalidInput(f"There is nobody to judge. {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """All files, with a number for each person and each paper."""

    interactions: list[Row]
    fold_in: list[Row]
    holdout: list[Row]
    candidates: Collection[str] | None
    texts: Mapping[str, str]
    people: Mapping[str, int]
    papers: Mapping[str, int]
    has_ratings: bool

    def numbers(self, papers: Collection[str]) -> NDArray[np.int64]:
        return np.array(sorted(self.papers[paper] for paper in papers), dtype=np.int64)

    def evidences(self, rows: Sequence[Row]) -> Evidences:
        """One row a person and paper: the latest by time, and of those the last in the file."""
        kept: dict[tuple[int, int], Row] = {}
        for row in rows:
            key = self.people[row.person], self.papers[row.paper]
            if key not in kept or _is_later(row, kept[key]):
                kept[key] = row
        values = [row.value for row in kept.values()]
        stars = [int(value) if value is not None and self.has_ratings else 0 for value in values]
        is_disliked = np.array([value is not None and value <= 0 for value in values], np.bool_)
        ratings = np.array(stars, dtype=np.int64)
        history = History.of_saved(np.array([paper for _, paper in kept], dtype=np.int64))
        return Evidences(
            user_ids=np.array([person for person, _ in kept], dtype=np.int64),
            history=replace(
                history,
                saved=(ratings == 0) & ~is_disliked,
                dismissed=is_disliked,
                ratings=ratings,
                age_days=self._ages([row.at for row in kept.values()]),
            ),
        )

    def _ages(self, times: Sequence[float | None]) -> NDArray[np.float32]:
        """Days before the newest row; a row without a time is as new as that."""
        those = (row.at for row in (*self.interactions, *self.fold_in) if row.at is not None)
        newest = max(those, default=0.0)
        ages = [(newest - at) / SECONDS_A_DAY if at is not None else 0.0 for at in times]
        return np.maximum(np.array(ages, dtype=np.float32), 0)

    def training_set(self, interactions: Evidences) -> TrainingSet:
        m = len(self.papers)
        return TrainingSet(
            user_ids=interactions.user_ids,
            history=interactions.history,
            item_ids=np.arange(m, dtype=np.int64),
            documents=[self.texts.get(paper, "") for paper in self.papers],
            published_year=np.full(m, np.nan, np.float32),
            added_days=np.zeros(m, np.float32),
        )


def _is_later(row: Row, other: Row) -> bool:
    return row.at is None or other.at is None or row.at >= other.at


def _read(files: EvaluationFiles) -> _Read:
    def rows(path: Path | None) -> list[Row]:
        if path is None:
            return []
        return parse_rows(lines_of(path), path.name, ratings=files.has_ratings)

    interactions, fold_in, holdout = map(rows, (files.interactions, files.fold_in, files.holdout))
    texts: dict[str, str] = {}
    if files.documents is not None:
        texts = parse_documents(lines_of(files.documents), files.documents.name)
    people: dict[str, int] = {}
    papers = {paper: number for number, paper in enumerate(texts)}
    for row in (*interactions, *fold_in, *holdout):
        people.setdefault(row.person, len(people))
        papers.setdefault(row.paper, len(papers))
    candidates = None
    if files.candidates is not None:
        candidates = parse_ids(lines_of(files.candidates), files.candidates.name)
        is_closed = files.documents is not None
        _take_candidates(candidates, papers, files.candidates.name, is_closed=is_closed)
    return _Read(
        interactions=interactions,
        fold_in=fold_in,
        holdout=holdout,
        candidates=candidates,
        texts=texts,
        people=people,
        papers=papers,
        has_ratings=files.has_ratings,
    )


def _take_candidates(
    candidates: Mapping[str, Place], papers: dict[str, int], file: str, *, is_closed: bool
) -> None:
    """Without documents any id may be that of a paper that nobody has; but not all of them.

    Raises InvalidInput where nothing could be found among the candidates.
    """
    if not is_closed and not papers.keys() & candidates.keys():
        raise InvalidInput(
            f"None of the {len(candidates):,} ids in {file} is in another file; name papers of the "
            "interactions or of the holdout."
        )
    for paper, place in candidates.items():
        if is_closed and paper not in papers:
            raise place.refuse(
                f"The candidate {paper!r} is in no other file; name papers of the documents, of "
                "the interactions or of the holdout."
            )
        papers.setdefault(paper, len(papers))
