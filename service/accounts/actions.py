"""Makes people and tokens, and tells who is asking."""

import re
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import available_timezones

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from service.accounts.passwords import hash_password
from service.accounts.queries import tokens_of
from service.accounts.records import NewToken, NewUser, Principal, Scope
from service.accounts.tokens import Token, make_token, read_token
from service.db import insert_if_new, system_scope
from service.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotFound,
)
from service.tables import ApiToken, AuditEntry, User

LAST_USED_GRAIN = timedelta(minutes=1)
MOST_TOKENS = 100
"""Live tokens of one person; more than that is a program that forgets to revoke."""

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


def create_user(session: Session, new: NewUser, *, now: datetime) -> User:
    """Raises InvalidInput for a bad address, password or zone, Conflict for a known address."""
    email = new.email.strip().casefold()
    if not _EMAIL.fullmatch(email):
        raise InvalidInput("An e-mail address like ada@example.org is needed.", field="email")
    if new.zone not in available_timezones():
        raise InvalidInput("An IANA time zone like Europe/Berlin is needed.", field="zone")
    user = insert_if_new(
        session,
        User,
        {
            "email": email,
            "name": new.name or email.split("@")[0],
            "password_hash": hash_password(new.password),
            "is_admin": new.is_admin,
            "zone": new.zone,
            "created_at": now,
        },
        unique=["email"],
    )
    if user is None:
        raise Conflict(f"There is a person with the address {email} already.")
    record(session, "user.created", now=now, object_kind="user", object_id=str(user.public_id))
    return user


def create_token(
    session: Session, user: User, new: NewToken, *, now: datetime
) -> tuple[ApiToken, Token]:
    """The row that stays, and the token that is shown once.

    Raises NotAllowed when someone who is no administrator asks for the ``admin`` scope.
    """
    if Scope.ADMIN in new.scopes and not user.is_admin:
        raise NotAllowed("Only an administrator's token can have the scope admin.")
    if new.expires_at is not None and new.expires_at <= now:
        raise InvalidInput("The time of expiry is in the past.", field="expires_at")
    if len(tokens_of(session, user.id)) >= MOST_TOKENS:
        raise Conflict(f"There are {MOST_TOKENS} tokens already; revoke one first.")
    token = make_token()
    row = ApiToken(
        user_id=user.id,
        token_id=token.token_id,
        secret_hash=token.secret_hash,
        name=new.name,
        scopes=" ".join(sorted(new.scopes)),
        created_at=now,
        expires_at=new.expires_at,
    )
    session.add(row)
    session.flush()
    record(
        session,
        "token.created",
        now=now,
        actor_id=user.id,
        object_kind="token",
        object_id=str(row.public_id),
    )
    return row, token


def revoke_token(session: Session, user_id: int, token_id: UUID, *, now: datetime) -> None:
    """Raises NotFound for an unknown, another person's or an already revoked token."""
    revoked = session.execute(
        update(ApiToken)
        .where(
            ApiToken.user_id == user_id,
            ApiToken.public_id == token_id,
            ApiToken.revoked_at.is_(None),
        )
        .values(revoked_at=now)
        .returning(ApiToken.id)
    ).all()
    if not revoked:
        raise NotFound("There is no such token.")
    record(
        session,
        "token.revoked",
        now=now,
        actor_id=user_id,
        object_kind="token",
        object_id=str(token_id),
    )


def find_principal(session: Session, text: str, *, now: datetime) -> Principal:
    """Who holds this token. Raises NotAuthenticated for a bad one, without saying why."""
    token = read_token(text)
    if token is not None:
        with system_scope(session, "a token tells whose it is"):
            found = session.execute(
                select(ApiToken, User)
                .join(User, User.id == ApiToken.user_id)
                .where(ApiToken.token_id == token.token_id)
            ).one_or_none()
        if found is not None and token.has_hash(found[0].secret_hash):
            row, user = found
            is_live = row.revoked_at is None and (row.expires_at is None or row.expires_at > now)
            if is_live and not user.is_disabled:
                return Principal(
                    user_id=user.id,
                    scopes=frozenset(Scope(scope) for scope in row.scopes.split()),
                    token_id=row.public_id,
                    last_used_at=row.last_used_at,
                    expires_at=row.expires_at,
                )
    raise NotAuthenticated("This token is unknown, expired or revoked.")


def note_use(session: Session, token_id: UUID, *, now: datetime) -> None:
    """Remember when a token was last used, to the minute."""
    with system_scope(session, "a token's last use"):
        session.execute(
            update(ApiToken)
            .where(
                ApiToken.public_id == token_id,
                ApiToken.last_used_at.is_(None) | (ApiToken.last_used_at < now - LAST_USED_GRAIN),
            )
            .values(last_used_at=now)
        )


def record(
    session: Session,
    action: str,
    *,
    now: datetime,
    actor_id: int | None = None,
    object_kind: str | None = None,
    object_id: str | None = None,
) -> None:
    """Write down who did what, without its content."""
    session.add(
        AuditEntry(
            at=now,
            actor_id=actor_id,
            action=action,
            object_kind=object_kind,
            object_id=object_id,
            request_id=session.info.get("request_id"),
        )
    )
