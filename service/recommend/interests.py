"""A person's interests today: groups of what they like, each with what they set for it.

The groups are worked out from the library and the live model whenever either has changed; rows in
the database say which group is which interest. Reading needs no writing as long as the rows
still fit; ``remember_interests`` brings them up to date when they do not.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.feedback import History, to_confidence
from models.ranking.interest_identity import anchors_of, contained, matched, overlap
from models.ranking.interest_names import distinctive_terms, readable
from models.ranking.interests import Interests, Known, find_interests
from models.ranking.proportions import Portfolio, damping
from service.catalogue.queries import papers_of_works
from service.errors import InvalidInput, NotFound
from service.interests.actions import has_settings, lock_interests, remember
from service.interests.queries import remembered_interests, root_of
from service.interests.records import Sighting
from service.recommend.dataset import history_of
from service.recommend.live_model import Live, LiveModel
from service.recommend.records import InterestName, InterestSummary
from service.tables import Bookmark, Interest, Paper

STILL_FITS = 0.8
"""Rows are written again when less of the papers than this is still the same."""
PART_OF = 0.5
"""A new group breaks off an interest that had at least so much of its papers."""
MOST_TERMS = 8
TERMS_LOOKED_AT = 40
"""Terms before those without a readable form and parts of compounds are dropped."""
NAME_TERMS = 3
TYPICAL = 10
"""Papers of an interest that are read for how its terms are written."""
SAMPLE_PAPERS = 3
UNNAMED = "Everything else"
"""Of papers without words."""

Works = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class MyInterests:
    """The interests of one person: ``groups`` of papers, one or more of them to each of ``roots``.

    ``rows`` has the row of each group, None for a group that is not remembered yet; ``unit_of``
    tells which of the ``roots`` it belongs to, which is another row if it is merged. They were
    found with what was ``remembered``.
    """

    live: Live
    history: History
    remembered: Sequence[Interest]
    found: Interests
    groups: tuple[Works, ...]
    rows: tuple[Interest | None, ...]
    roots: tuple[Interest | None, ...]
    unit_of: Works

    @cached_property
    def portfolio(self) -> Portfolio:
        """What the recommender is to make of them."""
        own = [0.0 if row and row.muted else row.weight if row else 1.0 for row in self.roots]
        damped = damping(self.live.model, self.found, self.unit_of, len(self.roots), self.history)
        weights = (np.array(own, np.float32) * damped).astype(np.float32)
        return Portfolio(found=self.found, unit_of=self.unit_of, weights=weights)

    @property
    def still_fit(self) -> bool:
        """Whether the rows are those of the groups of today."""
        return all(
            row is not None and overlap(np.array(row.anchors, np.int64), group) >= STILL_FITS
            for row, group in zip(self.rows, self.groups, strict=True)
        )

    def works_of(self, interest_id: UUID) -> Works:
        """The works of an interest, or of one that is merged into another, typical ones first.

        Raises NotFound for one that has no papers today.
        """
        units = [
            unit for unit, row in enumerate(self.roots) if row and row.public_id == interest_id
        ]
        own = [group for group, row in enumerate(self.rows) if row and row.public_id == interest_id]
        chosen = np.flatnonzero(np.isin(self.unit_of, units)) if units else np.array(own, np.int64)
        if len(chosen) == 0:
            raise NotFound("There is no such interest.")
        return self._typical(chosen)

    def name_of(self, unit: int | None) -> InterestName | None:
        """Where a recommendation comes from; None while the interest is not remembered."""
        row = None if unit is None else self.roots[unit]
        return InterestName(id=row.public_id, name=shown_name(row)) if row else None

    def shares(self) -> NDArray[np.float32]:
        """The share of a slate that each interest is to have, (u,) float32, summing to 1 or 0."""
        confidence = np.maximum(to_confidence(self.history), 0)
        units = self.portfolio.units(self.history.item_ids)
        known = units >= 0
        sums = np.bincount(units[known], weights=confidence[known], minlength=len(self.roots))
        wanted = sums * self.portfolio.weights
        return np.asarray(wanted / max(float(wanted.sum()), 1e-9), np.float32)

    def of_unit(self, unit: int) -> Works:
        return self._typical(np.flatnonzero(self.unit_of == unit))

    def _typical(self, groups: Works) -> Works:
        own = np.isin(self.found.groups, groups)
        ids, likeness = self.found.item_ids[own], self.found.likeness[own]
        return ids[np.lexsort((ids, -likeness))]


def interests_of(
    session: Session, live_model: LiveModel, live: Live, user_id: int, history: History
) -> MyInterests:
    """The interests of one person under one model, in a session bound to that person."""
    remembered = remembered_interests(session, user_id)
    liked, before = _liked(history), _known(remembered)
    key = (live.generation, live.catalogue_version, _digest(liked, before))
    found = live_model.interests.get(key, lambda: find_interests(live.model, liked, before))
    return _with_rows(live, history, remembered, found)


def interests_without(mine: MyInterests, work: int) -> MyInterests:
    """The interests as they would be found if the person had never met this work."""
    history = mine.history.without(np.array([work], np.int64))
    liked, found = _liked(history), mine.found
    if len(liked) < len(_liked(mine.history)):
        found = find_interests(mine.live.model, liked, _known(mine.remembered))
    return _with_rows(mine.live, history, mine.remembered, found)


def _with_rows(
    live: Live, history: History, remembered: Sequence[Interest], found: Interests
) -> MyInterests:
    groups = tuple(
        anchors_of(found.item_ids[found.groups == group]) for group in range(found.n_groups)
    )
    rows = _rows_of(found, groups, [row for row, _ in _held_first(remembered)])
    by_id = {row.id: row for row in remembered}
    keys = [root_of(row, by_id) if row else number for number, row in enumerate(rows)]
    units = list(dict.fromkeys(keys))
    return MyInterests(
        live=live,
        history=history,
        remembered=remembered,
        found=found,
        groups=groups,
        rows=tuple(rows),
        roots=tuple(unit if isinstance(unit, Interest) else None for unit in units),
        unit_of=np.array([units.index(key) for key in keys], np.int64),
    )


def _liked(history: History) -> Works:
    return np.unique(history.item_ids[to_confidence(history) > 0])


def _known(remembered: Sequence[Interest]) -> list[Known]:
    return [
        Known(item_ids=np.array(row.anchors, np.int64), is_set=is_set)
        for row, is_set in _held_first(remembered)
    ]


def _held_first(remembered: Sequence[Interest]) -> list[tuple[Interest, bool]]:
    """The rows and whether the person has set anything; of two that name a paper, the one first
    that was there the last time, and then the one that is set."""
    targets = {row.merged_into_id for row in remembered}
    marked = [(row, has_settings(row) or row.id in targets) for row in remembered]
    return sorted(marked, key=lambda one: (one[0].matched_at, one[1], -one[0].id), reverse=True)


def _digest(liked: Works, before: Sequence[Known]) -> bytes:
    told = hashlib.blake2b(liked.tobytes())
    for one in before:
        told.update(b"set" if one.is_set else b"found")
        told.update(one.item_ids.tobytes())
    return told.digest()


def _rows_of(
    found: Interests, groups: Sequence[Works], known: Sequence[Interest]
) -> list[Interest | None]:
    """The row of each group: the one that it was held for, or else one of whose papers it has."""
    rows = [None if place < 0 else known[place] for place in found.known.tolist()]
    left = [row for row in known if row not in rows]
    new = [group for group, row in enumerate(rows) if row is None]
    anchors = [np.array(row.anchors, np.int64) for row in left]
    for group, place in zip(new, matched(anchors, [groups[g] for g in new]), strict=True):
        rows[group] = None if place is None else left[place]
    return rows


def read_interests(
    session: Session, live_model: LiveModel, user_id: int, *, now: datetime
) -> MyInterests:
    """The interests of one person under the live model."""
    live = live_model.current(session, now=now)
    history = history_of(session, user_id, now=now)
    return interests_of(session, live_model, live, user_id, history)


def remember_interests(
    session: Session, live_model: LiveModel, user_id: int, *, now: datetime
) -> MyInterests:
    """The same, with a row for each group and every name as of today; in a writing session."""
    lock_interests(session, user_id)
    mine = read_interests(session, live_model, user_id, now=now)
    known = remembered_interests(session, user_id)
    remember(
        session,
        user_id,
        [
            Sighting(
                interest=row,
                anchors=group.tolist(),
                broken_off=None if row else _whole_of(group, known),
            )
            for row, group in zip(mine.rows, mine.groups, strict=True)
        ],
        now=now,
    )
    mine = interests_of(session, live_model, mine.live, user_id, mine.history)
    _name(session, mine)
    return mine


def _whole_of(group: Works, known: Sequence[Interest]) -> Interest | None:
    """The interest that most of a new group's papers were in until now."""
    shares = [contained(group, np.array(row.anchors, np.int64)) for row in known]
    best = max(range(len(known)), key=lambda i: shares[i], default=None)
    return known[best] if best is not None and shares[best] >= PART_OF else None


