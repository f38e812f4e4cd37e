"""How many other people keep two papers: the one thing an explanation says of anybody else."""

from collections.abc import Collection, Mapping

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

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
    one, other = aliased(Bookmark), aliased(Bookmark)
    paper, other_paper = aliased(Paper), aliased(Paper)
    n_readers = func.count(one.user_id.distinct())
    query = (
        select(paper.work_id, other_paper.work_id, n_readers)
        .select_from(one)
        .join(paper, paper.id == one.paper_id)
        .join(other, other.user_id == one.user_id)
        .join(other_paper, other_paper.id == other.paper_id)
        .where(
            paper.work_id.in_(works),
            other_paper.work_id.in_(others),
            paper.work_id != other_paper.work_id,
            one.user_id != but,
        )
        .group_by(paper.work_id, other_paper.work_id)
        .having(n_readers >= FEWEST_READERS)
    )
    with system_scope(session, "how many readers two papers share"):
        return {(work, another): n for work, another, n in session.execute(query)}
