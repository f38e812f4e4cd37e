"""The terminal: what the commands do, what they print, and how they fail."""

import json
import sqlite3
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.engine import make_url

from models.config import Config
from service.accounts.actions import find_principal
from service.accounts.records import EVERYTHING_PERSONAL, Scope
from service.accounts.sign_in import sign_in
from service.catalogue.queries import n_papers
from service.cli.main import cli
from service.db import make_engine, system_scope
from service.runtime import Runtime
from service.tables import AuditEntry, Import, Job, JobState, User
from service.tables.migrations import is_current
from tests.factories import PASSWORD, Person, make_papers, make_person
from tests.service.importers.test_run import LISTING
from tests.service.recommend.rivals import Visitor, start, start_rivals
from tests.service.recommend.shelf import add_listing, train


@pytest.fixture
def shell(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> "Shell":
    return Shell(runtime, monkeypatch)


class Shell:
    """A terminal in the environment of one installation."""

    def __init__(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        url = runtime.settings.database_url.render_as_string(hide_password=False)
        monkeypatch.setenv("PAPERSHELF_DATA", str(runtime.settings.data_folder))
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("COLUMNS", "200")
        for name in ("PORT", "REDIS_URL", "PAPERSHELF_SECRET_KEY", "PUBLIC_URL"):
            monkeypatch.delenv(name, raising=False)
        self.monkeypatch = monkeypatch

    def run(self, *words: object, typed: str | None = None) -> Result:
        return CliRunner().invoke(cli, list(map(str, words)), input=typed)

    def fails(self, *words: object) -> str:
        """The one sentence on standard error."""
        result = self.run(*words)
        assert result.exit_code == 1, result.output
        assert isinstance(result.exception, SystemExit)
        assert result.stderr.startswith("papershelf: ")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.output
        return result.stderr


def listing(folder: Path, text: str = LISTING, name: str = "list.txt") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def papers(runtime: Runtime) -> int:
    with runtime.reading() as session:
        return n_papers(session)


# ---- Help ---------------------------------------------------------------------------------------


def test_every_command_explains_itself(shell: Shell):
    for words in ([], *([name] for name in cli.commands)):
        for flag in ("--help", "-h"):
            result = shell.run(*words, flag)
            assert result.exit_code == 0
            assert result.output.startswith("Usage: ")
    assert all(command.help for command in cli.commands.values())


def test_the_version_is_told(shell: Shell):
    assert "papershelf, version" in shell.run("--version").output


# ---- import -------------------------------------------------------------------------------------


def test_a_listing_is_brought_in_and_reported(
    shell: Shell, runtime: Runtime, root: Person, tmp_path: Path
):
    result = shell.run("import", listing(tmp_path))
    assert result.exit_code == 0, result.output
    assert "ICML 2026 Papers: 6 new, 0 known, 0 skipped, 0 failed." in result.output
    again = shell.run("import", listing(tmp_path))
    assert "0 new, 6 known" in again.output
    assert papers(runtime) == 6
    with runtime.reading() as session, system_scope(session, "a test"):
        assert set(session.scalars(sa.select(Import.user_id))) == {root.id}
        jobs = session.scalars(sa.select(Job).where(Job.kind == "import")).all()
    assert [(job.state, job.attempts) for job in jobs] == [(JobState.DONE, 1)] * 2


def test_what_was_passed_over_is_in_a_table_with_its_line(
    shell: Shell, root: Person, tmp_path: Path
):
    result = shell.run("import", listing(tmp_path, LISTING + "\n\n[/b] :fire: [red]Too short"))
    assert result.exit_code == 0
    assert "6 new, 0 known, 1 skipped, 0 failed." in result.output
    line = next(line for line in result.output.splitlines() if "Too short" in line)
    assert "15" in line
    assert "[/b] :fire: [red]" in line, "as it stands in the file"


def test_names_with_brackets_are_only_names(shell: Shell, root: Person, tmp_path: Path):
    text = LISTING.replace("ICML 2026 Papers", "ICML 2026 [/oral] papers")
    result = shell.run("import", listing(tmp_path, text, "list [bold] [b.txt"))
    assert result.exit_code == 0, result.output
    assert "[/oral] papers: 6 new" in result.output


def test_a_bad_file_is_reported_and_the_next_one_is_brought_in(
    shell: Shell, runtime: Runtime, root: Person, tmp_path: Path
):
    empty = listing(tmp_path, "", "empty.txt")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7 ...")
    result = shell.run("import", empty, tmp_path / "paper.pdf", listing(tmp_path))
    assert result.exit_code == 1
    assert "papershelf: empty.txt: The file is empty." in result.stderr
    assert "papershelf: paper.pdf: This is a PDF" in result.stderr
    assert "Traceback" not in result.output
    assert papers(runtime) == 6


def test_a_file_without_a_paper_is_no_success(shell: Shell, root: Person, tmp_path: Path):
    said = shell.fails("import", listing(tmp_path, "ICML 2026 Papers\n\nNothing yet.\n"))
    assert "No paper was found" in said
    assert "one abstract a paragraph" in said


def test_a_bibtex_file_goes_to_the_reading_list_and_what_was_rejected_to_a_file(
    shell: Shell, alice: Person, tmp_path: Path
):
    bib = tmp_path / "mine.bib"
    bib.write_text("@misc{a, title = {Folding Shelves}}\n@misc{b, note = {nothing}}\n")
    rest = tmp_path / "rest.bib"
    result = shell.run("import", "--user", alice.email, "--rejected", rest, bib)
    assert "1 new, 0 known, 1 skipped, 0 failed; 1 new on the reading list." in result.output
    assert rest.read_text() == "@misc{b, note = {nothing}}\n"
    shell.run("import", "--user", alice.email, "--no-save", "--format", "bibtex", bib)
    assert "formats" in shell.fails("import", "--user", alice.email, "--format", "word", bib)


def test_an_import_is_for_the_person_named(
    shell: Shell, runtime: Runtime, root: Person, alice: Person, tmp_path: Path
):
    shell.run("import", "--user", alice.email, listing(tmp_path))
    with runtime.reading() as session, system_scope(session, "a test"):
        assert session.scalars(sa.select(Import.user_id)).all() == [alice.id]
    assert "nobody@example.org" in shell.fails(
        "import", "--user", "nobody@example.org", listing(tmp_path)
    )


def test_without_an_administrator_an_import_needs_a_name(shell: Shell, tmp_path: Path):
    assert "administrator" in shell.fails("import", listing(tmp_path))


def test_a_file_that_is_not_there_is_named(shell: Shell, root: Person, tmp_path: Path):
    result = shell.run("import", tmp_path / "nowhere.txt")
    assert result.exit_code == 2
    assert "nowhere.txt" in result.output
    assert "Traceback" not in result.output


# ---- train --------------------------------------------------------------------------------------


def test_training_publishes_a_generation(shell: Shell, runtime: Runtime):
    make_papers(runtime, 4)
    result = shell.run("train")
    assert result.exit_code == 0, result.output
    generation = runtime.live_model.registry.current()
    assert generation is not None
    assert f"Generation {generation}: 4 works, 0 interactions of 0 people" in result.output


def test_quiet_training_prints_nothing(shell: Shell, runtime: Runtime):
    result = shell.run("train", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert runtime.live_model.registry.current() is not None


# ---- experiment ---------------------------------------------------------------------------------


def test_an_experiment_from_its_start_to_its_end(shell: Shell, runtime: Runtime):
    make_papers(runtime, 8)
    assert "There was no experiment yet" in shell.run("experiment", "status").output
    assert "There was no experiment yet" in shell.run("experiment", "list").output
    begun = shell.run("experiment", "start", "--set", "term_weight=5", "--name", "terms")
    assert begun.exit_code == 0, begun.output
    arms = runtime.live_model.registry.arms()
    assert arms is not None
    assert f"{arms.challenger} challenges {arms.control}" in begun.output
    assert "about what others read" in begun.output
    assert arms.control == runtime.live_model.registry.current()
    said = shell.run("experiment", "status").output
    assert "Keep watching" in said
    assert "0 shared slates of 0 people" in said
    assert "days of people" not in said, "no table of nothing"
    assert "about what others read" in said
    assert "term_weight=5.0" in said
    assert "Neither" in shell.fails("experiment", "stop", "--adopt")
    ended = shell.run("experiment", "stop")
    assert (ended.exit_code, "Stopped terms." in ended.output) == (0, True)
    assert "Ended without a decision" in ended.output
    assert "Keep watching" not in ended.output
    assert "0 shared slates of 0 people" in ended.output
    assert runtime.live_model.registry.arms() is None
    assert "undecided" in shell.run("experiment", "list").output
    assert "Nothing was adopted" in shell.run("experiment", "revert").output


def test_the_winner_is_told_and_adopted(shell: Shell, runtime: Runtime):
    groups = add_listing(runtime)
    row = start_rivals(runtime, groups)
    for number in range(15):
        reader = Visitor(runtime, make_person(runtime, f"Reader{number}"))
        reader.save(groups["tides"][0])
        reader.take(reader.visit(limit=4), *groups["batteries"][1:])
    said = shell.run("experiment", "status").output
    assert "The challenger wins" in said
    assert "15 shared slates of 15 people" in said
    assert said.index("by saves") < said.index("The challenger wins"), "the verdict comes last"
    ended = shell.run("experiment", "stop", "--adopt")
    assert ended.exit_code == 0, ended.output
    assert "The challenger answers from now on" in ended.output
    assert runtime.live_model.registry.current() == row.challenger_generation
    assert "challenger" in shell.run("experiment", "list").output
    assert "take the defaults again" in shell.run("experiment", "revert").output


def test_the_slates_on_which_both_agree_are_told(shell: Shell, runtime: Runtime):
    (tide, *_) = add_listing(runtime)["tides"]
    reader = Visitor(runtime, make_person(runtime, "Ann"))
    reader.save(tide)
    first, same = train(runtime).generation, train(runtime).generation
    start(runtime, first, same)
    reader.visit()
    assert "Both answered the same in 1 slate," in shell.run("experiment", "status").output
    told = json.loads(shell.run("experiment", "status", "--json").output)["experiment"]
    assert (told["slates"], told["slates_alike"], told["hint"]) == (0, 1, None)


def test_the_first_positions_are_shown_and_programs_get_all(shell: Shell, runtime: Runtime):
    make_papers(runtime, 25)
    reader = Visitor(runtime, make_person(runtime, "Ann"))
    reader.visit(now=datetime.now(UTC), limit=25)
    said = shell.run("experiment", "status").output
    assert "The first 20 of 25 positions; --json has all." in said
    shown = {line.split()[1] for line in said.splitlines() if line.startswith("│")}
    assert "20" in shown
    assert "21" not in shown
    assert len(json.loads(shell.run("experiment", "status", "--json").output)["use"]) == 25


def test_a_training_tells_of_the_challenger(shell: Shell, runtime: Runtime):
    make_papers(runtime, 4)
    shell.run("experiment", "start", "--set", "factors=8")
    said = shell.run("train").output
    arms = runtime.live_model.registry.arms()
    assert arms is not None
    assert f"Generation {arms.challenger} challenges it" in said


def test_two_generations_that_are_there_are_compared(shell: Shell, runtime: Runtime):
    make_papers(runtime, 4)
    registry = runtime.live_model.registry
    shell.run("train", "--quiet")
    before = registry.current()
    shell.run("train", "--quiet")
    now = registry.current()
    assert "same generation" in shell.fails("experiment", "start", "--challenger", now)
    assert shell.run("experiment", "start", "--challenger", before).exit_code == 0
    arms = registry.arms()
    assert arms is not None
    assert (arms.control, arms.challenger) == (now, before)
    shell.run("experiment", "stop")
    (registry.root / str(before) / "gram.npy").write_bytes(b"")
    again = ("experiment", "start", "--name", "again", "--challenger", before)
    assert "gram.npy" in shell.fails(*again)


def test_the_status_for_programs(shell: Shell, runtime: Runtime):
    make_papers(runtime, 4)
    assert json.loads(shell.run("experiment", "status", "--json").output) == {
        "experiment": None,
        "days": 30,
        "use": [],
    }
    shell.run("experiment", "start", "--set", "factors=8", "--name", "eight")
    told = json.loads(shell.run("experiment", "status", "eight", "--json").output)["experiment"]
    assert (told["name"], told["decision"], told["decided_on"]) == ("eight", "undecided", None)
    assert told["challenger"]["settings"] == {"factors": 8}
    assert told["saves"] == {
        "wins": 0,
        "losses": 0,
        "ties": 0,
        "days_not_over": 0,
        "estimate": None,
        "low": 0.0,
        "high": 1.0,
        "e_value": 1.0,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["start"], "--set or by --challenger"),
        (["start", "--set", "factors=8", "--challenger", "x"], "--set or by --challenger"),
        (["start", "--set", "factors=8", "--control", "x"], "--set or by --challenger"),
        (["start", "--set", "nothing=8"], "cannot be set; one of alpha"),
        (["start", "--set", "factors"], "as NAME=VALUE, not 'factors'"),
        (["start", "--set", "factors=-1"], "a whole number from 0 up, not '-1'"),
        (["start", "--set", f"factors={Config().factors}"], "with these settings already"),
        (["start", "--set", "factors=999999999"], "factors is from 0 to 2,048"),
        (["start", "--set", "factors=8", "--alpha", "2"], "alpha"),
        (["start", "--challenger", "000009-0123456789abcdef"], "missing or damaged"),
        (["stop"], "No experiment is running"),
        (["status", "none"], "There is no experiment 'none'"),
    ],
)
def test_what_is_wrong_with_an_experiment_is_one_sentence(
    shell: Shell, runtime: Runtime, words: list[str], said: str
):
    assert said in shell.fails("experiment", *words)
    assert runtime.live_model.registry.current() is None, "and nothing was trained"


# ---- user and token -----------------------------------------------------------------------------


def test_a_person_is_added_and_can_sign_in(shell: Shell, runtime: Runtime):
    result = shell.run(
        *[
            "user",
            "add",
            "Ada@Example.org",
            "--name",
            "Ada",
            "--admin",
            "--zone",
            "Europe/Berlin",
            "--password",
        ],
        PASSWORD,
    )
    assert (result.exit_code, result.output) == (0, "Added ada@example.org.\n")
    user = sign_in(runtime.writing, "ada@example.org", PASSWORD, now=datetime.now(UTC))
    assert user is not None
    assert (user.name, user.is_admin, user.zone) == ("Ada", True, "Europe/Berlin")


def test_a_password_is_asked_for_twice_and_not_shown(shell: Shell, runtime: Runtime):
    result = shell.run("user", "add", "ada@example.org", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert result.exit_code == 0
    assert PASSWORD not in result.output
    with runtime.reading() as session:
        assert session.scalars(sa.select(User.email)).all() == ["ada@example.org"]


@pytest.mark.filterwarnings("error::getpass.GetPassWarning")
def test_without_a_terminal_a_password_is_an_option(shell: Shell, runtime: Runtime):
    assert "--password" in shell.fails("user", "add", "ada@example.org")
    with runtime.reading() as session:
        assert session.scalars(sa.select(User)).all() == []


def test_what_is_wrong_with_a_person_is_said_in_one_sentence(shell: Shell, alice: Person):
    add = ("user", "add")
    assert "password" in shell.fails(*add, "ada@example.org", "--password", "short")
    assert "e-mail" in shell.fails(*add, "ada", "--password", PASSWORD)
    assert "zone" in shell.fails(*add, "ada@example.org", "--zone", "Mars", "--password", PASSWORD)
    assert alice.email in shell.fails(*add, alice.email, "--password", PASSWORD)


def test_a_token_is_printed_alone_and_works(
    shell: Shell, runtime: Runtime, root: Person, alice: Person
):
    result = shell.run("token", "create")
    assert result.exit_code == 0
    limited = shell.run(
        *[
            "token",
            "create",
            "--scope",
            "recs:read",
            "--scope",
            "library:read",
            "--days",
            "3",
            "--user",
        ],
        alice.email,
    )
    with runtime.reading() as session:
        now = datetime.now(UTC)
        roots = find_principal(session, result.output.strip(), now=now)
        hers = find_principal(session, limited.output.strip(), now=now)
    assert (roots.user_id, roots.scopes) == (root.id, EVERYTHING_PERSONAL)
    assert (hers.user_id, hers.scopes) == (alice.id, {Scope.RECS_READ, Scope.LIBRARY_READ})
    assert hers.expires_at is not None
    assert 2 <= (hers.expires_at - now).days <= 3


def test_nobody_gets_a_token_that_is_more_than_they_are(shell: Shell, alice: Person):
    assert "administrator" in shell.fails(
        *["token", "create", "--scope", "admin", "--user"], alice.email
    )


# ---- db -----------------------------------------------------------------------------------------


def test_an_empty_database_is_brought_to_the_schema(shell: Shell, tmp_path: Path):
    shell.monkeypatch.setenv("PAPERSHELF_DATA", str(tmp_path / "new"))
    shell.monkeypatch.delenv("DATABASE_URL")
    assert "There is no Papershelf in" in shell.fails("train")
    assert not (tmp_path / "new").exists(), "a command that finds nothing leaves nothing"
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "papershelf.db").touch()
    assert "papershelf db upgrade" in shell.fails("train")
    for _ in range(2):
        result = shell.run("db", "upgrade")
        assert (result.exit_code, result.output) == (
            0,
            "The database is at this version's schema.\n",
        )
    engine = make_engine(make_url(f"sqlite:///{tmp_path / 'new' / 'papershelf.db'}"))
    assert is_current(engine)
    engine.dispose()


@pytest.mark.parametrize("command", ["train", "run", "worker", "db upgrade", "token create"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "many"),
        ("DATABASE_URL", "mysql://localhost/x"),
        ("PAPERSHELF_DATA", "/proc/papershelf"),
    ],
)
def test_a_bad_setting_is_one_sentence_from_every_command(
    shell: Shell, command: str, name: str, value: str
):
    if (command, name) == ("worker", "PAPERSHELF_DATA"):
        pytest.skip("refused before it looks at the folder, or a process of its own")
    shell.monkeypatch.setenv(name, value)
    assert name in shell.fails(*command.split())


