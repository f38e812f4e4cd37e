"""A row in every table there is, so that a test of constraints or migrations forgets none."""

from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.orm import Session

from service.tables import Base
from service.tables.base import ByValue, UtcDateTime
from tests.factories import NOW


def row_of_every_table(session: Session, *, user_id: int) -> None:
    """Add one row to each table that has none, filled by the types of its columns."""
    keys: dict[str, int] = {"user": user_id}
    for table in Base.metadata.sorted_tables:
        there = session.connection().scalar(sa.select(table.c.id).order_by(table.c.id).limit(1))
        if table.name not in keys and there is not None:
            keys[table.name] = there
        if table.name not in keys:
            values = {
                column.name: _value(column, keys) for column in table.columns if column.name != "id"
            }
            made = session.connection().execute(sa.insert(table).values(values))
            keys[table.name] = made.inserted_primary_key[0]


def _value(column: sa.Column[Any], keys: dict[str, int]) -> Any:
    for key in column.foreign_keys:
        if key.column.table is column.table:
            return None
        return keys[key.column.table.name]
    kind = column.type
    if isinstance(kind, ByValue):
        return next(iter(kind.of))
    if isinstance(kind, UtcDateTime):
        return NOW
    if isinstance(kind, sa.Uuid):
        return uuid4()
    if isinstance(kind, sa.JSON):
        return {"some": ["thing"]}
    if isinstance(kind, sa.LargeBinary):
        return b"\x00bytes"
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, sa.Float):
        return 0.5
    if isinstance(kind, sa.Integer):
        return {"year": 2026, "stars": 3}.get(column.name, 1)
    return "text"
