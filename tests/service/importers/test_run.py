"""Imports: every entry once, whatever happens in the middle, and nothing in silence."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.accounts.queries import get_user
from service.catalogue.queries import n_papers, papers_page
from service.catalogue.records import PaperFilter
from service.db import scope
from service.errors import InvalidInput, NotFound
from service.importers import run
from service.importers.queries import get_import, import_rows, imports_page
from service.importers.reading import Reading, read_file
from service.importers.run import LARGEST_FILE, CutOff, receive, run_import
from service.job_queue import JobKind
from service.runtime import Runtime
from service.tables import Import, ImportRow, ImportState, Job, Outcome, Paper
from tests.factories import NOW, Person
from tests.service.threads import all_at_once

LISTINGS = Path(__file__).with_name("listings")
SHARED = Path(__file__).resolve().parents[4] / "shared" / "listings"
REAL = ("000_20191066c6732e94.txt", "002_dcc64488acc15515.txt")

TOPICS = ("shelves", "spines", "bindings", "page numbers", "marginalia", "indexes")
LISTING = "ICML 2026 Papers\n\n" + "\n\n".join(
    f"We study how {topic} are read by machines, and show on {n} collections that careful "
    f"{topic} make a library easier to search. Code is at https://github.com/acme/part{n}."
    for n, topic in enumerate(TOPICS)
)


def bring(runtime: Runtime, person: Person, content: str | bytes, name: str = "list.txt") -> Import:
    """Receive a file; its import is still to be run."""
    content = content.encode() if isinstance(content, str) else content
    with scope(runtime.writing(), person.id) as session:
        made = receive(session, person.id, file_name=name, content=content, now=NOW)
        session.commit()
        return made


def carry_out(
    runtime: Runtime,
    person: Person,
    made: Import,
    progress: Callable[[int, int], None] | None = None,
) -> Import:
    run_import(runtime.writing, made.id, person.id, now=NOW, progress=progress)
    return as_it_is(runtime, person, made)


def as_it_is(runtime: Runtime, person: Person, made: Import) -> Import:
    with scope(runtime.reading(), person.id) as session:
        return session.get_one(Import, made.id)


def rows_of(runtime: Runtime, person: Person, made: Import) -> list[tuple[ImportRow, Paper | None]]:
    with scope(runtime.reading(), person.id) as session:
        return list(import_rows(session, person.id, made.id, after_position=0, limit=1000))


def papers(runtime: Runtime) -> int:
    with runtime.reading() as session:
        return n_papers(session)


def counts(made: Import) -> tuple[int, int, int, int]:
    return made.n_created, made.n_known, made.n_skipped, made.n_failed


# ---- Receiving ---------------------------------------------------------------------------------


def test_a_file_is_kept_and_its_job_waits(runtime: Runtime, alice: Person):
    made = bring(runtime, alice, LISTING)
    assert (made.state, made.content) == ("queued", LISTING.encode())
    with runtime.reading() as session:
        job = session.scalars(sa.select(Job)).one()
    assert (job.kind, job.payload) == ("import", {"import_id": made.id, "user_id": alice.id})
    assert papers(runtime) == 0


@pytest.mark.parametrize("content", [b"", b" \n\t ", b"x" * (LARGEST_FILE + 1)], ids=len)
def test_nothing_and_too_much_are_refused_at_the_door(
    runtime: Runtime, alice: Person, content: bytes
):
    with pytest.raises(InvalidInput) as refused:
        bring(runtime, alice, content)
    assert refused.value.field == "file"
    with runtime.reading() as session:
        assert session.scalars(sa.select(Job)).all() == []


# ---- What comes of it --------------------------------------------------------------------------


def test_every_entry_becomes_a_paper_with_its_row(runtime: Runtime, alice: Person):
    done = carry_out(runtime, alice, bring(runtime, alice, LISTING))
    assert (done.state, done.list_name, done.n_entries) == ("done", "ICML 2026 Papers", 6)
    assert counts(done) == (6, 0, 0, 0)
    assert (done.finished_at, done.error, done.content) == (NOW, None, None)
    rows = rows_of(runtime, alice, done)
    assert [row.position for row, _ in rows] == [1, 2, 3, 4, 5, 6]
    assert [row.line for row, _ in rows] == [3, 5, 7, 9, 11, 13]
    for n, (row, paper) in enumerate(rows):
        assert paper is not None
        assert (paper.venue, paper.year, paper.source) == ("ICML", 2026, "listing")
        assert paper.list_name == "ICML 2026 Papers"
        assert paper.code_url == f"https://github.com/acme/part{n}"
        assert paper.title is None
        assert paper.abstract is not None
        assert paper.abstract.startswith(row.excerpt)


def test_the_same_file_again_brings_nothing_new(runtime: Runtime, alice: Person, bob: Person):
    carry_out(runtime, alice, bring(runtime, alice, LISTING))
    again = carry_out(runtime, bob, bring(runtime, bob, LISTING.replace(" ", "  ")))
    assert counts(again) == (0, 6, 0, 0)
    assert papers(runtime) == 6
    assert all(paper is not None for _, paper in rows_of(runtime, bob, again))


def test_what_is_no_abstract_is_named_with_its_line(runtime: Runtime, alice: Person):
    parts = LISTING.split("\n\n")
    text = "\n\n".join([*parts[:3], "Too short.", parts[1], *parts[3:], "Total: 6 papers"])
    done = carry_out(runtime, alice, bring(runtime, alice, text))
    assert counts(done) == (6, 0, 3, 0)
    passed_over = [row for row, _ in rows_of(runtime, alice, done) if row.outcome == "skipped"]
    assert [row.line for row in passed_over] == [7, 9, 19]
    assert all(row.reason and row.remedy and row.excerpt for row in passed_over)


def test_an_import_asks_whether_to_train_again_once(runtime: Runtime, alice: Person):
    for text in (LISTING, LISTING.replace("machines", "people")):
        carry_out(runtime, alice, bring(runtime, alice, text))
    with runtime.reading() as session:
        kinds = sa.select(sa.func.count()).where(Job.kind == JobKind.CONSIDER_REBUILD)
        assert session.scalar(kinds) == 1


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry a turn, where it matters what lies between two."""
    monkeypatch.setattr(run, "ENTRIES_A_TURN", 1)


