"""A person's tags, and which bookmark carries them."""

from collections.abc import Iterable
from uuid import uuid4

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from service.db import insert_if_new
from service.errors import InvalidInput
from service.library.records import tag_key
from service.tables import BookmarkTag, Tag

MOST_TAGS = 50
"""Tags that a person gives one bookmark; what another program exports may have more."""


def set_tags(session: Session, user_id: int, bookmark_id: int, names: Iterable[str]) -> None:
    """Make these the tags of a bookmark. Raises InvalidInput for too many."""
    wanted = _by_key(names)
    if len(wanted) > MOST_TAGS:
        raise InvalidInput(f"A bookmark carries at most {MOST_TAGS} tags.", field="tags")
    tag_ids = _ids(session, user_id, wanted)
    session.execute(
        delete(BookmarkTag).where(
            BookmarkTag.user_id == user_id,
            BookmarkTag.bookmark_id == bookmark_id,
            BookmarkTag.tag_id.not_in(tag_ids),
        )
    )
    _attach(session, user_id, bookmark_id, tag_ids)


def add_tags(session: Session, user_id: int, bookmark_id: int, names: Iterable[str]) -> int:
    """Give a bookmark these tags, too; how many of them it did not have."""
    wanted = _by_key(names)
    return _attach(session, user_id, bookmark_id, _ids(session, user_id, wanted)) if wanted else 0


def _by_key(names: Iterable[str]) -> dict[str, str]:
    """The first spelling of each."""
    wanted: dict[str, str] = {}
    for name in filter(None, map(str.strip, names)):
        wanted.setdefault(tag_key(name), name)
    return wanted


def _ids(session: Session, user_id: int, wanted: dict[str, str]) -> list[int]:
    known = select(Tag.id, Tag.name_key).where(Tag.user_id == user_id, Tag.name_key.in_(wanted))
    ids = {key: tag_id for tag_id, key in session.execute(known)}
    for key, name in wanted.items():
        if key not in ids:
            values = {"public_id": uuid4(), "user_id": user_id, "name": name, "name_key": key}
            insert_if_new(session, Tag, values, unique=["user_id", "name_key"])
    if len(ids) < len(wanted):
        ids = {key: tag_id for tag_id, key in session.execute(known)}
    return list(ids.values())


def _attach(session: Session, user_id: int, bookmark_id: int, tag_ids: Iterable[int]) -> int:
    return sum(
        insert_if_new(
            session,
            BookmarkTag,
            {"user_id": user_id, "bookmark_id": bookmark_id, "tag_id": tag_id},
            unique=["bookmark_id", "tag_id"],
        )
        is not None
        for tag_id in tag_ids
    )
