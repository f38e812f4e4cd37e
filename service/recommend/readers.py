"""How many other people keep two papers: the one thing an explanation says of anybody else."""

from collections.abc import Collection, Mapping

from sqlalchemy import Subquery, func, select
from sqlalchemy.orm import Session

from service.db import system_scope
from service.tables import Bookmark, Paper

FEWEST_READERS = 3
"""With one or two, those who know the lab would know the person; fewer are never told."""

Pair = tuple[int, int]


def readers_of_both(
    session: Session, works: Collection[int], others: Collection[int], *, but: int
) -> Mapping[Pair, int]:
    """How many people keep one of the ``works`` and one of the ``others``, by (work, other).

    The person ``but`` is not counted, whose own library would tell them nothing; a pair with fewer
    than FEWEST_READERS is left out in the database already, as is a work paired with itself. Any
    paper of a work counts for it. One query, of everybody's bookmarks, that lets numbers out only.
    """
    if not works or not others:
        return {}
    one, other = _keepers(works, but), _keepers(others, but)
    n_readers = func.count()
    query = (
        select(one.c.work_id, other.c.work_id, n_readers)
        .join(other, other.c.user_id == one.c.user_id)
        .where(one.c.work_id != other.c.work_id)
        .group_by(one.c.work_id, other.c.work_id)
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
