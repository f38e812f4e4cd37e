"""How many other people keep two papers: the one thing an explanation says of anybody else."""

from collections.abc import Collection, Mapping

from sqlalchemy import Integer, Subquery, and_, column, func, select, values
from sqlalchemy.orm import Session

from service.db import system_scope
from service.tables import Bookmark, Paper

FEWEST_READERS = 3
"""With one or two, those who know the lab would know the person; fewer are never told."""

Pair = tuple[int, int]


def readers_of_both(session: Session, pairs: Collection[Pair], *, but: int) -> Mapping[Pair, int]:
    """How many people keep both works of each of the pairs.

    The person ``but`` is not counted, whose own library would tell them nothing; a pair with fewer
    than FEWEST_READERS is left out in the database already, as is a work paired with itself. Any
    paper of a work counts for it. One query, of everybody's bookmarks, that lets numbers out only.
    """
    wanted = sorted({(work, other) for work, other in pairs if work != other})
    if not wanted:
        return {}
    columns = column("work_id", Integer), column("other_id", Integer)
    pair = values(*columns, name="pair").data(wanted).cte("pair")
    one, other = (_keepers({of_pair[i] for of_pair in wanted}, but) for i in (0, 1))
    n_readers = func.count()
    is_other = and_(other.c.work_id == pair.c.other_id, other.c.user_id == one.c.user_id)
    query = (
        select(pair.c.work_id, pair.c.other_id, n_readers)
        .join(one, one.c.work_id == pair.c.work_id)
        .join(other, is_other)
        .group_by(pair.c.work_id, pair.c.other_id)
        .having(n_readers >= FEWEST_READERS)
    )
    with system_scope(session, "how many readers two papers share"):
        return {(work, another): n for work, another, n in session.execute(query)}


def _keepers(works: Collection[int], but: int) -> Subquery:
    """Who keeps which of the works, each once."""
    return (
        select(Bookmark.user_id, Paper.work_id)
        .join(Paper, Paper.id == Bookmark.paper_id)
        .where(Paper.work_id.in_(works), Bookmark.user_id != but)
        .distinct()
        .subquery()
    )
