"""What the service knows of people."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from service.errors import NotFound
from service.tables import ApiToken, User


def get_user(session: Session, user_id: int) -> User:
    user = session.get(User, user_id)
    if user is None:
        raise NotFound("There is no such person.")
    return user


def find_user_by_email(session: Session, email: str) -> User | None:
    return session.scalar(select(User).where(User.email == email.strip().casefold()))


def first_admin(session: Session) -> User | None:
    """The administrator who was here first."""
    return session.scalar(select(User).where(User.is_admin).order_by(User.id).limit(1))


def n_users(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(User)).one()


def has_users(session: Session) -> bool:
    return n_users(session) > 0


def tokens_of(session: Session, user_id: int) -> Sequence[ApiToken]:
    """The person's tokens that were not revoked, oldest first."""
    return session.scalars(
        select(ApiToken)
        .where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
        .order_by(ApiToken.created_at, ApiToken.id)
    ).all()
