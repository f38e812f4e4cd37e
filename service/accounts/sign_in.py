"""Signing in with a password, in transactions of its own: what is slow in it holds no lock."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from service.accounts.passwords import matches
from service.accounts.queries import find_user_by_email
from service.db import insert_if_new
from service.errors import TooManyAttempts
from service.tables import FailedLogin, User

FREE_FAILURES = 5
"""Wrong passwords in a row before an address has to wait."""
LONGEST_WAIT_S = 900


def sign_in(
    begin: Callable[[], Session], email: str, password: str, *, now: datetime
) -> User | None:
    """The person, or None for a wrong address or password: the two are never told apart.

    ``begin`` opens a writing session. Each attempt is counted, and committed, before the password
    is looked at, so that many guesses at one moment are many; and the slow look itself holds no
    lock. A right password wipes the count. After five failures in a row the address waits, longer
    each time, up to 15 minutes. Raises TooManyAttempts during the wait.
    """
    with begin() as session:
        failed = _failures(session, email, now=now)
        if (wait := _wait_s(failed, now)) > 0:
            raise TooManyAttempts(
                f"Too many wrong passwords; try again in {wait} seconds.", retry_after_s=wait
            )
        failed.failures += 1
        failed.last_failed_at = now
        user = find_user_by_email(session, email)
        session.commit()
    is_right = matches(user.password_hash if user else None, password)
    if user is None or not is_right or user.is_disabled:
        return None
    with begin() as session:
        session.execute(delete(FailedLogin).where(FailedLogin.address_hash == _hash(email)))
        session.commit()
    return user


def _failures(session: Session, email: str, *, now: datetime) -> FailedLogin:
    """The count of the address under a lock, so that guesses at the same moment take turns."""
    values = {"address_hash": _hash(email), "failures": 0, "last_failed_at": now}
    locked = select(FailedLogin).where(FailedLogin.address_hash == values["address_hash"])
    while True:
        insert_if_new(session, FailedLogin, values, unique=["address_hash"])
        failed = session.scalar(locked.with_for_update().execution_options(populate_existing=True))
        if failed is not None:  # else the right password has just wiped it
            return failed


def _wait_s(failed: FailedLogin, now: datetime) -> int:
    if failed.failures < FREE_FAILURES:
        return 0
    wait_s = min(LONGEST_WAIT_S, 2.0 ** (failed.failures - FREE_FAILURES + 1))
    left = failed.last_failed_at + timedelta(seconds=wait_s) - now
    return max(0, -(-left // timedelta(seconds=1)))


def _hash(email: str) -> str:
    return hashlib.sha256(email.strip().casefold().encode()).hexdigest()
