"""The schema: up, down and up again, with rows in it, the same from either side."""

import tomllib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import alembic.command
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import URL, Engine
from sqlalchemy.orm import Session

from service.accounts.actions import create_user
from service.accounts.records import NewUser
from service.db import Sessions, make_engine, system_scope
from service.tables import Base, Feedback, FeedbackKind
from service.tables.migrations import configuration, is_current, migrations_folder, upgrade
from tests import databases
from tests.factories import NOW, PASSWORD
from tests.service.rows import row_of_every_table

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def empty_url(database: str, tmp_path: Path) -> Iterator[URL]:
    """A database of its own, at this code's schema: the shared one must not lose its tables."""
    if database == "sqlite":
        databases.migrated_sqlite(tmp_path / "papershelf.db")
        yield sa.make_url(f"sqlite:///{tmp_path / 'papershelf.db'}")
        return
    server = databases.postgres_server()
    assert server is not None
    with databases.migrated_postgres(server) as url:
        yield url


@pytest.fixture
def engine(empty_url: URL) -> Iterator[Engine]:
    made = make_engine(empty_url)
    yield made
    made.dispose()


def fill(engine: Engine) -> dict[str, int]:
    """A row in every table; how many each has then."""
    with Sessions(engine).writing() as session, system_scope(session, "a test"):
        new = NewUser(email="ada@example.org", password=PASSWORD)
        row_of_every_table(session, user_id=create_user(session, new, now=NOW).id)
        session.commit()
    return counts(engine)


def counts(engine: Engine) -> dict[str, int]:
    with Session(engine) as session:
        return {
            name: session.scalar(sa.select(sa.func.count()).select_from(table)) or 0
            for name, table in Base.metadata.tables.items()
        }


def tables(engine: Engine) -> set[str]:
    return set(sa.inspect(engine).get_table_names()) - {"alembic_version"}


def test_there_is_one_head():
    script = ScriptDirectory(str(migrations_folder()))
    assert len(script.get_heads()) == 1
    assert len(script.get_bases()) == 1


def test_the_migrations_make_what_the_code_expects(engine: Engine):
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, Base.metadata) == []
    assert tables(engine) == set(Base.metadata.tables)


def test_every_check_of_the_code_is_in_the_database(engine: Engine):
    inspector = sa.inspect(engine)
    for name, table in Base.metadata.tables.items():
        expected = {
            str(constraint.name)
            for constraint in table.constraints
            if isinstance(constraint, sa.CheckConstraint)
        }
        assert {check["name"] for check in inspector.get_check_constraints(name)} == expected


def test_down_and_up_again_with_rows_in_every_table(engine: Engine):
    assert min(fill(engine).values()) >= 1
    alembic.command.downgrade(configuration(engine), "base")
    assert tables(engine) == set()
    assert not is_current(engine)
    upgrade(engine)
    assert is_current(engine)
    assert tables(engine) == set(Base.metadata.tables)
    assert counts(engine) == {
        **dict.fromkeys(Base.metadata.tables, 0),
        "catalogue_state": 1,
    }
    assert min(fill(engine).values()) >= 1, "it can be used"


def test_every_step_down_and_up_keeps_the_rows_of_what_stays(engine: Engine):
    """From each revision that has one before it, the newest first; the first tables have none."""
    fill(engine)
    for step in ScriptDirectory(str(migrations_folder())).walk_revisions():
        if step.down_revision is None:
            break
        before = rows_there(engine)
        alembic.command.downgrade(configuration(engine), "-1")
        there = rows_there(engine)
        upgrade(engine, "+1")
        assert rows_there(engine) == before | dict.fromkeys(before.keys() - there.keys(), 0) | {
            new: before[new] for new, old in RENAMED.items() if new in before and old in there
        }
        alembic.command.downgrade(configuration(engine), "-1")
    upgrade(engine)
    assert is_current(engine)


RENAMED = {"feedback": "dismissal"}


def rows_there(engine: Engine) -> dict[str, int]:
    """How many rows each table has that there is, whatever the code knows."""
    with engine.connect() as connection:
        return {
            name: connection.scalar(sa.select(sa.func.count()).select_from(sa.table(name))) or 0
            for name in tables(engine)
        }


