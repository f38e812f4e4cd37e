"""Brings a file in: kept first, then read, then one transaction an entry.

A bad entry is reported beside the good ones. Each entry's row is written with its paper, so an
import that was cut off goes on where it stopped.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from service.catalogue.actions import add_paper
from service.catalogue.links import code_link, find_links
from service.catalogue.records import NewPaper
from service.db import scope
from service.errors import InvalidInput, ServiceError
from service.importers.listing import ListedPaper, Listing, Skipped, parse
from service.job_queue import JobKind, enqueue
from service.tables import Import, ImportRow, ImportState, Outcome, PaperSource

logger = logging.getLogger(__name__)

LARGEST_FILE = 32 * 1024 * 1024
"""Bytes. The longest conference programmes are a tenth of that."""
EXCERPT = 200
"""Characters of an entry that the report shows."""


NO_PAPERS = (
    "No paper was found in this file. A listing has a heading, such as “ICML 2026 Papers”, and "
    "then one abstract a paragraph, with a blank line between two."
)


class CutOff(Exception):
    """The import was told to stop; what is in stays in."""


def receive(
    session: Session, user_id: int, *, file_name: str, content: bytes, now: datetime
) -> Import:
    """Keep the file and queue its import. Raises InvalidInput for an empty or too large one."""
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
    """Read the file and add its papers; ``begin`` opens a writing session.

    A file that is no listing, or has no paper in it, ends as failed with the reason; that is an
    answer, not an error.
    Raises CutOff between two entries when ``is_cut_off`` says so; called again, it goes on there.
    """
    with scope(begin(), user_id) as session:
        brought = session.get_one(Import, import_id)
        content, done = brought.content, _n_reported(session, import_id)
    if content is None:
        return
    try:
        listing = parse(content)  # between two transactions: a long file must not hold the lock
    except InvalidInput as error:
        with scope(begin(), user_id) as session:
            brought = session.get_one(Import, import_id)
            _close(session, brought, ImportState.FAILED, now=now, error=str(error))
            session.commit()
        return
    with scope(begin(), user_id) as session:
        brought = session.get_one(Import, import_id)
        brought.state, brought.n_entries = ImportState.RUNNING, len(listing.entries)
        brought.list_name = listing.name
        session.commit()
    for position, entry in enumerate(listing.entries, start=1):
        if is_cut_off():
            raise CutOff
        if position > done:
            with scope(begin(), user_id) as session:
                if not _is_reported(session, import_id, position):
                    # The catalogue shows the latest first: so a listing keeps its own order.
                    at = now - timedelta(microseconds=position)
                    _bring(session, import_id, user_id, position, entry, listing, now=at)
                    session.commit()
        if progress is not None:
            progress(position, len(listing.entries))
    with scope(begin(), user_id) as session:
        brought = session.get_one(Import, import_id, with_for_update=True)
        if brought.state in {ImportState.DONE, ImportState.FAILED}:
            return
        if _has_papers(session, import_id):
            _close(session, brought, ImportState.DONE, now=now)
            after = JobKind.CONSIDER_REBUILD
            enqueue(session, after, {}, now=now, waiting_key=after)
        else:
            _close(session, brought, ImportState.FAILED, now=now, error=NO_PAPERS)
        session.commit()


def give_up(session: Session, import_id: int, error: str, *, now: datetime) -> None:
    """Say that an import will not be tried again; what is in stays, and so does the file."""
    brought = session.get(Import, import_id)
    if brought is not None:
        why = f"It could not be done: {error}."
        _close(session, brought, ImportState.FAILED, now=now, error=why)


def _bring(
    session: Session,
    import_id: int,
    user_id: int,
    position: int,
    entry: ListedPaper | Skipped,
    listing: Listing,
    *,
    now: datetime,
) -> None:
    row = ImportRow(
        user_id=user_id,
        import_id=import_id,
        position=position,
        line=entry.line,
        end_line=entry.end_line,
        outcome=Outcome.SKIPPED,
    )
    if isinstance(entry, Skipped):
        row.excerpt, row.reason, row.remedy = entry.text[:EXCERPT], entry.reason, entry.remedy
    else:
        row.excerpt = entry.source[:EXCERPT]
        try:
            with session.begin_nested():
                paper, is_new = add_paper(session, _paper(entry, listing), now=now)
            row.paper_id = paper.id
            row.outcome = Outcome.CREATED if is_new else Outcome.KNOWN
        except OperationalError:
            raise  # the database is away or locked: that is no fault of the entry
        except Exception as error:
            # Whatever an entry does to our code must not cost the entries after it.
            if not isinstance(error, ServiceError):
                logger.exception("entry %s of import %s", position, import_id)
            row.outcome = Outcome.FAILED
            row.reason = str(error) if isinstance(error, ServiceError) else "It cannot be stored."
            row.remedy = "Mend this paragraph and import the file again; the others are in."
    session.add(row)
    session.flush()


def _paper(entry: ListedPaper, listing: Listing) -> NewPaper:
    return NewPaper(
        source=PaperSource.LISTING,
        abstract=entry.source,
        venue=entry.venue,
        year=entry.year,
        code_url=code_link(find_links(entry.source)),
        list_name=entry.list_name or listing.name,
    )


def _close(
    session: Session,
    brought: Import,
    state: ImportState,
    *,
    now: datetime,
    error: str | None = None,
) -> None:
    counts = dict(
        session.execute(
            select(ImportRow.outcome, func.count())
            .where(ImportRow.import_id == brought.id)
            .group_by(ImportRow.outcome)
        ).all()
    )
    brought.n_created = counts.get(Outcome.CREATED, 0)
    brought.n_known = counts.get(Outcome.KNOWN, 0)
    brought.n_skipped = counts.get(Outcome.SKIPPED, 0)
    brought.n_failed = counts.get(Outcome.FAILED, 0)
    brought.state, brought.error, brought.finished_at = state, error, now
    # What is in needs no second copy; what failed is kept, to be looked at.
    brought.content = None if state is ImportState.DONE else brought.content


def _n_reported(session: Session, import_id: int) -> int:
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


def _is_reported(session: Session, import_id: int, position: int) -> bool:
    """Whether another worker was here, under a lock that lets one at a time go on."""
    session.execute(select(Import.id).where(Import.id == import_id).with_for_update())
    return bool(
        session.scalar(
            select(ImportRow.id).where(
                ImportRow.import_id == import_id, ImportRow.position == position
            )
        )
    )
