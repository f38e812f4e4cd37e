"""People, what they sign in with, and what was done in their name."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from service.db import Owned
from service.tables.base import Base, ByValue, Public, Versioned, is_one_of


class User(Public, Versioned, Base):
    """A person of this installation."""

    __tablename__ = "user"

    email: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    password_hash: Mapped[str]
    is_admin: Mapped[bool] = mapped_column(default=False)
    is_disabled: Mapped[bool] = mapped_column(default=False)
    zone: Mapped[str] = mapped_column(default="UTC")
    created_at: Mapped[datetime]
    library_version: Mapped[int] = mapped_column(sa.BigInteger, default=0)
    """Grows by one with each change of the person's library, under a lock on this row."""


class ApiToken(Public, Owned, Base):
    """A program's key: the secret itself is never kept, only its SHA-256."""

    __tablename__ = "api_token"

    token_id: Mapped[str] = mapped_column(sa.String(8), unique=True)
    secret_hash: Mapped[str] = mapped_column(sa.String(64))
    name: Mapped[str]
    scopes: Mapped[str]
    """Space-separated, sorted."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    """Coarse: written at most once a minute."""
    revoked_at: Mapped[datetime | None]


class FailedLogin(Base):
    """Wrong passwords for one e-mail address, counted here so that a restart forgets nothing."""

    __tablename__ = "failed_login"

    address_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    failures: Mapped[int]
    last_failed_at: Mapped[datetime]


class AnswerState(enum.StrEnum):
    IN_FLIGHT = "in_flight"
    ANSWERED = "answered"


class IdempotencyKey(Owned, Base):
    """The answer to a request that must not be carried out twice, for 48 hours."""

    __tablename__ = "idempotency_key"
    __table_args__ = (sa.UniqueConstraint("user_id", "key"), is_one_of("state", AnswerState))

    key: Mapped[str] = mapped_column(sa.String(255))
    request_hash: Mapped[str] = mapped_column(sa.String(64))
    state: Mapped[AnswerState] = mapped_column(ByValue(AnswerState))
    status: Mapped[int | None]
    headers: Mapped[dict[str, Any] | None]
    body: Mapped[bytes | None]
    created_at: Mapped[datetime] = mapped_column(index=True)


class AuditEntry(Base):
    """Who did what to which thing, without its content; append-only."""

    __tablename__ = "audit_entry"

    at: Mapped[datetime] = mapped_column(index=True)
    actor_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("user.id", ondelete="SET NULL"), index=True
    )
    action: Mapped[str] = mapped_column(sa.String(64))
    object_kind: Mapped[str | None] = mapped_column(sa.String(32))
    object_id: Mapped[str | None] = mapped_column(sa.String(64))
    request_id: Mapped[str | None] = mapped_column(sa.String(64))
