"""Which papers a wish leaves to choose from, and help for who names a thing that is not there.

A restriction is one condition on papers; a work may be recommended if one of its papers meets them
all. A further way to restrict is one more :class:`Restriction`.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, date
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from service.errors import InvalidInput
from service.recommend.records import Wish
from service.tables import Paper

MOST_NAMES = 2_000
"""Names, the commonest first, among which one is looked for that somebody may have meant."""
MOST_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """The papers that ``field`` of a wish leaves."""

    field: str
    condition: ColumnElement[bool]


def restrictions_of(session: Session, wish: Wish) -> list[Restriction]:
    """What the wish asks of a paper, each by itself; none if it takes every paper.

    Raises InvalidInput for a venue or a listing that no paper has, with names near to it, and for
    years that end before they begin.
    """
    if wish.year_from and wish.year_to and wish.year_from > wish.year_to:
        raise InvalidInput(
            f"year_to={wish.year_to} is before year_from={wish.year_from}.", field="year_to"
        )
    for venue in wish.venues:
        _check_known(session, Paper.venue, venue, is_venue([venue]), "venue", "venue")
    if wish.list_name is not None:
        condition = Paper.list_name == wish.list_name
        _check_known(session, Paper.list_name, wish.list_name, condition, "list_name", "listing")
    return list(_restrictions(wish))


def allowed_works(
    session: Session, restrictions: Sequence[Restriction]
) -> NDArray[np.int64] | None:
    """The works with a paper that meets all of them, int64; None without any restriction."""
    if not restrictions:
        return None
    conditions = (one.condition for one in restrictions)
    works = session.scalars(select(Paper.work_id).where(*conditions).distinct()).all()
    return np.array(works, dtype=np.int64)


def fitting_papers(
    session: Session, restrictions: Sequence[Restriction], works: Collection[int]
) -> set[int]:
    """Which papers of these works meet all of them, by primary key."""
    if not restrictions:
        return set()
    conditions = (one.condition for one in restrictions)
    return set(session.scalars(select(Paper.id).where(Paper.work_id.in_(works), *conditions)))


def is_venue(names: Sequence[str]) -> ColumnElement[bool]:
    """Capitals aside; SQLite only knows those of ASCII, so the name as it is counts as well."""
    return or_(
        Paper.venue.in_(names), func.lower(Paper.venue).in_([name.lower() for name in names])
    )


def earliest_year(published_after: date) -> int:
    """The first year of which a paper may have been published after the day.

    Of a paper only the year is known; it is left in unless its whole year was over by that day.
    """
    is_last = (published_after.month, published_after.day) == (12, 31)
    return min(published_after.year + is_last, MAXYEAR)


def _restrictions(wish: Wish) -> Iterator[Restriction]:
    if wish.venues:
        yield Restriction(field="venue", condition=is_venue(wish.venues))
    if wish.year_from is not None:
        yield Restriction(field="year_from", condition=Paper.year >= wish.year_from)
    if wish.year_to is not None:
        yield Restriction(field="year_to", condition=Paper.year <= wish.year_to)
    if wish.published_after is not None:
        year = earliest_year(wish.published_after)
        yield Restriction(field="published_after", condition=Paper.year >= year)
    if wish.list_name is not None:
        yield Restriction(field="list_name", condition=Paper.list_name == wish.list_name)


def _check_known(
    session: Session,
    column: InstrumentedAttribute[str | None],
    name: str,
    condition: ColumnElement[bool],
    field: str,
    kind: str,
) -> None:
    if session.scalar(select(Paper.id).where(condition).limit(1)) is not None:
        return
    known = session.scalars(
        select(column)
        .where(column.is_not(None))
        .group_by(column)
        .order_by(func.count().desc(), column)
        .limit(MOST_NAMES)
    )
    near = near_names(name, [one for one in known if one])
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InvalidInput(f"No paper has the {kind} {name[:100]}.{hint}", field=field)


def near_names(name: str, known: Sequence[str]) -> list[str]:
    """At most three of the known names: those it is a part of or that are a part of it, then those
    spelt alike."""
    folded = {one.casefold(): one for one in reversed(known)}
    wanted = name.casefold()
    around = [one for one in folded if wanted in one or one in wanted]
    around.sort(key=lambda one: (abs(len(one) - len(wanted)), one))
    alike = get_close_matches(wanted, folded, n=MOST_SUGGESTIONS)
    found = list(dict.fromkeys([*around, *alike]))
    return [folded[one] for one in found[:MOST_SUGGESTIONS]]
