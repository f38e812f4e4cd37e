"""Throw-away databases: one migrated template a run, a fresh copy or an emptied one a test."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from service.config import Settings
from service.db import make_engine
from service.tables import Base
from service.tables.migrations import upgrade

POSTGRES_VARIABLE = "PAPERSHELF_TEST_POSTGRES"
USUAL_SOCKETS = ("/var/run/postgresql", "/tmp")


def postgres_server() -> URL | None:
    """Where tests may make databases: the server of the environment, or one at a usual socket.

    Set the variable to ``off`` to have none.
    """
    named = os.environ.get(POSTGRES_VARIABLE)
    if named == "off":
        return None
    if named:
        return make_url(named).set(drivername="postgresql+psycopg")
    for folder in USUAL_SOCKETS:
        for socket in sorted(Path(folder).glob(".s.PGSQL.*[0-9]")):
            url = sa.URL.create(
                "postgresql+psycopg",
                database="postgres",
                query={"host": folder, "port": socket.suffix[1:]},
            )
            if _may_create(url):
                return url
    return None


def migrated_sqlite(file: Path) -> Path:
    engine = make_engine(make_url(f"sqlite:///{file}"))
    upgrade(engine)
    engine.dispose()
    return file


def copied_sqlite(template: Path, folder: Path) -> URL:
    shutil.copyfile(template, folder / "papershelf.db")
    return make_url(f"sqlite:///{folder / 'papershelf.db'}")


@contextmanager
def migrated_postgres(server: URL) -> Iterator[URL]:
    """A database of this run, gone afterwards."""
    name = f"papershelf_test_{token_hex(6)}"
    administration = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    with administration.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8'")
    try:
        url = server.set(database=name)
        engine = make_engine(url)
        upgrade(engine)
        engine.dispose()
        yield url
    finally:
        with administration.connect() as connection:
            connection.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')
        administration.dispose()


def empty(engine: sa.Engine) -> None:
    """Leave a database as it is after its migrations."""
    with engine.begin() as connection:
        # For a handful of rows DELETE is fifty times as fast as TRUNCATE.
        for table in reversed(Base.metadata.sorted_tables):
            if table.name != "catalogue_state":
                connection.execute(sa.delete(table))
        connection.exec_driver_sql("UPDATE catalogue_state SET catalogue_version = 0")


def _may_create(url: URL) -> bool:
    engine = sa.create_engine(url, connect_args={"connect_timeout": 2})
    try:
        with engine.connect() as connection:
            return bool(
                connection.exec_driver_sql(
                    "SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user"
                ).scalar()
            )
    except sa.exc.OperationalError:
        return False
    finally:
        engine.dispose()


def settings_for(url: URL, folder: Path) -> Settings:
    return Settings(
        data_folder=folder,
        database_url=url,
        secret_key="a key for tests that is long enough",
        public_url="http://papershelf.test",
        host="127.0.0.1",
        port=8000,
        redis_url=None,
        log_level="WARNING",
    )