def test_what_was_said_of_papers_is_there_under_the_name_before_and_again(engine: Engine):
    fill(engine)
    with Sessions(engine).writing() as session, system_scope(session, "a test"):
        first = session.scalars(sa.select(Feedback)).one()
        people = [
            create_user(session, NewUser(email=f"p{n}@example.org", password=PASSWORD), now=NOW).id
            for n in range(3)
        ]
        said = {"paper_id": first.paper_id, "given_at": NOW, "library_version": 7}
        later = {"kind": FeedbackKind.LATER, "until": NOW + timedelta(days=9)}
        gone = Feedback(user_id=people[0], kind=FeedbackKind.SEEN, **said)
        session.add_all([gone, Feedback(user_id=people[1], **later, **said, version=3)])
        session.flush()
        session.delete(gone)
        session.commit()

    def content(name: str, at: str) -> set[tuple[object, ...]]:
        columns = "id, public_id, user_id, paper_id, kind, until, library_version, version"
        with engine.connect() as connection:
            return {
                tuple(row)
                for row in connection.execute(sa.text(f"SELECT {columns}, {at} FROM {name}"))
            }

    now = content("feedback", "given_at")
    assert len(now) == 2
    before = ScriptDirectory(str(migrations_folder())).get_revision("0006").down_revision
    alembic.command.downgrade(configuration(engine), before)
    assert content("dismissal", "dismissed_at") == now
    assert all("feedback" not in name for name in names_in(engine, "dismissal"))
    upgrade(engine)
    assert content("feedback", "given_at") == now
    assert all("dismiss" not in name for name in names_in(engine, "feedback"))
    with Sessions(engine).writing() as session, system_scope(session, "a test"):
        session.add(Feedback(user_id=people[2], kind=FeedbackKind.SEEN, **said))
        session.commit()
        ids = session.scalars(sa.select(Feedback.id).order_by(Feedback.id)).all()
    assert len(ids) == 3


def names_in(engine: Engine, table: str) -> set[str]:
    """Of all that has a name in a table."""
    inspector = sa.inspect(engine)
    several = (
        inspector.get_indexes(table),
        inspector.get_unique_constraints(table),
        inspector.get_check_constraints(table),
        inspector.get_foreign_keys(table),
        [inspector.get_pk_constraint(table)],
    )
    return {str(one["name"]) for some in several for one in some}


def test_going_back_before_more_like_this_leaves_what_else_was_said(engine: Engine):
    fill(engine)
    before = ScriptDirectory(str(migrations_folder())).get_revision("0003").down_revision

    def said(table: str) -> list[str]:
        with engine.connect() as connection:
            return list(connection.scalars(sa.text(f"SELECT kind FROM {table}")))

    with Sessions(engine).writing() as session, system_scope(session, "a test"):
        there = session.scalars(sa.select(Feedback)).one()
        new = NewUser(email="eve@example.org", password=PASSWORD)
        eve = create_user(session, new, now=NOW)
        kind = FeedbackKind.MORE_LIKE_THIS
        values = {"paper_id": there.paper_id, "given_at": NOW, "library_version": 1}
        session.add(Feedback(user_id=eve.id, kind=kind, **values))
        session.commit()
    alembic.command.downgrade(configuration(engine), before)
    assert said("dismissal") == ["seen"]
    upgrade(engine)
    assert said("feedback") == ["seen"]
    with Sessions(engine).reading() as session, system_scope(session, "a test"):
        assert session.scalars(sa.select(Feedback)).one().version == 1


def test_upgrading_twice_changes_nothing(engine: Engine):
    before = fill(engine)
    upgrade(engine)
    assert counts(engine) == before


def test_foreign_keys_are_on_again_after_a_migration(engine: Engine, database: str):
    if database != "sqlite":
        pytest.skip("a matter of SQLite")
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_database_of_another_time_is_noticed(engine: Engine):
    assert is_current(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'from the future'")
    assert not is_current(engine)


def test_an_installed_package_carries_its_migrations():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"alembic": "service/_migrations"}
    assert set(wheel["packages"]) == {"service", "models"}
    assert migrations_folder() == ROOT / "alembic"
    assert (migrations_folder() / "env.py").is_file()


def test_the_folder_does_not_shadow_the_library():
    """With an ``__init__.py`` in it, ``import alembic`` from the checkout would find the folder."""
    assert not list((ROOT / "alembic").rglob("__init__.py"))
    assert Path(alembic.command.__file__).parent != ROOT / "alembic"
