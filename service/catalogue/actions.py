"""Adds papers to the catalogue, each once."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.orm import Session

from service.accounts.actions import record
from service.catalogue.fingerprints import abstract_fingerprint, title_fingerprint
from service.catalogue.identifiers import Identifier, Scheme
from service.catalogue.queries import WITH_PARTS
from service.catalogue.records import NewPaper
from service.catalogue.text import to_plain
from service.catalogue.titles import derive_title
from service.db import scoped_to
from service.errors import InvalidInput
from service.tables import CatalogueState, Paper, PaperAuthor, PaperIdentifier, Work

COMPLETED = ("venue", "year", "published", "kind", "withdrawal", "url", "pdf_url", "code_url")
"""Columns that are filled in as soon as somebody knows them."""
_WORD = re.compile(r"\w+")

REAL_TITLE = 1.0
"""Confidence of a title that somebody gave; a derived one has less."""


def add_paper(session: Session, new: NewPaper, *, now: datetime) -> tuple[Paper, bool]:
    """The paper in the catalogue, and whether it is new there.

    Known is a paper with one of its identifiers, or with the same abstract; where there is no
    abstract, the same title and authors. Raises InvalidInput where there is none of the three.
    """
    if not (new.title or new.abstract or new.identifiers):
        raise InvalidInput("A paper needs a title, an abstract or an identifier.", field="title")
    # The lock makes all who add papers wait for each other, so that finding nothing means there
    # is nothing; and it makes the versions follow the order of the commits.
    session.scalars(select(CatalogueState).with_for_update()).one()
    fingerprint = paper_fingerprint(new)
    known = _find_known(session, new, fingerprint)
    if known is not None:
        _complete(session, known, new, fingerprint, now=now)
        return known, False
    version = _next_catalogue_version(session)
    new = replace(new, identifiers=tuple(_free(session, new.identifiers)))
    paper = _make_paper(new, fingerprint, version, now=now)
    session.add(paper)
    session.flush()
    return paper, True


def add_papers(session: Session, batch: Sequence[NewPaper], *, now: datetime) -> int:
    """Add many papers with one look-up and one version; those already there are completed.

    For the starter catalogue. Returns how many were new.
    """
    session.scalars(select(CatalogueState).with_for_update()).one()
    fingerprints = [paper_fingerprint(new) for new in batch]
    there = set(
        session.scalars(select(Paper.fingerprint).where(Paper.fingerprint.in_(fingerprints)))
    )
    pairs = [(i.scheme, i.value) for new in batch for i in new.identifiers]
    named = {
        (scheme, value)
        for scheme, value in session.execute(
            select(PaperIdentifier.scheme, PaperIdentifier.value).where(
                tuple_(PaperIdentifier.scheme, PaperIdentifier.value).in_(pairs)
            )
        )
    }
    version = _next_catalogue_version(session)
    papers: dict[str | None, Paper] = {}
    known: list[tuple[NewPaper, str | None]] = []
    for new, fingerprint in zip(batch, fingerprints, strict=True):
        is_named = any((i.scheme, i.value) in named for i in new.identifiers)
        if is_named or fingerprint in there or fingerprint in papers:
            known.append((new, fingerprint))
        else:
            papers[fingerprint] = _make_paper(new, fingerprint, version, now=now)
    session.add_all(papers.values())
    session.flush()
    for new, fingerprint in known:
        if paper := _find_known(session, new, fingerprint):
            _complete(session, paper, new, fingerprint, now=now)
    return len(papers)


def paper_fingerprint(new: NewPaper) -> str | None:
    """Of the abstract, or of title, authors and year where there is none; None without a title."""
    if new.abstract:
        return abstract_fingerprint(new.abstract)
    if new.title is None:
        return None
    return title_fingerprint(new.title, [author.name for author in new.authors], new.year)


def _find_known(session: Session, new: NewPaper, fingerprint: str | None) -> Paper | None:
    for identifier in new.identifiers:
        known = session.scalar(
            select(Paper)
            .join(PaperIdentifier)
            .where(
                PaperIdentifier.scheme == identifier.scheme,
                PaperIdentifier.value == identifier.value,
            )
            .options(*WITH_PARTS)
        )
        if known is not None and not _shares_only_its_book(identifier, known, new):
            return known
    if fingerprint is None:
        return None
    return session.scalar(
        select(Paper).where(Paper.fingerprint == fingerprint).options(*WITH_PARTS)
    )


def _shares_only_its_book(identifier: Identifier, known: Paper, new: NewPaper) -> bool:
    """Whether an identifier is that of a book, and these are two of its chapters.

    Chapters are often listed under the DOI or ISBN of the whole; their titles then have no word in
    common. A title in another script is a translation and says nothing.
    """
    if identifier.scheme not in {Scheme.DOI, Scheme.ISBN} or not (known.title and new.title):
        return False
    one, other = (set(_WORD.findall(to_plain(t).casefold())) for t in (known.title, new.title))
    is_comparable = all(any(word.isascii() for word in words) for words in (one, other))
    return is_comparable and one.isdisjoint(other)


def _complete(
    session: Session, known: Paper, new: NewPaper, fingerprint: str | None, *, now: datetime
) -> None:
    """Fill in what was not known of a paper; what is there already is never overwritten.

    A real title thus takes the place of a derived one, in the same row, so that everybody's
    bookmarks, ratings and notes stay.
    """
    changes: dict[str, object] = {
        column: value
        for column in COMPLETED
        if getattr(known, column) is None and (value := getattr(new, column)) is not None
    }
    details = known.details or {}
    if more := {key: value for key, value in new.details.items() if key not in details}:
        changes["details"] = {**details, **more}
    if known.title is None and new.title:
        changes |= {"title": new.title, **_naming(new)}
    if known.abstract is None and new.abstract:
        changes |= {"abstract": new.abstract, "abstract_text": to_plain(new.abstract)}
        if known.title is None and not new.title:
            changes |= _naming(new)
        if not session.scalar(select(Paper.id).where(Paper.fingerprint == fingerprint)):
            changes["fingerprint"] = fingerprint  # so that a listing finds it by its abstract
    names = _free(session, new.identifiers)
    if not (changes or names or (new.authors and not known.authors)):
        return
    known.identifiers += _identifiers(names)
    known.authors = known.authors or _authors(new)
    for column, value in changes.items():
        setattr(known, column, value)
    known.version += 1
    known.catalogue_version = _next_catalogue_version(session)
    record(
        session,
        "paper.completed",
        now=now,
        actor_id=scoped_to(session),
        object_kind="paper",
        object_id=str(known.public_id),
    )
    session.flush()


def _free(session: Session, identifiers: Iterable[Identifier]) -> list[Identifier]:
    """Those that no paper goes by yet."""
    names = {(i.scheme, i.value): i for i in identifiers}
    if not names:
        return []
    taken = select(PaperIdentifier.scheme, PaperIdentifier.value).where(
        tuple_(PaperIdentifier.scheme, PaperIdentifier.value).in_(list(names))
    )
    for pair in session.execute(taken):
        names.pop((pair.scheme, pair.value), None)
    return list(names.values())


def _identifiers(identifiers: Iterable[Identifier]) -> list[PaperIdentifier]:
    return [PaperIdentifier(scheme=i.scheme, value=i.value, version=i.version) for i in identifiers]


def _authors(new: NewPaper) -> list[PaperAuthor]:
    return [
        PaperAuthor(position=position, name=author.name, family=author.family)
        for position, author in enumerate(new.authors, start=1)
    ]


def _next_catalogue_version(session: Session) -> int:
    return session.scalars(
        update(CatalogueState)
        .values(catalogue_version=CatalogueState.catalogue_version + 1)
        .returning(CatalogueState.catalogue_version)
    ).one()


def _make_paper(new: NewPaper, fingerprint: str | None, version: int, *, now: datetime) -> Paper:
    return Paper(
        work=Work(created_at=now, catalogue_version=version),
        title=new.title,
        **_naming(new),
        abstract=new.abstract,
        abstract_text=to_plain(new.abstract) if new.abstract else None,
        venue=new.venue,
        year=new.year,
        published=new.published,
        kind=new.kind,
        details=dict(new.details) or None,
        withdrawal=new.withdrawal,
        url=new.url,
        pdf_url=new.pdf_url,
        code_url=new.code_url,
        source=new.source,
        list_name=new.list_name,
        fingerprint=fingerprint,
        added_at=now,
        catalogue_version=version,
        authors=_authors(new),
        identifiers=_identifiers(dict.fromkeys(new.identifiers)),
    )


def _naming(new: NewPaper) -> dict[str, Any]:
    """How to call it: by its title, by what its abstract says, or by its identifier."""
    name = None
    if new.title:
        shown, confidence = to_plain(new.title), REAL_TITLE
    elif new.abstract:
        derived = derive_title(new.abstract, [new.code_url] if new.code_url else [])
        shown, name, confidence = derived.text, derived.name, derived.confidence
    else:
        shown, confidence = _spoken(new.identifiers[0]), 0.0
    return {"display_title": shown, "derived_name": name, "title_confidence": confidence}


def _spoken(identifier: Identifier) -> str:
    """What to call a paper of which nothing but this is known."""
    if identifier.scheme == Scheme.URL:
        return identifier.value.partition("://")[2].rstrip("/")
    return f"{identifier.scheme}:{identifier.value}"
