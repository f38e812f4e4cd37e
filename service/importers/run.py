"""Brings a file in: kept first, then read in a process of its own, then taken in piece by piece.

A bad entry is reported beside the good ones. Each entry's row is written with its paper and its
bookmark, so an import that was cut off goes on where it stopped.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from service.catalogue.actions import add_paper
from service.db import scope
from service.errors import InvalidInput, ServiceError
from service.importers.decoding import encoding_named
from service.importers.draft import excerpt
from service.importers.format import Format
from service.importers.formats import format_named
from service.importers.reading import Reading, read_file
from service.importers.records import Entry, Skipped
from service.job_queue import JobKind, enqueue
from service.library.keeping import keep
from service.tables import Import, ImportRow, ImportState, Outcome

logger = logging.getLogger(__name__)

LARGEST_FILE = 32 * 1024 * 1024
"""Bytes. A library of 12,000 papers with their abstracts has about 20 million."""
ENTRIES_A_TURN: Final = 20
"""How many an import takes in, about a tenth of a second, before others get the write lock."""
LONGEST_SOURCE: Final = 100_000
"""Characters of a refused entry that are kept, to be mended and sent again."""

NO_PAPERS = (
    "No paper was found in this file. A listing has a heading, such as “ICML 2026 Papers”, and "
    "then one abstract a paragraph, with a blank line between two."
)


class CutOff(Exception):
    """The import was told to stop; what is in stays in."""


def receive(
    session: Session,
    user_id: int,
    *,
    file_name: str,
    content: bytes,
    now: datetime,
    format_name: str | None = None,
    encoding: str | None = None,
    saves: bool | None = None,
) -> Import:
    """Keep the file and queue its import; what it is in is found out where it is not said.

    ``saves`` tells whether its papers go to the person's library; None leaves that to the format.
    Raises InvalidInput for an empty or too large file, and for what there is no reader of.
    """
    if not content.strip():
        raise InvalidInput("The file is empty.", field="file")
    if len(content) > LARGEST_FILE:
        raise InvalidInput(
            f"The file has {len(content):,} bytes; at most {LARGEST_FILE:,} are taken.",
            field="file",
        )
    made = Import(
        user_id=user_id,
        file_name=file_name,
        content=content,
        format=format_named(format_name).name if format_name else None,
        encoding=encoding_named(encoding) if encoding else None,
        saves=saves,
        state=ImportState.QUEUED,
        created_at=now,
    )
    session.add(made)
    session.flush()
    enqueue(session, JobKind.IMPORT, {"import_id": made.id, "user_id": user_id}, now=now)
    return made


def run_import(
    begin: Callable[[], Session],
    import_id: int,
    user_id: int,
    *,
    now: datetime,
    progress: Callable[[int, int], None] | None = None,
    is_cut_off: Callable[[], bool] = lambda: False,
) -> None:
    """Read the file and take its entries in; ``begin`` opens a writing session.

    A file that cannot be read, or has no paper in it, ends as failed with the reason; that is an
    answer, not an error.
    Raises CutOff between two turns when ``is_cut_off`` says so; called again, it goes on there.
    """
    with scope(begin(), user_id) as session:
        brought = session.get_one(Import, import_id)
        content, saves, n_done = brought.content, brought.saves, _n_reported(session, import_id)
        said = {"format_name": brought.format, "encoding": brought.encoding}
        file_name = brought.file_name
    if content is None:
        return
    try:
        # Between two transactions: a long file must not hold the lock.
        reading = read_file(content, file_name=file_name, **said)
    except InvalidInput as error:
        with scope(begin(), user_id) as session:
            brought = session.get_one(Import, import_id)
            _close(session, brought, ImportState.FAILED, now=now, error=str(error))
            session.commit()
        return
    del content
    with reading:
        _take_all(begin, import_id, user_id, reading, saves, n_done, now, progress, is_cut_off)


def _take_all(
    begin: Callable[[], Session],
    import_id: int,
    user_id: int,
    reading: Reading,
    saves: bool | None,
    n_done: int,
    now: datetime,
    progress: Callable[[int, int], None] | None,
    is_cut_off: Callable[[], bool],
) -> None:
    format_ = format_named(reading.format)
    saves = format_.is_personal if saves is None else saves
    _begin(begin, import_id, user_id, reading, saves=saves)
    waiting = reading.entries(after=n_done)
    while True:
        if is_cut_off():
            raise CutOff
        with scope(begin(), user_id) as session:
            n_done = _take_turn(session, import_id, user_id, waiting, saves=saves, now=now)
            session.commit()
        if progress is not None:
            progress(n_done, reading.n_entries)
        if n_done >= reading.n_entries:
            break
    with scope(begin(), user_id) as session:
        _end(session, import_id, format_, now=now)
        session.commit()


def _end(session: Session, import_id: int, format_: Format, *, now: datetime) -> None:
    brought = session.get_one(Import, import_id, with_for_update=True)
    if brought.state in {ImportState.DONE, ImportState.FAILED}:
        return  # another worker was here
    if not _has_papers(session, import_id):
        _close(session, brought, ImportState.FAILED, now=now, error=_no_papers(format_))
        return
    _close(session, brought, ImportState.DONE, now=now)
    after = JobKind.CONSIDER_REBUILD
    enqueue(session, after, {}, now=now, waiting_key=after)


def _begin(
    begin: Callable[[], Session], import_id: int, user_id: int, reading: Reading, *, saves: bool
) -> None:
    with scope(begin(), user_id) as session:
        brought = session.get_one(Import, import_id)
        brought.state, brought.n_entries = ImportState.RUNNING, reading.n_entries
        brought.format, brought.encoding = reading.format, reading.encoding
        brought.list_name, brought.saves = reading.name, saves
        session.commit()


def _no_papers(format_: Format) -> str:
    if format_.name == "listing":
        return NO_PAPERS
    return f"No paper was found in this file, which was read as {format_.title}."


def give_up(session: Session, import_id: int, error: str, *, now: datetime) -> None:
    """Say that an import will not be tried again; what is in stays, and so does the file."""
    brought = session.get(Import, import_id)
    if brought is not None:
        why = f"It could not be done: {error}."
        _close(session, brought, ImportState.FAILED, now=now, error=why)


def _take_turn(
    session: Session,
    import_id: int,
    user_id: int,
    waiting: Iterator[tuple[int, Entry | Skipped]],
    *,
    saves: bool,
    now: datetime,
) -> int:
    """Take entries in until the turn is over; the position of the last that has its row."""
    n_done = _n_reported(session, import_id, for_update=True)
    counts: Counter[str] = Counter()
    for position, entry in waiting:
        if position <= n_done:
            continue  # another worker was here
        # The catalogue shows the latest first: so a listing keeps its own order.
        at = now - timedelta(microseconds=position)
        row = _take_in(session, import_id, user_id, position, entry, saves=saves, now=at)
        counts[f"n_{row.outcome}"] += 1
        counts["n_saved"] += row.is_saved
        n_done = position
        if counts.total() - counts["n_saved"] >= ENTRIES_A_TURN:
            break
    brought = session.get_one(Import, import_id)
    for name, n in counts.items():
        setattr(brought, name, getattr(brought, name) + n)
    return n_done


def _take_in(
    session: Session,
    import_id: int,
    user_id: int,
    position: int,
    entry: Entry | Skipped,
    *,
    saves: bool,
    now: datetime,
) -> ImportRow:
    row = ImportRow(
        user_id=user_id,
        import_id=import_id,
        position=position,
        line=entry.line,
        end_line=entry.end_line,
        outcome=Outcome.SKIPPED,
        is_saved=False,
    )
    if isinstance(entry, Skipped):
        row.excerpt, row.reason, row.remedy = excerpt(entry.text), entry.reason, entry.remedy
        row.source = entry.text[:LONGEST_SOURCE] if entry.is_loss else None
    else:
        row.excerpt = excerpt(entry.source)
        try:
            with session.begin_nested():
                paper, is_new = add_paper(session, entry.paper, now=now)
                if saves:
                    row.is_saved = keep(session, user_id, paper, entry.kept, now=now)
            row.paper_id = paper.id
            row.outcome = Outcome.CREATED if is_new else Outcome.KNOWN
        except OperationalError:
            raise  # the database is away or locked: that is no fault of the entry
        except Exception as error:
            # Whatever an entry does to our code must not cost the entries after it.
            if not isinstance(error, ServiceError):
                logger.exception("entry %s of import %s", position, import_id)
            row.outcome, row.is_saved = Outcome.FAILED, False
            row.source = entry.source[:LONGEST_SOURCE]
            row.reason = str(error) if isinstance(error, ServiceError) else "It cannot be stored."
            row.remedy = "Mend this entry and import it again; the others are in."
    session.add(row)
    return row


def _close(
    session: Session,
    brought: Import,
    state: ImportState,
    *,
    now: datetime,
    error: str | None = None,
) -> None:
    brought.state, brought.error, brought.finished_at = state, error, now
    # What is in needs no second copy; what failed is kept, to be looked at.
    brought.content = None if state is ImportState.DONE else brought.content


def _n_reported(session: Session, import_id: int, *, for_update: bool = False) -> int:
    """How many entries have their rows; the lock lets one worker at a time go on."""
    if for_update:
        session.execute(select(Import.id).where(Import.id == import_id).with_for_update())
    return session.scalars(
        select(func.count()).select_from(ImportRow).where(ImportRow.import_id == import_id)
    ).one()


def _has_papers(session: Session, import_id: int) -> bool:
    """Whether any entry was one, be it that it could not be stored."""
    return bool(
        session.scalar(
            select(ImportRow.id)
            .where(ImportRow.import_id == import_id, ImportRow.outcome != Outcome.SKIPPED)
            .limit(1)
        )
    )
