"""What crosses the door of the accounts room."""

import enum
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


class Scope(enum.StrEnum):
    """What a token may do."""

    LIBRARY_READ = "library:read"
    LIBRARY_WRITE = "library:write"
    RECS_READ = "recs:read"
    FEEDBACK_WRITE = "feedback:write"
    DIGEST_MANAGE = "digest:manage"
    ADMIN = "admin"


EVERYTHING_PERSONAL = frozenset(Scope) - {Scope.ADMIN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, and what they may do."""

    user_id: int
    scopes: frozenset[Scope]
    token_id: UUID | None
    last_used_at: datetime | None = None
    """Before this request, to the minute."""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUser:
    email: str
    password: str
    name: str = ""
    is_admin: bool = False
    zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    name: str
    scopes: frozenset[Scope]
    expires_at: datetime | None = None
