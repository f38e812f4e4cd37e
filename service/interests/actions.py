"""Names, mutes, weighs and merges interests, and remembers which papers each is known by.

Nothing here counts as a change of the library: the model has nothing to learn from it.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from service.errors import Conflict, InvalidInput, NotFound, PreconditionFailed
from service.interests.queries import get_interest, remembered_interests, root_of
from service.interests.records import USUAL_WEIGHT, InterestChange, Sighting
from service.tables import Interest, User

MOST_REMEMBERED = 100
"""Interests of one person; beyond that those without settings are forgotten, the oldest first."""
LONGEST_NAME = 100


def lock_interests(session: Session, user_id: int) -> None:
    """Taken first: the row lock makes one person's changes follow each other."""
    session.execute(select(User.id).where(User.id == user_id).with_for_update())


def remember(
    session: Session, user_id: int, sightings: Sequence[Sighting], *, now: datetime
) -> list[Interest]:
    """The row of each group, made or brought up to date; lock first.

    A part that breaks off an interest is muted and weighed like it, and if that one is merged with
    another, the part is so, too: what a person has set once must not come undone by itself.
    """
    rows = []
    for seen in sightings:
        row = seen.interest or _broken_off(session, user_id, seen.broken_off, now=now)
        row.anchors = seen.anchors
        row.matched_at = now
        rows.append(row)
    session.flush()
    _forget(session, user_id, kept={row.id for row in rows})
    return rows


def change_interest(
    session: Session,
    user_id: int,
    interest_id: UUID,
    change: InterestChange,
    *,
    expected_version: int | None,
) -> Interest:
    """Raises NotFound, Conflict for one that is merged into another, PreconditionFailed if it is
    not at the expected version any more, and InvalidInput for the name of another of theirs."""
    lock_interests(session, user_id)
    interest = get_interest(session, user_id, interest_id)
    _expect(interest, expected_version)
    if interest.merged_into_id is not None:
        raise Conflict("This interest is merged into another: change that, or undo the merge.")
    if change.renamed:
        _expect_own_name(session, interest, change.name)
        interest.name = change.name
    if change.weight is not None:
        interest.weight = change.weight
    if change.muted is not None:
        interest.muted = change.muted
    interest.version += 1
    session.flush()
    return interest


def merge_interest(session: Session, user_id: int, interest_id: UUID, into: UUID) -> Interest:
    """Make one interest a part of another, whose name and settings then hold for both.

    Merging it again changes nothing. Raises NotFound, InvalidInput for a target that is not there,
    is itself merged or is the same, and Conflict if it is merged into a third.
    """
    lock_interests(session, user_id)
    interest = get_interest(session, user_id, interest_id)
    target = next((x for x in remembered_interests(session, user_id) if x.public_id == into), None)
    if target is None or target is interest:
        raise InvalidInput("Name another interest of yours.", field="into")
    if interest.merged_into_id == target.id:
        return interest
    if interest.merged_into_id is not None:
        raise Conflict("This interest is merged into another already; undo that first.")
    if target.merged_into_id is not None:
        raise InvalidInput("That interest is merged into another itself.", field="into")
    interest.merged_into_id = target.id
    interest.version += 1
    target.version += 1
    session.flush()
    return interest


def undo_merge(
    session: Session, user_id: int, interest_id: UUID, *, expected_version: int | None
) -> None:
    """Let it be an interest of its own again, with the settings it had.

    Raises NotFound, also for one that is not merged, and PreconditionFailed.
    """
    lock_interests(session, user_id)
    interest = get_interest(session, user_id, interest_id)
    _expect(interest, expected_version)
    if interest.merged_into_id is None:
        raise NotFound("This interest is not merged into another.")
    target = session.get_one(Interest, interest.merged_into_id)
    interest.merged_into_id = None
    interest.version += 1
    target.version += 1
    session.flush()


def _broken_off(
    session: Session, user_id: int, whole: Interest | None, *, now: datetime
) -> Interest:
    into = None
    if whole is not None:
        all_of_them = remembered_interests(session, user_id)
        root = root_of(whole, {row.id: row for row in all_of_them})
        is_merged = any(row.merged_into_id == root.id for row in all_of_them)
        into = root.id if is_merged else None
    row = Interest(
        public_id=uuid4(),
        user_id=user_id,
        name=None,
        weight=whole.weight if whole else USUAL_WEIGHT,
        muted=whole.muted if whole else False,
        merged_into_id=into,
        anchors=[],
        terms=[],
        created_at=now,
        matched_at=now,
        version=1,
    )
    session.add(row)
    return row


def _forget(session: Session, user_id: int, *, kept: set[int]) -> None:
    rows = remembered_interests(session, user_id)
    targets = {row.merged_into_id for row in rows}
    idle = [row for row in rows if row.id not in kept | targets and not has_settings(row)]
    idle.sort(key=lambda row: (row.matched_at, row.id))
    gone = [row.id for row in idle[: max(0, len(rows) - MOST_REMEMBERED)]]
    if gone:
        session.execute(delete(Interest).where(Interest.user_id == user_id, Interest.id.in_(gone)))


def has_settings(row: Interest) -> bool:
    """Whether the person has set anything of it."""
    return (
        row.name is not None
        or row.muted
        or row.weight != USUAL_WEIGHT
        or row.merged_into_id is not None
    )


def _expect_own_name(session: Session, interest: Interest, name: str | None) -> None:
    """Names differ in more than capitals; a merged interest does not show its own."""
    others = [
        other.name.casefold()
        for other in remembered_interests(session, interest.user_id)
        if other is not interest and other.merged_into_id is None and other.name
    ]
    if name and name.casefold() in others:
        raise InvalidInput("Another interest of yours has this name.", field="name")


def _expect(row: Interest, version: int | None) -> None:
    """None stands for whichever version it has."""
    if version is not None and row.version != version:
        raise PreconditionFailed("It has changed since you read it; read it again.")
