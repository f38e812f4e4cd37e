"""Takes over what a person kept in another program: it adds, and never overwrites.

The person's own word about a paper, given here, counts more than that of an old file.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.db import insert_if_new
from service.library.changes import log, next_library_version
from service.library.records import Kept
from service.library.tags import add_tags
from service.tables import (
    Bookmark,
    BookmarkCollection,
    Collection,
    InteractionKind,
    Paper,
    Rating,
    ReadingStatus,
)


def keep(session: Session, user_id: int, paper: Paper, kept: Kept, *, now: datetime) -> bool:
    """Put the paper on the reading list with all that is said of it; whether it was not there.

    To a bookmark that is there tags and collections are added; a note, a citation key and stars
    only where there are none. Its status and the moment it was saved stay.
    """
    version = next_library_version(session, user_id)
    saved_at = min(kept.saved_at or now, now)
    made = insert_if_new(
        session,
        Bookmark,
        {
            "public_id": uuid4(),
            "user_id": user_id,
            "paper_id": paper.id,
            "status": kept.status or ReadingStatus.TO_READ,
            "note": kept.note,
            "citation_key": kept.citation_key,
            "saved_at": saved_at,
            "changed_at": now,
            "version": 1,
            "library_version": version,
        },
        unique=["user_id", "paper_id"],
    )
    bookmark = (
        made
        or session.scalars(
            select(Bookmark).where(Bookmark.user_id == user_id, Bookmark.paper_id == paper.id)
        ).one()
    )
    n_added = add_tags(session, user_id, bookmark.id, kept.tags)
    n_added += _add_collections(session, user_id, bookmark.id, kept.collections)
    if made is not None:
        log(session, user_id, paper, InteractionKind.SAVE, now=saved_at)
    elif _complete(bookmark, kept) or n_added:
        bookmark.version += 1
        bookmark.changed_at, bookmark.library_version = now, version
    if kept.stars is not None:
        _rate(session, user_id, paper, kept.stars, version, at=saved_at)
    return made is not None


def _complete(bookmark: Bookmark, kept: Kept) -> bool:
    """Whether there was something to fill in."""
    before = bookmark.note, bookmark.citation_key
    if kept.note and kept.note not in bookmark.note:
        bookmark.note = f"{bookmark.note}\n\n{kept.note}".strip()
    bookmark.citation_key = bookmark.citation_key or kept.citation_key
    return before != (bookmark.note, bookmark.citation_key)


def _add_collections(
    session: Session, user_id: int, bookmark_id: int, paths: Iterable[tuple[str, ...]]
) -> int:
    n_added = 0
    for names in paths:
        path = json.dumps(names, ensure_ascii=False)
        known = select(Collection.id).where(Collection.user_id == user_id, Collection.path == path)
        collection_id = session.scalar(known)
        if collection_id is None:
            values = {"public_id": uuid4(), "user_id": user_id, "path": path}
            insert_if_new(session, Collection, values, unique=["user_id", "path"])
            collection_id = session.scalars(known).one()
        lying = {"user_id": user_id, "bookmark_id": bookmark_id, "collection_id": collection_id}
        unique = ["bookmark_id", "collection_id"]
        n_added += insert_if_new(session, BookmarkCollection, lying, unique=unique) is not None
    return n_added


def _rate(
    session: Session, user_id: int, paper: Paper, stars: int, version: int, *, at: datetime
) -> None:
    values = {
        "public_id": uuid4(),
        "user_id": user_id,
        "paper_id": paper.id,
        "stars": stars,
        "rated_at": at,
        "version": 1,
        "library_version": version,
    }
    if insert_if_new(session, Rating, values, unique=["user_id", "paper_id"]) is not None:
        log(session, user_id, paper, InteractionKind.RATE, now=at, value=str(stars))
