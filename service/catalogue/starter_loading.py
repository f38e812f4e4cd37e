"""Fills an empty catalogue with the starter papers."""

from collections.abc import Callable
from datetime import datetime
from itertools import islice

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.accounts.actions import record
from service.catalogue.actions import add_papers
from service.catalogue.records import Author, NewPaper
from service.catalogue.starter import StarterPaper, read_starter
from service.tables import AuditEntry, PaperSource

LOADED = "starter.loaded"
BATCH = 250
"""Papers in one transaction: small enough that nobody else waits long for the write lock."""


def is_starter_loaded(session: Session) -> bool:
    return session.scalar(select(AuditEntry.id).where(AuditEntry.action == LOADED)) is not None


def load_starter(
    begin: Callable[[], Session], *, now: datetime, advance: Callable[[int], object]
) -> None:
    """Add the starter papers, skipping what is there, so that a cut-off loading can go on."""
    papers = read_starter()
    while batch := list(islice(papers, BATCH)):
        with begin() as session:
            add_papers(session, [_new_paper(paper) for paper in batch], now=now)
            session.commit()
        advance(len(batch))
    with begin() as session:
        record(session, LOADED, now=now)
        session.commit()


def _new_paper(paper: StarterPaper) -> NewPaper:
    return NewPaper(
        source=PaperSource.STARTER,
        title=paper.title,
        authors=tuple(map(Author, paper.authors)),
        venue=paper.venue,
        year=paper.year,
        url=paper.url,
        pdf_url=paper.pdf_url,
        identifiers=paper.identifiers,
    )