def _name(session: Session, mine: MyInterests) -> None:
    """Give each root, and each interest that is merged into one, its terms."""
    merged = [group for group, row in enumerate(mine.rows) if row and row not in mine.roots]
    parts = [mine.of_unit(unit) for unit in range(len(mine.roots))]
    for row, terms in zip(mine.roots, _terms(session, mine, parts), strict=True):
        if row is not None and row.terms != terms:
            row.terms = terms
    for group in merged:
        row, unit = mine.rows[group], mine.unit_of[group]
        others = [part for number, part in enumerate(parts) if number != unit]
        own = mine.found.members(group)
        if row is not None:
            row.terms = _terms(session, mine, [own, *others])[0]
    session.flush()


def _terms(session: Session, mine: MyInterests, parts: Sequence[Works]) -> list[list[str]]:
    terms = distinctive_terms(mine.live.model, parts, most=TERMS_LOOKED_AT)
    papers = _papers_to_show(session, [work for part in parts for work in part[:TYPICAL].tolist()])
    return [
        list(
            readable(
                found,
                [_text(papers[work]) for work in part[:TYPICAL].tolist() if work in papers],
                most=MOST_TERMS,
            )
        )
        for found, part in zip(terms, parts, strict=True)
    ]


def _text(paper: Paper) -> str:
    return "\n".join(
        filter(None, (paper.display_title if paper.title else "", paper.abstract_text))
    )