def test_progress_is_told_turn_by_turn(runtime: Runtime, alice: Person, short_turns: None):
    told: list[tuple[int, int]] = []
    carry_out(runtime, alice, bring(runtime, alice, LISTING), lambda *at: told.append(at))
    assert told == [(n, 6) for n in range(1, 7)]


@pytest.mark.parametrize("file", sorted(LISTINGS.glob("*.txt")), ids=lambda file: file.stem)
def test_the_listings_of_the_repository_come_in_whole_and_once(
    runtime: Runtime, alice: Person, file: Path
):
    first = carry_out(runtime, alice, bring(runtime, alice, file.read_bytes()))
    assert first.state == "done"
    assert first.n_created > 0
    assert (first.n_known, first.n_failed) == (0, 0)
    again = carry_out(runtime, alice, bring(runtime, alice, file.read_bytes()))
    assert counts(again) == (0, first.n_created, first.n_skipped, 0)


# ---- What goes wrong ---------------------------------------------------------------------------


@contextmanager
def refusing(runtime: Runtime, what: str) -> Iterator[None]:
    """A database that does not take papers with these words, as a full disk or a rule might."""
    on_sqlite = runtime.sessions.engine.dialect.name == "sqlite"
    if on_sqlite:
        make = (
            "CREATE TRIGGER refusing BEFORE INSERT ON paper "
            f"WHEN NEW.abstract LIKE '%{what}%' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        drop = "DROP TRIGGER refusing"
    else:
        make = f"ALTER TABLE paper ADD CONSTRAINT refusing CHECK (abstract NOT LIKE '%{what}%')"
        drop = "ALTER TABLE paper DROP CONSTRAINT refusing"
    with runtime.sessions.engine.begin() as connection:
        connection.exec_driver_sql(make.replace("%", "%%") if not on_sqlite else make)
    try:
        yield
    finally:
        with runtime.sessions.engine.begin() as connection:
            connection.exec_driver_sql(drop)


def test_an_entry_that_cannot_be_stored_is_reported_and_the_others_are_in(
    runtime: Runtime, alice: Person
):
    with refusing(runtime, "bindings"):
        done = carry_out(runtime, alice, bring(runtime, alice, LISTING))
    assert (done.state, counts(done)) == ("done", (5, 0, 0, 1))
    (bad,) = [row for row, _ in rows_of(runtime, alice, done) if row.outcome is Outcome.FAILED]
    assert (bad.position, bad.line, bad.paper_id) == (3, 7, None)
    assert bad.reason
    assert bad.remedy
    assert "bindings" in bad.excerpt
    again = carry_out(runtime, alice, bring(runtime, alice, LISTING))
    assert counts(again) == (1, 5, 0, 0)


class PowerCut(Exception):
    """The power went."""


@pytest.mark.parametrize("at", [1, 4, 6])
def test_an_import_that_was_cut_off_goes_on_where_it_stopped(
    runtime: Runtime, alice: Person, at: int, short_turns: None
):
    def stop(done: int, _total: int) -> None:
        if done == at:
            raise PowerCut

    made = bring(runtime, alice, LISTING)
    with pytest.raises(PowerCut):
        carry_out(runtime, alice, made, stop)
    halfway = as_it_is(runtime, alice, made)
    assert (halfway.state, halfway.content) == ("running", LISTING.encode())
    assert papers(runtime) == len(rows_of(runtime, alice, made)) == at
    done = carry_out(runtime, alice, made)
    assert (done.state, counts(done)) == ("done", (6, 0, 0, 0)), "each counted as what it was"
    assert [row.position for row, _ in rows_of(runtime, alice, made)] == [1, 2, 3, 4, 5, 6]
    assert papers(runtime) == 6


def test_an_import_stops_between_two_turns_when_it_is_told_to(
    runtime: Runtime, alice: Person, short_turns: None
):
    made = bring(runtime, alice, LISTING)
    answers = iter([False, False, True])
    with pytest.raises(CutOff):
        run_import(runtime.writing, made.id, alice.id, now=NOW, is_cut_off=lambda: next(answers))
    assert papers(runtime) == 2
    run_import(runtime.writing, made.id, alice.id, now=NOW)
    assert counts(as_it_is(runtime, alice, made)) == (6, 0, 0, 0)


def test_a_listing_keeps_its_order_in_the_catalogue(runtime: Runtime, alice: Person):
    run_import(runtime.writing, bring(runtime, alice, LISTING).id, alice.id, now=NOW)
    with runtime.reading() as session:
        shown = papers_page(session, PaperFilter(), after=None, limit=10)
    assert [topic in paper.abstract for paper, topic in zip(shown, TOPICS, strict=True)] == [
        True
    ] * 6


def test_an_import_that_is_done_is_not_done_again(runtime: Runtime, alice: Person):
    made = bring(runtime, alice, LISTING)
    done = carry_out(runtime, alice, made)
    run_import(runtime.writing, made.id, alice.id, now=NOW + timedelta(days=1))
    assert as_it_is(runtime, alice, made).finished_at == done.finished_at
    assert papers(runtime) == 6


def test_workers_that_take_the_same_import_do_it_once_between_them(runtime: Runtime, alice: Person):
    made = bring(runtime, alice, LISTING)
    assert all_at_once([lambda: carry_out(runtime, alice, made)] * 4) == []
    done = as_it_is(runtime, alice, made)
    assert (done.state, counts(done)) == ("done", (6, 0, 0, 0))
    assert len(rows_of(runtime, alice, made)) == papers(runtime) == 6


def test_two_people_who_bring_the_same_list_share_its_papers(
    runtime: Runtime, alice: Person, bob: Person
):
    both = [(person, bring(runtime, person, LISTING)) for person in (alice, bob)]
    errors = all_at_once([lambda it=it: carry_out(runtime, *it) for it in both])
    assert errors == []
    ends = [counts(as_it_is(runtime, *it)) for it in both]
    assert [sum(column) for column in zip(*ends, strict=True)] == [6, 6, 0, 0]
    assert papers(runtime) == 6


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n" + LISTING.encode(),
        bytes(range(256)) * 40,
        b"\xef\xbb\xbf",
        "\u3000\n\u2028".encode(),
        "\ufeff \u200b".encode(),
    ],
    ids=["pdf", "binary", "mark-alone", "blanks", "invisible"],
)
def test_what_is_no_listing_fails_with_the_reason_and_leaves_nothing(
    runtime: Runtime, alice: Person, content: bytes
):
    done = carry_out(runtime, alice, bring(runtime, alice, content))
    assert done.state is ImportState.FAILED
    assert done.error
    assert "Error" not in done.error
    assert counts(done) == (0, 0, 0, 0)
    assert done.content == content, "kept, to be looked at"
    assert (papers(runtime), rows_of(runtime, alice, done)) == (0, [])


