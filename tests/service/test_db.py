"""Engines, sessions, column types and the walls between people's data."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError
from sqlalchemy.orm import Session, aliased

from service.db import Owned, UnscopedQuery, insert_if_new, owned_tables, scope, system_scope
from service.errors import InvalidInput
from service.library.actions import save_bookmark
from service.library.records import NewBookmark
from service.runtime import Runtime
from service.tables import (
    AuditEntry,
    Base,
    Bookmark,
    BookmarkTag,
    Paper,
    Tag,
    User,
    clean_text,
)
from tests.factories import NOW, Person, make_papers
from tests.service.rows import row_of_every_table
from tests.service.threads import all_at_once


def is_refused(session: Session, statement: sa.Executable) -> bool:
    try:
        session.execute(statement)
    except UnscopedQuery:
        return True
    finally:
        session.rollback()
    return False


@pytest.fixture
def both_saved(runtime: Runtime, alice: Person, bob: Person) -> tuple[int, int]:
    """Alice saved two papers with a tag, Bob one; the keys of their first bookmarks."""
    first, second, third = make_papers(runtime, 3)
    keys = []
    for person, papers in ((alice, (first, second)), (bob, (third,))):
        with scope(runtime.writing(), person.id) as session:
            made = [
                save_bookmark(
                    session, person.id, NewBookmark(paper_id=p.public_id, tags=("x",)), now=NOW
                )[0]
                for p in papers
            ]
            session.commit()
            keys.append(made[0].id)
    return keys[0], keys[1]


# ---- The profiles ------------------------------------------------------------------------------


def test_sqlite_has_the_profile_that_survives_a_power_cut(runtime: Runtime, database: str):
    if database != "sqlite":
        pytest.skip("a profile of SQLite")
    for make in (runtime.reading, runtime.writing):
        with make() as session:

            def pragma(name: str, session: Session = session) -> object:
                return session.execute(sa.text(f"PRAGMA {name}")).scalar()

            assert pragma("synchronous") == 2, "FULL"
            assert pragma("journal_mode") == "wal"
            assert pragma("foreign_keys") == 1
            assert pragma("busy_timeout") == 5000


def test_a_row_that_points_nowhere_is_refused(runtime: Runtime):
    nowhere = sa.insert(BookmarkTag).values(user_id=4_711, bookmark_id=4_711, tag_id=4_711)
    with scope(runtime.writing(), 4_711) as session, pytest.raises(IntegrityError):
        session.execute(nowhere)


def test_a_reading_session_cannot_write(runtime: Runtime, alice: Person):
    with runtime.reading() as session:
        session.add(AuditEntry(at=NOW, action="sneaky"))
        with pytest.raises(DBAPIError):
            session.flush()
        session.rollback()
        with pytest.raises(DBAPIError):
            session.execute(sa.update(User).values(name="Mallory"))
    with runtime.writing() as session:
        assert session.get_one(User, alice.id).name == "Alice"
        session.add(AuditEntry(at=NOW, action="allowed: the same pool can write again"))
        session.commit()


def test_a_reading_session_sees_one_state_beside_a_writer(runtime: Runtime, alice: Person):
    with runtime.writing() as writing, runtime.reading() as reading:
        writing.execute(sa.update(User).values(name="Ada"))
        assert reading.get_one(User, alice.id).name == "Alice"
        writing.commit()
    with runtime.reading() as reading:
        assert reading.get_one(User, alice.id).name == "Ada"


def test_concurrent_writers_neither_fail_nor_lose_an_update(runtime: Runtime, alice: Person):
    def read_modify_write() -> None:
        for _ in range(50):
            with runtime.writing() as session:
                user = session.scalars(
                    sa.select(User).where(User.id == alice.id).with_for_update()
                ).one()
                user.version = user.version + 1
                session.commit()

    with runtime.reading() as session:
        before = session.get_one(User, alice.id).version
    errors = all_at_once([read_modify_write] * 8)
    assert errors == []
    with runtime.reading() as session:
        assert session.get_one(User, alice.id).version == before + 8 * 50


def test_what_was_rolled_back_is_gone(runtime: Runtime):
    with runtime.writing() as session:
        session.add(AuditEntry(at=NOW, action="never"))
        session.flush()
        session.rollback()
    with runtime.reading() as session:
        assert session.scalars(sa.select(AuditEntry)).all() == []


def test_insert_if_new_makes_one_row_whoever_comes_first(runtime: Runtime, alice: Person):
    made: list[bool] = []

    def insert() -> None:
        with scope(runtime.writing(), alice.id) as session:
            values = {
                "public_id": uuid4(),
                "user_id": alice.id,
                "name": "Graphs",
                "name_key": "graphs",
            }
            row = insert_if_new(session, Tag, values, unique=["user_id", "name_key"])
            made.append(row is not None)
            session.commit()

    assert all_at_once([insert] * 8) == []
    assert sorted(made) == [False] * 7 + [True]


# ---- Whose rows --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        lambda cls: sa.select(cls),
        lambda cls: sa.select(cls.user_id),
        lambda cls: sa.select(sa.func.count()).select_from(cls),
        lambda cls: sa.select(aliased(cls)),
        lambda cls: sa.select(cls.__table__.c.user_id),
        lambda cls: sa.select(User).where(User.id.in_(sa.select(cls.user_id))),
        lambda cls: sa.select(User).where(sa.exists().where(cls.user_id == User.id)),
        lambda cls: sa.select(User).join(cls, cls.user_id == User.id),
        lambda cls: sa.select(sa.select(cls.user_id).subquery()),
        lambda cls: sa.select(sa.select(cls.user_id).cte()),
        lambda cls: sa.union_all(sa.select(User.id), sa.select(cls.user_id)),
        lambda cls: sa.update(cls).values(user_id=1),
        lambda cls: sa.update(User).where(User.id.in_(sa.select(cls.user_id))).values(name="x"),
        lambda cls: sa.delete(cls),
        lambda cls: sa.delete(User).where(User.id.in_(sa.select(cls.user_id))),
        lambda cls: sa.insert(cls).values(user_id=1),
    ],
    ids=[
        "entity",
        "column",
        "count",
        "alias",
        "core",
        "in",
        "exists",
        "join",
        "subquery",
        "cte",
        "union",
        "update",
        "update-in",
        "delete",
        "delete-in",
        "insert",
    ],
)
def test_a_query_that_does_not_say_whose_rows_is_refused(
    runtime: Runtime, query: Callable[[type[Owned]], sa.Executable]
):
    with runtime.writing() as session:
        passed = [
            cls.__name__ for cls in Owned.__subclasses__() if not is_refused(session, query(cls))
        ]
    assert passed == []


def test_getting_by_key_does_not_go_round_the_wall(runtime: Runtime):
    for cls in Owned.__subclasses__():
        with runtime.writing() as session, pytest.raises(UnscopedQuery):
            session.get(cls, 1)


@pytest.mark.parametrize(
    "count",
    [
        lambda: sa.select(sa.func.count()).select_from(Bookmark),
        lambda: sa.select(sa.func.count(Bookmark.id)),
        lambda: sa.select(sa.func.count()).select_from(aliased(Bookmark)),
        lambda: sa.select(sa.func.count()).select_from(sa.select(Bookmark.id).subquery()),
        lambda: sa.select(sa.func.count()).select_from(sa.select(Bookmark.id).cte()),
        lambda: (
            sa.select(sa.func.count())
            .select_from(Paper)
            .where(Paper.id.in_(sa.select(Bookmark.paper_id)))
        ),
        lambda: (
            sa.select(sa.func.count())
            .select_from(Paper)
            .where(sa.exists().where(Bookmark.paper_id == Paper.id))
        ),
        lambda: (
            sa.select(sa.func.count())
            .select_from(Paper)
            .join(Bookmark, Bookmark.paper_id == Paper.id)
        ),
        lambda: sa.select(sa.func.count()).select_from(Bookmark).where(Bookmark.tags.any()),
        lambda: sa.select(sa.func.count(BookmarkTag.id)),
    ],
    ids=["entity", "column", "alias", "subquery", "cte", "in", "exists", "join", "any", "tag"],
)
def test_a_scoped_query_sees_one_persons_rows(
    runtime: Runtime,
    alice: Person,
    bob: Person,
    both_saved: object,
    count: Callable[[], sa.Select[tuple[int]]],
):
    for person, n in ((alice, 2), (bob, 1), (alice, 2)):
        with scope(runtime.reading(), person.id) as session:
            assert session.scalar(count()) == n


def test_a_query_on_the_bare_table_cannot_be_scoped_and_is_refused(
    runtime: Runtime, alice: Person, both_saved: object
):
    table = Bookmark.__table__
    for statement in (
        sa.select(table.c.id),
        sa.delete(table),
        sa.update(table).values(note="mine"),
        sa.union_all(sa.select(Bookmark.id), sa.select(Bookmark.id)),
        sa.insert(Tag).from_select(["user_id"], sa.select(Bookmark.user_id)),
    ):
        with scope(runtime.writing(), alice.id) as session, pytest.raises(UnscopedQuery):
            session.execute(statement)


def test_a_scoped_write_changes_one_persons_rows(
    runtime: Runtime, alice: Person, bob: Person, both_saved: tuple[int, int]
):
    with scope(runtime.writing(), alice.id) as session:
        session.execute(sa.update(Bookmark).values(note="hers"))
        session.execute(sa.delete(Bookmark).where(Bookmark.id == both_saved[1]))
        session.commit()
    with scope(runtime.reading(), bob.id) as session:
        assert session.scalars(sa.select(Bookmark.note)).all() == [""]
        assert session.get(Bookmark, both_saved[0]) is None, "hers, by its key"
    with scope(runtime.reading(), alice.id) as session:
        assert session.scalars(sa.select(Bookmark.note)).all() == ["hers", "hers"]


def test_system_scope_sees_everybody_and_ends(runtime: Runtime, alice: Person, both_saved: object):
    with scope(runtime.reading(), alice.id) as session:
        with system_scope(session, "a test"):
            assert len(session.scalars(sa.select(Bookmark)).all()) == 3
        assert len(session.scalars(sa.select(Bookmark.id)).all()) == 2
    with runtime.reading() as session:
        with pytest.raises(ZeroDivisionError), system_scope(session, "a test"):
            _ = 1 / 0
        with pytest.raises(UnscopedQuery):
            session.scalars(sa.select(Bookmark))


NOT_OWNED = {
    "audit_entry": "outlives the person: actor_id becomes null",
}


def test_every_table_that_points_to_a_person_is_owned():
    pointing = {
        table.name
        for table in Base.metadata.tables.values()
        for key in table.foreign_keys
        if key.column.table.name == "user"
    }
    assert pointing - owned_tables() == set(NOT_OWNED)
    assert owned_tables() <= pointing
    for name in owned_tables():
        assert "user_id" in Base.metadata.tables[name].columns


def test_a_person_leaves_without_a_trace_in_owned_tables(runtime: Runtime, alice: Person):
    with runtime.writing() as session, system_scope(session, "a test"):
        row_of_every_table(session, user_id=alice.id)
        session.execute(sa.delete(User).where(User.id == alice.id))
        session.commit()
        for cls in Owned.__subclasses__():
            assert session.scalars(sa.select(cls)).all() == [], cls.__name__
        assert session.scalars(sa.select(AuditEntry.actor_id)).all() != []


# ---- Column types ------------------------------------------------------------------------------


def test_a_naive_time_is_refused(runtime: Runtime):
    naive = datetime(2026, 1, 2, 9, 0)  # noqa: DTZ001 - what the test is about
    with runtime.writing() as session, pytest.raises(StatementError, match="naive"):
        session.execute(sa.insert(AuditEntry).values(at=naive, action="x"))


def test_a_time_comes_back_in_utc(runtime: Runtime):
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    at = datetime(2026, 3, 29, 2, 30, 0, 123_456, tzinfo=kathmandu)
    with runtime.writing() as session:
        session.execute(sa.insert(AuditEntry).values(at=at, action="x"))
        session.commit()
    with runtime.reading() as session:
        kept = session.scalars(sa.select(AuditEntry.at)).one()
        by_time = session.scalar(sa.select(AuditEntry.id).where(AuditEntry.at == at))
    assert kept == at
    assert kept.utcoffset() == timedelta(0)
    assert by_time is not None


@pytest.mark.parametrize(
    "text", ["a\x00b", "\ud800", "\x1b[31m", "\x7f", "\x85", "\x0b", "\uffff", "\ufffe"]
)
def test_text_that_breaks_a_database_is_refused_by_name(runtime: Runtime, alice: Person, text: str):
    with pytest.raises(InvalidInput, match=r"U\+[0-9A-F]{4}"):
        clean_text(text)
    with runtime.writing() as session, pytest.raises(InvalidInput, match=r"U\+[0-9A-F]{4}"):
        session.execute(sa.update(User).values(name=text))


def test_text_is_kept_in_one_form(runtime: Runtime, alice: Person):
    decomposed = "Cafe\u0301\r\nnaïve\ta\rb 学习 🙂 \u202e"
    with runtime.writing() as session:
        session.execute(sa.update(User).values(name=decomposed))
        session.commit()
    with runtime.reading() as session:
        assert session.get_one(User, alice.id).name == "Café\nnaïve\ta\nb 学习 🙂 \u202e"
        assert session.scalar(sa.select(User.id).where(User.name == decomposed)) == alice.id


# ---- Constraints -------------------------------------------------------------------------------

WRONG = {
    "ck_bookmark_status_known": {"status": "devoured"},
    "ck_feedback_kind_known": {"kind": "boring"},
    "ck_experiment_adopted_known": {"adopted": "both"},
    "ck_experiment_decision_known": {"decision": "perhaps"},
    "ck_impression_arm_known": {"arm": "both"},
    "ck_idempotency_key_state_known": {"state": "lost"},
    "ck_import_state_known": {"state": "lost"},
    "ck_import_row_outcome_known": {"outcome": "lost"},
    "ck_interest_weight_range": {"weight": 99},
    "ck_interaction_kind_known": {"kind": "sneeze"},
    "ck_job_state_known": {"state": "lost"},
    "ck_paper_source_known": {"source": "hearsay"},
    "ck_paper_year_plausible": {"year": 999},
    "ck_rating_stars_range": {"stars": 6},
}
CHECKS = sorted(
    (str(constraint.name), table.name)
    for table in Base.metadata.tables.values()
    for constraint in table.constraints
    if isinstance(constraint, sa.CheckConstraint)
)


@pytest.fixture
def with_rows(runtime: Runtime, alice: Person) -> Runtime:
    with runtime.writing() as session, system_scope(session, "a test"):
        row_of_every_table(session, user_id=alice.id)
        session.commit()
    return runtime


def test_every_check_refuses_what_it_names(with_rows: Runtime):
    assert CHECKS
    for name, table in CHECKS:
        (column, value), *_ = WRONG[name].items()
        with with_rows.sessions.engine.connect() as connection:
            with pytest.raises(IntegrityError, match=name):
                connection.execute(
                    sa.text(f'UPDATE "{table}" SET {column} = :value'), {"value": value}
                )
            connection.rollback()


def test_a_value_of_an_enum_that_the_code_does_not_know_never_leaves_it(with_rows: Runtime):
    with with_rows.writing() as session, system_scope(session, "a test"):
        with pytest.raises(StatementError, match="devoured"):
            session.execute(sa.update(Bookmark).values(status="devoured"))
        session.rollback()


def test_a_session_of_one_person_cannot_become_anothers(runtime: Runtime):
    with runtime.reading() as session:
        scope(session, 1)
        scope(session, 1)
        with pytest.raises(UnscopedQuery, match="another"):
            scope(session, 2)


def test_sql_text_that_names_an_owned_table_is_refused(runtime: Runtime):
    with runtime.reading() as session, pytest.raises(UnscopedQuery, match="bookmark"):
        scope(session, 1).execute(sa.text("SELECT count(*) FROM bookmark"))


def test_another_persons_row_is_not_written(runtime: Runtime, alice: Person, bob: Person):
    with runtime.writing() as session:
        tag = Tag(user_id=alice.id, name="mine", name_key="mine")
        scope(session, bob.id).add(tag)
        with pytest.raises(UnscopedQuery, match="Tag"):
            session.flush()