def test_a_worker_beside_the_embedded_service_is_refused(shell: Shell, database: str):
    if database != "sqlite":
        pytest.skip("on PostgreSQL it is right")
    assert "papershelf run" in shell.fails("worker")


# ---- backup -------------------------------------------------------------------------------------


def test_a_backup_taken_while_somebody_writes_is_whole(
    shell: Shell, runtime: Runtime, database: str, tmp_path: Path
):
    if database != "sqlite":
        assert "pg_dump" in shell.fails("backup", tmp_path / "copy.db")
        return
    committed, stop = [], threading.Event()

    def write() -> None:
        while not stop.is_set():
            with runtime.writing() as session:
                for part in range(3):
                    session.add(AuditEntry(at=datetime.now(UTC), action=f"{len(committed)}.{part}"))
                session.commit()
            committed.append(len(committed))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(committed) < 10:
            stop.wait(0.01)
        before = len(committed)
        result = shell.run("backup", tmp_path / "copy.db")
    finally:
        stop.set()
        writer.join()
    assert result.exit_code == 0, result.output
    copy = sqlite3.connect(tmp_path / "copy.db")
    rows = [action for (action,) in copy.execute("SELECT action FROM audit_entry ORDER BY id")]
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copy.close()
    assert len(rows) >= 3 * before, "everything committed before it began"
    assert len(rows) % 3 == 0, "no half of a transaction"
    restored = make_engine(make_url(f"sqlite:///{tmp_path / 'copy.db'}"))
    assert is_current(restored)
    restored.dispose()


def test_a_backup_never_overwrites(shell: Shell, database: str, tmp_path: Path):
    if database != "sqlite":
        pytest.skip("backups of PostgreSQL are pg_dump's")
    there = tmp_path / "copy.db"
    there.write_text("precious")
    assert "copy.db" in shell.fails("backup", there)
    assert there.read_text() == "precious"
    assert "nowhere" in shell.fails("backup", tmp_path / "nowhere" / "copy.db")


def test_a_backup_is_for_its_owner_only(shell: Shell, database: str, tmp_path: Path):
    if database != "sqlite":
        pytest.skip("backups of PostgreSQL are pg_dump's")
    shell.run("backup", str(tmp_path / "copy.db"))
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
