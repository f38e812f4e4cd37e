"""What is in the catalogue."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session, selectinload

from service.catalogue.records import PaperFilter
from service.db import Place, newest_first
from service.errors import NotFound
from service.tables import CatalogueState, Paper

WITH_PARTS = (selectinload(Paper.authors), selectinload(Paper.identifiers))
"""What a paper is shown with."""


def get_paper(session: Session, paper_id: UUID) -> Paper:
    """Raises NotFound."""
    paper = session.scalar(select(Paper).where(Paper.public_id == paper_id).options(*WITH_PARTS))
    if paper is None:
        raise NotFound("There is no such paper.")
    return paper


def papers_page(
    session: Session,
    which: PaperFilter,
    *,
    after: Place | None,
    limit: int,
) -> Sequence[Paper]:
    """The papers added last come first; ``after`` is the place where the page before ended."""
    query = _matching(select(Paper), which).options(*WITH_PARTS)
    page = newest_first(query, Paper.added_at, Paper.public_id, after=after, limit=limit)
    return session.scalars(page).all()


def papers_by_id(session: Session, ids: Collection[int]) -> dict[int, Paper]:
    """Those of the papers that are there, with what they are shown with, by primary key."""
    papers = session.scalars(select(Paper).where(Paper.id.in_(ids)).options(*WITH_PARTS))
    return {paper.id: paper for paper in papers}


def papers_of_works(
    session: Session, works: Collection[int], preferred: Collection[int] = frozenset()
) -> dict[int, Paper]:
    """One paper for each work: one of those ``preferred``, by primary key, if there is one, and
    with an abstract."""
    rows = session.scalars(
        select(Paper).where(Paper.work_id.in_(works)).options(*WITH_PARTS).order_by(Paper.id)
    ).all()

    def preference(paper: Paper) -> tuple[bool, bool]:
        return paper.id in preferred, paper.abstract is not None

    best: dict[int, Paper] = {}
    for paper in rows:
        if paper.work_id not in best or preference(paper) > preference(best[paper.work_id]):
            best[paper.work_id] = paper
    return best


def catalogue_version(session: Session) -> int:
    return session.scalars(select(CatalogueState.catalogue_version)).one()


def n_papers(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(Paper)).one()


def _matching(query: Select[Paper], which: PaperFilter) -> Select[Paper]:
    conditions: list[ColumnElement[bool]] = [
        or_(
            Paper.display_title.icontains(word, autoescape=True),
            Paper.abstract_text.icontains(word, autoescape=True),
        )
        for word in which.words
    ]
    if which.venue is not None:
        conditions.append(func.lower(Paper.venue) == which.venue.lower())
    if which.year is not None:
        conditions.append(Paper.year == which.year)
    if which.list_name is not None:
        conditions.append(Paper.list_name == which.list_name)
    return query.where(*conditions)