@pytest.mark.parametrize("text", ["Too short.", "ICML 2026 Papers", "a,b\n1,2\n3,4\n"])
def test_a_file_without_a_paper_fails_with_what_was_passed_over(
    runtime: Runtime, alice: Person, text: str
):
    made = bring(runtime, alice, text)
    for done in (carry_out(runtime, alice, made), carry_out(runtime, alice, made)):
        assert done.state is ImportState.FAILED
        assert "No paper was found" in (done.error or "")
        assert (done.n_created, done.n_known, done.n_failed) == (0, 0, 0)
        assert done.n_skipped == len(rows_of(runtime, alice, done))
        assert done.content == text.encode(), "kept, to be looked at"


def test_damaged_text_is_reported_and_the_rest_is_in(runtime: Runtime, alice: Person):
    parts = LISTING.encode().split(b"\n\n")
    parts[2] = parts[2][:40] + b"\xff" * 4 + parts[2][40:]
    parts.append(("Über café naïve Gödel Erdős Łukasz Čech öäü éèê " * 4).encode())
    done = carry_out(runtime, alice, bring(runtime, alice, b"\n\n".join(parts)))
    assert (done.state, counts(done)) == ("done", (6, 0, 1, 0))
    (damaged,) = [row for row, _ in rows_of(runtime, alice, done) if row.paper_id is None]
    assert damaged.line == 5


