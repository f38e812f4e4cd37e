"""How imports went; every session here is bound to one person by ``scope()``."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, defer

from service.db import Place, newest_first
from service.errors import NotFound
from service.importers.formats import format_named
from service.tables import Import, ImportRow, Paper


def get_import(session: Session, user_id: int, import_id: UUID) -> Import:
    """Raises NotFound, for another person's too."""
    found = session.scalar(
        select(Import)
        .where(Import.user_id == user_id, Import.public_id == import_id)
        .options(defer(Import.content, raiseload=True))
    )
    if found is None:
        raise NotFound("There is no such import.")
    return found


def imports_page(
    session: Session, user_id: int, *, after: Place | None, limit: int
) -> Sequence[Import]:
    """The latest first."""
    query = (
        select(Import)
        .where(Import.user_id == user_id)
        .options(defer(Import.content, raiseload=True))
    )
    page = newest_first(query, Import.created_at, Import.public_id, after=after, limit=limit)
    return session.scalars(page).all()


def import_rows(
    session: Session, user_id: int, import_id: int, *, after_position: int, limit: int
) -> Sequence[tuple[ImportRow, Paper | None]]:
    """The entries in the order of the file, each with its paper."""
    return [
        (row, paper)
        for row, paper in session.execute(
            select(ImportRow, Paper)
            .outerjoin(Paper, Paper.id == ImportRow.paper_id)
            .where(
                ImportRow.user_id == user_id,
                ImportRow.import_id == import_id,
                ImportRow.position > after_position,
            )
            .order_by(ImportRow.position)
            .limit(limit)
        )
    ]


def rejected(session: Session, brought: Import) -> str:
    """A file of the entries that were not taken, to be mended and sent again.

    Raises NotFound where there is none.
    """
    sources = session.scalars(
        select(ImportRow.source)
        .where(
            ImportRow.user_id == brought.user_id,
            ImportRow.import_id == brought.id,
            ImportRow.source.is_not(None),
        )
        .order_by(ImportRow.position)
    ).all()
    if not sources or brought.format is None:
        raise NotFound("Nothing of this file was rejected.")
    return format_named(brought.format).join([source for source in sources if source])