def shown_name(row: Interest) -> str:
    """The person's own name for it, or the derived one."""
    return row.name or derived_name(row)


def derived_name(row: Interest) -> str:
    return ", ".join(row.terms[:NAME_TERMS]) or UNNAMED


# ---- What is shown -----------------------------------------------------------------------------


def summaries(session: Session, mine: MyInterests) -> list[InterestSummary]:
    """The interests with papers today, the largest share of the library first."""
    shares = mine.shares()
    works = [mine.of_unit(unit) for unit in range(len(mine.roots))]
    samples = [part[:SAMPLE_PAPERS].tolist() for part in works]
    papers = _papers_to_show(session, [work for sample in samples for work in sample])
    found = [
        _summary(
            mine, row, len(works[unit]), float(shares[unit]), [papers[w] for w in samples[unit]]
        )
        for unit, row in enumerate(mine.roots)
        if row is not None
    ]
    return sorted(found, key=lambda one: -one.n_papers)


def summary_of(session: Session, mine: MyInterests, interest_id: UUID) -> InterestSummary:
    """One of them, or one that is merged into another. Raises NotFound."""
    for one in summaries(session, mine):
        if one.id == interest_id:
            return one
    works = mine.works_of(interest_id)
    row = next(row for row in mine.rows if row and row.public_id == interest_id)
    sample = works[:SAMPLE_PAPERS].tolist()
    papers = _papers_to_show(session, sample)
    return _summary(mine, row, len(works), 0.0, [papers[work] for work in sample])


def _summary(
    mine: MyInterests, row: Interest, n_papers: int, share: float, papers: Sequence[Paper]
) -> InterestSummary:
    unit = mine.roots.index(row) if row in mine.roots else None
    merged = sorted(
        (
            other
            for other in mine.rows
            if other
            and other is not row
            and unit is not None
            and mine.roots[mine.unit_of[mine.rows.index(other)]] is row
        ),
        key=lambda other: other.id,
    )
    into = None
    if unit is None:
        into = mine.roots[mine.unit_of[mine.rows.index(row)]]
    return InterestSummary(
        id=row.public_id,
        name=shown_name(row),
        derived_name=derived_name(row),
        terms=tuple(row.terms),
        n_papers=n_papers,
        share=round(share, 6),
        weight=row.weight,
        muted=row.muted,
        merged=tuple(InterestName(id=one.public_id, name=shown_name(one)) for one in merged),
        merged_into=into.public_id if into else None,
        papers=tuple(papers),
        version=row.version,
    )


def state_of(shown: InterestSummary) -> int:
    """A number that changes with whatever is shown of an interest, 0 to 999,999,999."""
    papers = [(paper.id, paper.version) for paper in shown.papers]
    told = (shown.name, shown.terms, shown.n_papers, shown.share, shown.merged, papers)
    return crc32(repr(told).encode("utf-8", "backslashreplace")) % 1_000_000_000


def papers_page(
    session: Session, mine: MyInterests, interest_id: UUID, *, after: int, limit: int
) -> list[tuple[int, Paper]]:
    """Papers of one interest with their places from 1, the most typical first. Raises NotFound."""
    works = mine.works_of(interest_id)[after : after + limit].tolist()
    papers = _papers_to_show(session, works)
    return [(after + n + 1, papers[work]) for n, work in enumerate(works) if work in papers]


def _papers_to_show(session: Session, works: Collection[int]) -> dict[int, Paper]:
    """One paper for each work: the one that the person saved, or else one with an abstract."""
    saved = session.scalars(
        select(Bookmark.paper_id)
        .join(Paper, Paper.id == Bookmark.paper_id)
        .where(Paper.work_id.in_(works))
    )
    return papers_of_works(session, works, set(saved))


def seeds_of(mine: MyInterests, interest_id: UUID) -> Works:
    """The works to go by where one interest is asked for. Raises InvalidInput."""
    try:
        return mine.works_of(interest_id)
    except NotFound as error:
        raise InvalidInput("None of your interests has this id.", field="interest") from error