@pytest.mark.parametrize(
    "odd", ["\x00", "\x0b", "\x1b[0m", "\x7f", "\x85", "\u2028", "\ufffe", "\uffff", "\u202e"]
)
def test_characters_that_no_database_takes_do_not_stop_an_import(
    runtime: Runtime, alice: Person, odd: str
):
    done = carry_out(runtime, alice, bring(runtime, alice, LISTING.replace("machines", odd)))
    assert done.state == "done"
    assert sum(counts(done)) >= 6
    assert done.n_failed == 0


# ---- Reading about it --------------------------------------------------------------------------


def test_another_persons_import_is_not_there(runtime: Runtime, alice: Person, bob: Person):
    made = carry_out(runtime, alice, bring(runtime, alice, LISTING))
    with scope(runtime.reading(), bob.id) as session:
        with pytest.raises(NotFound):
            get_import(session, bob.id, made.public_id)
        assert imports_page(session, bob.id, after=None, limit=9) == []
        assert import_rows(session, bob.id, made.id, after_position=0, limit=9) == []


def test_pages_of_imports_are_all_of_them_once(runtime: Runtime, alice: Person):
    made = [bring(runtime, alice, LISTING).id for _ in range(5)]
    seen, after = [], None
    while True:
        with scope(runtime.reading(), alice.id) as session:
            page = imports_page(session, alice.id, after=after, limit=2)
        if not page:
            break
        seen += [one.id for one in page]
        after = (page[-1].created_at, page[-1].public_id)
    assert sorted(seen) == made


