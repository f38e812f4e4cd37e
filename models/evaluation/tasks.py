"""What a recommender is asked to do in an evaluation: learn from this, find that for these people.

However the data was split (by time, at random, by files of one's own), it comes to one form here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np

from models import AnyIntArray, BoolArray, IntArray
from models.feedback import History, to_confidence
from models.training import TrainingSet

NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidences:
    """What several people did: ``user_ids`` (n,) int64, whose each row of ``history`` is."""

    user_ids: IntArray
    history: History

    @classmethod
    def none(cls) -> "Evidences":
        """Nobody has done anything."""
        return cls(user_ids=np.zeros(0, np.int64), history=History.empty())

    def __len__(self) -> int:
        return len(self.user_ids)

    def chosen(self, rows: AnyIntArray | BoolArray) -> "Evidences":
        """These rows only, by a mask or by their numbers."""
        return Evidences(user_ids=self.user_ids[rows], history=self.history.where(rows))

    def joined(self, other: "Evidences") -> "Evidences":
        """These rows and then the other's."""
        columns = {
            column.name: np.concatenate(
                [getattr(self.history, column.name), getattr(other.history, column.name)]
            )
            for column in fields(History)
        }
        return Evidences(
            user_ids=np.concatenate([self.user_ids, other.user_ids]), history=History(**columns)
        )

    def by_person(self) -> Iterator[tuple[int, History]]:
        """Each person with their rows, in ascending order of id."""
        order = np.argsort(self.user_ids, kind="stable")
        people, starts = np.unique(self.user_ids[order], return_index=True)
        ends = np.append(starts, len(order))[1:]
        for person, start, end in zip(people, starts, ends, strict=True):
            yield int(person), self.history.where(order[start:end])


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Somebody who is judged, by ids of papers.

    ``known`` is all that the recommender is told of the person, and never shown to them;
    ``relevant`` (r,) int64, r ≥ 1, is what they should be shown; ``excluded`` (e,) is not shown
    either, as it is held back for another purpose.
    """

    known: History
    relevant: IntArray
    excluded: IntArray = field(default_factory=NO_IDS.copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Train on ``training``, then rank for each of ``people``: the papers ``allowed``, None: all.

    ``n_unknown`` people had something hidden but nothing liked is known of them;
    ``n_nothing_to_find`` of the others had nothing hidden that may be ranked. Of the hidden rows
    ``n_to_find`` are to be found, ``n_known_already`` are known of their person anyway.
    """

    training: TrainingSet
    people: tuple[Judged, ...]
    allowed: IntArray | None = None
    n_unknown: int = 0
    n_nothing_to_find: int = 0
    n_known_already: int = 0

    @property
    def n_to_find(self) -> int:
        return sum(len(person.relevant) for person in self.people)


def task_of(
    training: TrainingSet, known: Evidences, hidden: Evidences, *, allowed: IntArray | None = None
) -> Task:
    """Find the liked rows of ``hidden`` for everybody of whom something liked is ``known``.

    A hidden row that is known as well, or is not ``allowed``, is not to be found: it may not be
    shown. ``known`` may be about people who are not in ``training``: they are folded in.
    """
    of_person = dict(known.by_person())
    people = []
    n_unknown = n_nothing = n_known_already = 0
    for person, wanted in hidden.by_person():
        own = of_person.get(person, History.empty())
        liked = np.unique(wanted.item_ids[to_confidence(wanted) > 0])
        is_known = np.isin(liked, own.item_ids)
        n_known_already += int(is_known.sum())
        relevant = liked[~is_known]
        if allowed is not None:
            relevant = np.intersect1d(relevant, allowed)
        if not np.any(to_confidence(own) > 0):
            n_unknown += 1
        elif len(relevant) == 0:
            n_nothing += 1
        else:
            people.append(Judged(known=own, relevant=relevant))
    return Task(
        training=training,
        people=tuple(people),
        allowed=allowed,
        n_unknown=n_unknown,
        n_nothing_to_find=n_nothing,
        n_known_already=n_known_already,
    )
