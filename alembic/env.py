"""Runs the migrations: from ``papershelf db upgrade``, ``alembic`` itself, or a test."""

from typing import Any, Literal

import sqlalchemy as sa
from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy.engine import Connection

from service.config import Settings
from service.db import make_engine
from service.tables import Base


def _render_item(kind: str, item: Any, _context: AutogenContext) -> str | Literal[False]:
    """Our own types as what they are in the database: a migration must not change with the code."""
    if kind == "type" and isinstance(item, sa.types.TypeDecorator):
        return f"sa.{item.impl!r}"
    return False


def _set_foreign_keys(connection: Connection, to: str) -> None:
    # By the driver, as SQLAlchemy would begin a transaction first, and in one SQLite ignores this.
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA foreign_keys={to}")


def _run(connection: Connection) -> None:
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite:
        # Rebuilding a table fires ON DELETE CASCADE and would empty the tables that point to it.
        connection.rollback()
        _set_foreign_keys(connection, "OFF")
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=is_sqlite,
        render_item=_render_item,
        compare_type=True,
        compare_server_default=True,
        transaction_per_migration=False,
    )
    try:
        with context.begin_transaction():
            context.run_migrations()
            if is_sqlite and (
                broken := connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            ):
                raise RuntimeError(f"the migration left rows that point nowhere: {broken[:5]}")
        if is_sqlite:
            connection.commit()
    finally:
        if is_sqlite:
            connection.rollback()
            _set_foreign_keys(connection, "ON")


given = context.config.attributes.get("connection")
if isinstance(given, Connection):
    _run(given)
elif isinstance(given, sa.Engine):
    with given.connect() as opened:
        _run(opened)
else:
    engine = make_engine(Settings.from_environment().database_url)
    with engine.connect() as opened:
        _run(opened)
    engine.dispose()
