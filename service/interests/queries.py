"""What is remembered of a person's interests; every session here is bound to that person."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.errors import NotFound
from service.tables import Interest


def remembered_interests(session: Session, user_id: int) -> Sequence[Interest]:
    """All of them, with papers today or not; the oldest first."""
    return session.scalars(
        select(Interest).where(Interest.user_id == user_id).order_by(Interest.id)
    ).all()


def get_interest(session: Session, user_id: int, interest_id: UUID) -> Interest:
    """Raises NotFound, for another person's too."""
    found = session.scalars(
        select(Interest).where(Interest.user_id == user_id, Interest.public_id == interest_id)
    ).one_or_none()
    if found is None:
        raise NotFound("There is no such interest.")
    return found


def root_of(interest: Interest, by_id: Mapping[int, Interest]) -> Interest:
    """The interest that it is merged into, at the end of the chain; itself if it is not."""
    seen = {interest.id}
    while (into := by_id.get(interest.merged_into_id or 0)) and into.id not in seen:
        interest = into
        seen.add(into.id)
    return interest
