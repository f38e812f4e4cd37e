"""What is kept: bringing it in, keeping its schema, backing it up."""

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from service.cli.terminal import console, opened_runtime, person, progress_bar
from service.errors import CannotStart, Conflict, InvalidInput
from service.runtime import Runtime

LOOK_EVERY_S = 0.1
RENEW_EVERY_S = 30.0
"""How often a long import tells that it is alive, so that the service leaves it alone."""


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--user", "email", help="For whom; the first administrator if not given.")
@click.option("--format", "format_name", help="What the files are; found out if not given.")
@click.option("--encoding", help="Their characters, such as cp1252; found out if not given.")
@click.option(
    "--save/--no-save",
    "saves",
    default=None,
    help="Whether their papers go to the reading list, too. If not given, those of a reference "
    "manager or of bookmarks do, those of a conference do not.",
)
@click.option(
    "--rejected",
    "rejected_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write what was not taken, to be mended and brought again.",
)
def import_files(files: tuple[str, ...], rejected_file: Path | None, **said: Any) -> None:
    """Bring in papers: conference listings, and the files of reference managers.

    What is known already is recognised. Ends with 1 if an entry or a file could not be taken.
    """
    if rejected_file is not None and len(files) > 1:
        raise click.BadOptionUsage("--rejected", "Name one file with --rejected.")
    is_complete = [_try_file(Path(file), rejected_file, said) for file in files]
    sys.exit(0 if all(is_complete) else 1)


def _try_file(file: Path, rejected_file: Path | None, said: Mapping[str, Any]) -> bool:
    """One bad file is reported and the next one is still brought in."""
    try:
        return _import_file(file, rejected_file, **said)
    except InvalidInput as error:
        click.echo(f"papershelf: {file.name}: {error}", err=True)
        return False


def _import_file(file: Path, rejected_file: Path | None, *, email: str | None, **said: Any) -> bool:
    from service.db import scope
    from service.importers.queries import get_import, import_rows, rejected
    from service.importers.run import receive
    from service.tables import ImportState, Outcome

    with opened_runtime() as runtime:
        with runtime.writing() as session:
            owner_id = person(session, email).id
            scope(session, owner_id)
            brought = receive(
                session,
                owner_id,
                file_name=file.name,
                content=file.read_bytes(),
                now=datetime.now(UTC),
                **said,
            )
            session.commit()
        with progress_bar() as bar:
            task = bar.add_task(f"Importing {file.name}", total=None)
            _bring_in(
                runtime,
                brought.id,
                owner_id,
                lambda done, total: bar.update(task, completed=done, total=total),
            )
        with runtime.reading() as session:
            scope(session, owner_id)
            outcome = get_import(session, owner_id, brought.public_id)
            rows = import_rows(
                session, owner_id, outcome.id, after_position=0, limit=outcome.n_entries
            )
            if rejected_file is not None and any(row.source for row, _ in rows):
                rejected_file.write_text(rejected(session, outcome), encoding="utf-8")
    if outcome.state is ImportState.FAILED:
        click.echo(f"papershelf: {file.name}: {outcome.error}", err=True)
        return False
    console.print(
        f"{outcome.list_name or file.name}: {outcome.n_created} new, {outcome.n_known} known, "
        f"{outcome.n_skipped} skipped, {outcome.n_failed} failed"
        f"{f'; {outcome.n_saved} new on the reading list' if outcome.saves else ''}."
    )
    refused = [row for row, _ in rows if row.outcome in {Outcome.SKIPPED, Outcome.FAILED}]
    if refused:
        table = Table("line", "entry", "why", "what to do")
        for row in refused:
            table.add_row(str(row.line), row.excerpt[:60], row.reason or "", row.remedy or "")
        console.print(table)
    return outcome.n_failed == 0


def _bring_in(
    runtime: Runtime, import_id: int, owner_id: int, progress: Callable[[int, int], None]
) -> None:
    """Do the import here, or watch it where a worker was quicker to take it."""
    from service.importers.run import run_import
    from service.job_queue import JobKind, claim, finish, job_with, keep

    renewed_at = time.monotonic()

    def renew_and_tell(done: int, total: int) -> None:
        nonlocal renewed_at
        if job is not None and time.monotonic() - renewed_at > RENEW_EVERY_S:
            with runtime.writing() as session:
                keep(session, job, now=datetime.now(UTC))
                session.commit()
            renewed_at = time.monotonic()
        progress(done, total)

    with runtime.writing() as session:
        job_id = job_with(session, JobKind.IMPORT, "import_id", import_id)
        job = claim(session, job_id, now=datetime.now(UTC))
        session.commit()
    if job is not None:
        now = datetime.now(UTC)
        run_import(runtime.writing, import_id, owner_id, now=now, progress=renew_and_tell)
        with runtime.writing() as session:
            finish(session, job, {}, now=datetime.now(UTC))
            session.commit()
    while not _has_ended(runtime, import_id, owner_id, job_id):
        time.sleep(LOOK_EVERY_S)


def _has_ended(runtime: Runtime, import_id: int, owner_id: int, job_id: int) -> bool:
    """Raises Conflict when the worker that had taken the import gave it up."""
    from service.db import scope
    from service.tables import Import, ImportState, Job, JobState

    with scope(runtime.reading(), owner_id) as session:
        if session.get_one(Import, import_id).state in {ImportState.DONE, ImportState.FAILED}:
            return True
        job = session.get_one(Job, job_id)
    if job.state is JobState.FAILED:
        raise Conflict(f"The running service could not finish the import: {job.error}.")
    return False


@click.group()
def db() -> None:
    """The database's schema."""


@db.command()
def upgrade() -> None:
    """Bring the database to this version's schema."""
    from service.config import Settings, prepare_data_folder
    from service.db import make_engine, require_database
    from service.tables.migrations import upgrade as migrate

    settings = Settings.from_environment()
    prepare_data_folder(settings.data_folder)
    engine = make_engine(settings.database_url)
    require_database(engine)
    migrate(engine)
    engine.dispose()
    console.print("The database is at this version's schema.")


@click.command()
@click.argument("destination", type=click.Path(path_type=Path))
def backup(destination: Path) -> None:
    """Copy the database to DESTINATION while the service runs; a plain cp would miss writes.

    For PostgreSQL use pg_dump.
    """
    with opened_runtime() as runtime:
        if not runtime.settings.is_embedded:
            raise CannotStart("This installation is on PostgreSQL; back it up with pg_dump.")
        if destination.exists():
            raise Conflict(f"{destination} is there already; name a new file.")
        verdict = _copy(str(runtime.settings.database_url.database), destination)
    if verdict != "ok":
        destination.unlink(missing_ok=True)
        raise CannotStart(
            f"{destination} could not be written ({verdict}); name a folder that is there."
        )
    console.print(f"Backed up to {destination}.")


def _copy(database: str, destination: Path) -> str:
    """``ok``, or what is wrong with the copy."""
    try:
        # It holds what people wrote and their password hashes: for its owner's eyes only.
        os.close(os.open(destination, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with (
            closing(sqlite3.connect(database)) as source,
            closing(sqlite3.connect(destination)) as copy,
        ):
            source.backup(copy)
            return str(copy.execute("PRAGMA integrity_check").fetchone()[0])
    except (sqlite3.Error, OSError) as error:
        return str(error)
