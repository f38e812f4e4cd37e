"""The databases, the application, and the cast: Alice owns, Bob is another, Root administers.

The service is imported by the fixtures that need it, so that tests of ``models/`` need none of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import URL

from tests import databases

if TYPE_CHECKING:
    from flask import Flask
    from flask.testing import FlaskClient

    from service.config import Settings
    from service.runtime import Runtime
    from tests.factories import Api, Person

SERVER = databases.postgres_server()
DATABASES = ("sqlite", "postgresql") if SERVER is not None else ("sqlite",)


def pytest_configure() -> None:
    if os.environ.get("PAPERSHELF_REQUIRE_POSTGRES") == "1" and SERVER is None:
        raise pytest.UsageError(
            "PAPERSHELF_REQUIRE_POSTGRES is set, and no PostgreSQL answers: start one, or name it "
            f"in {databases.POSTGRES_VARIABLE}."
        )


def pytest_report_header() -> str:
    where = f" ({SERVER.query.get('host') or SERVER.host})" if SERVER is not None else ""
    return f"databases: {', '.join(DATABASES)}{where}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return databases.migrated_sqlite(tmp_path_factory.mktemp("template") / "papershelf.db")


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[URL]:
    assert SERVER is not None
    with databases.migrated_postgres(SERVER) as url:
        yield url


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """Which database the test runs on; it runs on each that is there."""
    return str(request.param)


@pytest.fixture
def database_url(database: str, request: pytest.FixtureRequest, tmp_path: Path) -> URL:
    """A migrated database without rows."""
    if database == "sqlite":
        return databases.copied_sqlite(request.getfixturevalue("sqlite_template"), tmp_path)
    url: URL = request.getfixturevalue("postgres_database")
    return url


@pytest.fixture
def settings(database_url: URL, tmp_path: Path) -> Settings:
    return databases.settings_for(database_url, tmp_path)


@pytest.fixture
def runtime(settings: Settings) -> Iterator[Runtime]:
    from service.runtime import build_runtime

    made = build_runtime(settings)
    yield made
    if made.sessions.engine.dialect.name == "postgresql":
        databases.empty(made.sessions.engine)
    made.close()


@pytest.fixture
def app(runtime: Runtime) -> Flask:
    from service.app import create_app

    made = create_app(runtime)
    made.testing = True
    return made


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def alice(runtime: Runtime) -> Person:
    return _person(runtime, "Alice")


@pytest.fixture
def bob(runtime: Runtime) -> Person:
    return _person(runtime, "Bob")


@pytest.fixture
def root(runtime: Runtime) -> Person:
    return _person(runtime, "Root", is_admin=True)


@pytest.fixture
def api(client: FlaskClient, alice: Person) -> Api:
    """Alice's requests."""
    return _signed(client, alice)


@pytest.fixture
def bobs_api(client: FlaskClient, bob: Person) -> Api:
    return _signed(client, bob)


@pytest.fixture
def paper_id(runtime: Runtime) -> str:
    from tests.factories import make_paper

    return str(make_paper(runtime).public_id)


def _person(runtime: Runtime, name: str, *, is_admin: bool = False) -> Person:
    from tests.factories import make_person

    return make_person(runtime, name, is_admin=is_admin)


def _signed(client: FlaskClient, person: Person) -> Api:
    from tests.factories import Api

    return Api(client, person.headers)
