"""Engines and sessions: one profile a database, and the walls between people's data.

SQLite runs in WAL mode with ``synchronous=FULL``, so that an acknowledged write survives a power
cut, and every writing transaction begins IMMEDIATE: one that reads first and writes later fails at
once, whatever the busy timeout, when somebody else wrote in between.
"""

import logging
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, ExceptionContext
from sqlalchemy.orm import (
    Mapped,
    ORMExecuteState,
    Session,
    mapped_column,
    sessionmaker,
    with_loader_criteria,
)
from sqlalchemy.sql import visitors

from service.errors import CannotStart, ServiceError

logger = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 5_000
Row = TypeVar("Row")

_WORD = re.compile(r"\w+")

_READS_ONLY: Final = "papershelf_reads_only"
_SCOPE: Final = "scope"


class Owned:
    """Mixin of tables whose rows are one person's own: reached through ``scope()`` only."""

    user_id: Mapped[int] = mapped_column(
        sa.ForeignKey("user.id", ondelete="CASCADE"), index=True, sort_order=-1
    )


class UnscopedQuery(RuntimeError):
    """A query on people's own rows that did not say whose."""


def make_engine(url: URL) -> Engine:
    """An engine with the profile of its database."""
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
    else:
        engine = sa.create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=10)
    event.listen(engine, "handle_error", _on_error)
    return engine


def _on_error(context: ExceptionContext) -> BaseException | None:
    """What a column type refuses comes out as what it is, not inside an SQLAlchemy error."""
    error = context.original_exception
    return error if isinstance(error, ServiceError) else None


def require_database(engine: Engine) -> None:
    """Raise CannotStart, with the driver's own words, where the database does not answer."""
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")
    except sa.exc.DBAPIError as error:
        why = str(error.orig).strip().splitlines()[0].removesuffix(".")
        where = engine.url.render_as_string(hide_password=True)
        raise CannotStart(
            f"The database {where} does not answer ({why}); start it, or correct DATABASE_URL."
        ) from error


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    # SQLite's own lower() knows ASCII only, and PostgreSQL's knows every alphabet.
    connection.create_function("lower", 1, _lower, deterministic=True)
    # The driver's own transaction handling neither rolls back DDL nor begins when asked.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _lower(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


def _on_sqlite_begin(connection: Connection) -> None:
    reads_only = bool(connection.get_execution_options().get(_READS_ONLY))
    connection.exec_driver_sql(f"PRAGMA query_only={'ON' if reads_only else 'OFF'}")
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")


class Sessions:
    """Makes sessions: ``reading()`` cannot write, ``writing()`` takes the write lock at once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        options: dict[str, Any] = {_READS_ONLY: True}
        if engine.dialect.name == "postgresql":
            options["postgresql_readonly"] = True
        self._reading = sessionmaker(engine.execution_options(**options), expire_on_commit=False)
        self._writing = sessionmaker(engine, expire_on_commit=False)
        for maker in (self._reading, self._writing):
            event.listen(maker, "do_orm_execute", _keep_in_scope)
            event.listen(maker, "before_flush", _flush_in_scope)

    def reading(self) -> Session:
        return self._reading()

    def writing(self) -> Session:
        return self._writing()


def scope(session: Session, user_id: int) -> Session:
    """Bind the session to one person: queries on owned tables see that person's rows only.

    Raises UnscopedQuery for a session that is another person's: it may remember their rows.
    """
    if session.info.get(_SCOPE) not in {None, user_id}:
        raise UnscopedQuery("a session that is bound to one person cannot be bound to another")
    session.info[_SCOPE] = user_id
    return session


def scoped_to(session: Session) -> int | None:
    """The person whose session this is; None for nobody's and the system's."""
    whose = session.info.get(_SCOPE)
    return whose if isinstance(whose, int) else None


@contextmanager
def system_scope(session: Session, reason: str) -> Iterator[Session]:
    """Let the session see everybody's rows, for the reason given; for jobs, for sign-in, and for
    counts of people that are too many to be guessed."""
    logger.debug("system scope: %s", reason)
    before = session.info.get(_SCOPE)
    session.info[_SCOPE] = "system"
    try:
        yield session
    finally:
        session.info[_SCOPE] = before


def _flush_in_scope(session: Session, _context: object, _instances: object) -> None:
    whose = session.info.get(_SCOPE)
    for row in (*session.new, *session.dirty, *session.deleted):
        if isinstance(row, Owned) and whose not in {"system", row.user_id}:
            raise UnscopedQuery(f"a change of {type(row).__name__} outside scope(session, user_id)")


def owned_tables() -> frozenset[str]:
    """Names of the tables whose rows belong to one person each."""
    return frozenset(cls.__tablename__ for cls in Owned.__subclasses__())  # type: ignore[attr-defined]


def _keep_in_scope(state: ORMExecuteState) -> None:
    whose = state.session.info.get(_SCOPE)
    if whose == "system":
        return
    names = owned_tables()
    elements = list(visitors.iterate(cast(sa.ClauseElement, state.statement)))
    owned = [e for e in elements if isinstance(e, sa.Table) and e.name in names]
    spelled_out = [
        word
        for element in elements
        if isinstance(element, sa.TextClause)
        for word in _WORD.findall(element.text)
        if word in names
    ]
    if spelled_out:
        raise UnscopedQuery(f"a query on {spelled_out[0]} as SQL text, which scope() cannot read")
    if not owned:
        return
    if whose is None:
        raise UnscopedQuery(f"a query on {owned[0].name} without scope(session, user_id)")
    if _cannot_be_filtered(state):
        raise UnscopedQuery(f"a query on {owned[0].name} of a form that scope() does not reach")
    if not state.is_insert:
        state.statement = state.statement.options(
            with_loader_criteria(Owned, lambda cls: cls.user_id == whose, include_aliases=True)
        )


def _cannot_be_filtered(state: ORMExecuteState) -> bool:
    """The filter works on queries of classes; a bare table, a UNION and a copy pass it by."""
    if isinstance(state.statement, sa.Insert):
        return state.statement.select is not None
    return not state.is_orm_statement or isinstance(state.statement, sa.CompoundSelect)


def insert_if_new(
    session: Session, table: type[Row], values: dict[str, Any], *, unique: Sequence[str]
) -> Row | None:
    """Insert a row, or return None if one with the same ``unique`` columns is there.

    Select-then-insert would lose to a double click; this cannot.
    """
    dialect = session.get_bind().dialect.name
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    statement = insert(table).values(**values).on_conflict_do_nothing(index_elements=list(unique))
    return session.scalar(statement.returning(table))


Place = tuple[datetime, uuid.UUID]
"""Where a page ended: the time and the public id of its last row."""


def newest_first(
    query: sa.Select[Row], at: Any, public_id: Any, *, after: Place | None, limit: int
) -> sa.Select[Row]:
    """One page by keyset: it skips and repeats nothing, whatever is added meanwhile."""
    if after is not None:
        last_at, last_id = after
        query = query.where(sa.or_(at < last_at, sa.and_(at == last_at, public_id > last_id)))
    return query.order_by(at.desc(), public_id).limit(limit)