def test_pages_of_rows_go_on_after_a_position(runtime: Runtime, alice: Person):
    made = carry_out(runtime, alice, bring(runtime, alice, LISTING))
    with scope(runtime.reading(), alice.id) as session:
        rows = import_rows(session, alice.id, made.id, after_position=2, limit=3)
    assert [row.position for row, _ in rows] == [3, 4, 5]


# ---- The real listings -------------------------------------------------------------------------


@pytest.fixture
def expected() -> dict[tuple[str, int], dict[str, str]]:
    if not (SHARED / "expected.tsv").exists():
        pytest.skip("the real listings are not beside this checkout")
    with (SHARED / "expected.tsv").open(newline="") as lines:
        table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["file"], int(row["ordinal"])): row for row in table}


@pytest.mark.shared
def test_the_real_listings_come_in_whole(
    expected: dict[tuple[str, int], dict[str, str]], runtime: Runtime, alice: Person
):
    found: dict[tuple[str, int], Paper] = {}
    for file in REAL:
        content = (SHARED / file).read_bytes()
        done = carry_out(runtime, alice, bring(runtime, alice, content, file))
        assert (done.state, counts(done)) == ("done", (19, 0, 0, 0))
        for row, paper in rows_of(runtime, alice, done):
            assert paper is not None
            found[file, row.position] = paper
        again = carry_out(runtime, alice, bring(runtime, alice, content, file))
        assert counts(again) == (0, 19, 0, 0)
    assert set(found) == set(expected)
    assert {(paper.venue, paper.year) for paper in found.values()} == {("ICML", 2026)}
    assert {paper.list_name for paper in found.values()} == {
        "ICML 2026 Papers",
        "ICML 2026 论文列表",
    }
    links = {key: row["code/project URL"] for key, row in expected.items()}
    assert sum(link != "-" for link in links.values()) == 11
    for key, paper in found.items():
        assert (paper.code_url or "-") == links[key], key
    names = {key: _name(row["coined name (- = none)"]) for key, row in expected.items()}
    known = {key: name for key, name in names.items() if name is not None}
    right = [key for key, name in known.items() if _is_named(found[key], name)]
    assert len(right) >= 26, sorted(set(known) - set(right))
    invented = {
        key: found[key].derived_name for key in NAMELESS if found[key].derived_name is not None
    }
    assert invented == {}
    with scope(runtime.reading(), alice.id) as session:
        assert get_user(session, alice.id).library_version == 0, "an import saves nothing"


NAMELESS = [(REAL[0], n) for n in (12, 14, 15, 16, 17)] + [(REAL[1], n) for n in (3, 5, 7)]
"""The papers that coin no name."""


def _name(cell: str) -> str | None:
    return None if cell.startswith("-") else cell.split(" (")[0].split(";")[0].strip()


def _is_named(paper: Paper, name: str) -> bool:
    """By the name, or by the abbreviation that stands for it."""
    shown = f"{paper.derived_name or ''}|{paper.display_title}".casefold()
    return paper.derived_name is not None and name.casefold() in shown


def test_a_file_is_read_while_others_may_write(
    runtime: Runtime, alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
):
    made = bring(runtime, alice, LISTING)
    written = []

    def read_slowly(content: bytes, **said: str | None) -> Reading:
        # Whoever holds the write lock here makes this wait, and fail.
        written.append(bring(runtime, bob, LISTING))
        return read_file(content, **said)

    monkeypatch.setattr("service.importers.run.read_file", read_slowly)
    run_import(runtime.writing, made.id, alice.id, now=NOW)
    assert len(written) == 1
    assert counts(as_it_is(runtime, alice, made)) == (6, 0, 0, 0)
