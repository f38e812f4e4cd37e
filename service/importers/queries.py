"""How imports went; every session here is bound to one person by ``scope()``."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session, defer

from service.errors import NotFound
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
    session: Session, user_id: int, *, after: tuple[datetime, UUID] | None, limit: int
) -> Sequence[Import]:
    """The latest first."""
    query = (
        select(Import)
        .where(Import.user_id == user_id)
        .options(defer(Import.content, raiseload=True))
    )
    if after is not None:
        at, public_id = after
        query = query.where(
            or_(Import.created_at < at, and_(Import.created_at == at, Import.public_id > public_id))
        )
    return session.scalars(
        query.order_by(Import.created_at.desc(), Import.public_id).limit(limit)
    ).all()


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
