"""Passwords: argon2id, with the parameters of OWASP's minimum (19 MiB, 2 passes, 1 lane)."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from service.errors import InvalidInput

SHORTEST = 10
LONGEST = 256
"""Characters; argon2 takes any length, but a megabyte of password is an attack."""

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_nobody = _hasher.hash(secrets.token_urlsafe(32))


def hash_password(password: str) -> str:
    """Raises InvalidInput when the password is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InvalidInput(f"A password has {SHORTEST} to {LONGEST} characters.", field="password")
    return _hasher.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Whether it is the password; takes as long where there is no such person."""
    try:
        return _hasher.verify(password_hash or _nobody, password) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False
