"""One list made of two, so that people's choices tell which of the two they like better."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from models import AnyIntArray, BoolArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Interleaved:
    """``item_ids`` (n,) int64 best first, none twice; ``second`` (n,) bool: whose team each is in.

    An item of the second team was proposed by the second list, any other by the first.
    """

    item_ids: IntArray
    second: BoolArray


def team_draft(
    first: AnyIntArray, second: AnyIntArray, *, limit: int, rng: np.random.Generator
) -> Interleaved:
    """Team-draft interleaving of two ranked lists without duplicates, at most ``limit`` long.

    In each round a coin says which list chooses before the other, and each then adds its best item
    that is not there yet. So both teams are as large, to within one, and as high up on average: if
    people have no preference, either team gets a chosen item with probability 1/2. A list that has
    run out leaves the rest to the other. Radlinski, Kurup & Joachims, CIKM 2008, algorithm 2.
    """
    lists = ([int(i) for i in first], [int(i) for i in second])
    limit = min(limit, len(set(lists[0]) | set(lists[1])))
    places = [0, 0]
    chosen: list[int] = []
    teams: list[bool] = []
    taken: set[int] = set()
    while len(chosen) < limit:
        begins = int(rng.integers(2))
        for team in (begins, 1 - begins):
            item = _next(lists[team], places, team, taken)
            if item is not None and len(chosen) < limit:
                chosen.append(item)
                teams.append(team == 1)
                taken.add(item)
    return Interleaved(item_ids=np.array(chosen, np.int64), second=np.array(teams, np.bool_))


def draft_chances(first: AnyIntArray, second: AnyIntArray, *, limit: int) -> Mapping[int, float]:
    """The chance of each item of the two lists to be in their :func:`team_draft`, exactly.

    What is taken is always the beginning of either list, up to the last item that its team chose;
    so two numbers are the state of a draft, and each round leads from one to at most two others.
    """
    lists = ([int(i) for i in first], [int(i) for i in second])
    limit = min(limit, len(set(lists[0]) | set(lists[1])))
    drafts: dict[tuple[int, int], float] = {(0, 0): 1.0}
    for _ in range(limit):  # a round takes one item at least, until there are enough
        after: dict[tuple[int, int], float] = defaultdict(float)
        for state, chance in drafts.items():
            for begins in (0, 1):
                chosen = _then(lists, _then(lists, state, begins, limit), 1 - begins, limit)
                after[chosen] += chance / 2
        if after.keys() == drafts.keys():
            break
        drafts = after
    chances = dict.fromkeys(chain(*lists), 0.0)
    for state, chance in drafts.items():
        for item in _taken(lists, state):
            chances[item] += chance
    return chances


def _then(
    lists: Sequence[list[int]], state: tuple[int, int], team: int, limit: int
) -> tuple[int, int]:
    """The state after the team has chosen, if it may and can."""
    taken = _taken(lists, state)
    own = lists[team]
    place = next((i for i in range(state[team], len(own)) if own[i] not in taken), None)
    if place is None or len(taken) >= limit:
        return state
    return (state[0], place + 1) if team else (place + 1, state[1])


def _taken(lists: Sequence[list[int]], state: tuple[int, int]) -> set[int]:
    return {*lists[0][: state[0]], *lists[1][: state[1]]}


def _next(ranked: list[int], places: list[int], team: int, taken: set[int]) -> int | None:
    """The best item of a list that is not taken; its place moves on past those that are."""
    while places[team] < len(ranked) and ranked[places[team]] in taken:
        places[team] += 1
    return ranked[places[team]] if places[team] < len(ranked) else None
