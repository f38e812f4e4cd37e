"""Who asks: a bearer token in the header, or for making tokens an e-mail address and password."""

import logging
from datetime import datetime

from flask import request
from sqlalchemy.exc import OperationalError

from service.accounts.actions import LAST_USED_GRAIN, find_principal, note_use
from service.accounts.records import EVERYTHING_PERSONAL, Principal, Scope
from service.accounts.sign_in import sign_in
from service.api.state import runtime
from service.errors import NotAllowed, NotAuthenticated

logger = logging.getLogger(__name__)


def authenticate(*, takes_password: bool, now: datetime) -> Principal:
    """Who sent this request. Raises NotAuthenticated and TooManyAttempts."""
    given = request.headers.get("Authorization", "")
    scheme, _, rest = given.partition(" ")
    if scheme.lower() == "bearer" and rest:
        return _by_token(rest.strip(), now=now)
    if takes_password and scheme.lower() == "basic":
        return _by_password(now=now)
    if takes_password:
        raise NotAuthenticated("Send a token (Bearer), or e-mail address and password (Basic).")
    raise NotAuthenticated("Send a token as “Authorization: Bearer psh_…”.")


def require(who: Principal, scopes: tuple[Scope, ...]) -> None:
    """Raises NotAllowed, which names what the token lacks."""
    missing = [scope for scope in scopes if scope not in who.scopes]
    if missing:
        raise NotAllowed(f"The token lacks the scope {', '.join(missing)}.")


def _by_token(text: str, *, now: datetime) -> Principal:
    with runtime().reading() as session:
        who = find_principal(session, text, now=now)
    if who.last_used_at is None or who.last_used_at < now - LAST_USED_GRAIN:
        _note_use(who, now=now)
    return who


def _note_use(who: Principal, *, now: datetime) -> None:
    if who.token_id is None:
        return
    try:
        with runtime().writing() as session:
            note_use(session, who.token_id, now=now)
            session.commit()
    except OperationalError as error:
        # Not worth failing a request for: the next one notes it.
        logger.info("the last use of a token was not noted: %s", error)


def _by_password(*, now: datetime) -> Principal:
    login = request.authorization
    email = login.username if login else None
    password = login.password if login else None
    if not email or not password or not email.isprintable():
        raise NotAuthenticated("This is no e-mail address with a password.")
    user = sign_in(runtime().writing, email, password, now=now)
    if user is None:
        raise NotAuthenticated("E-mail address or password is wrong.")
    scopes = frozenset(Scope) if user.is_admin else EVERYTHING_PERSONAL
    return Principal(user_id=user.id, scopes=scopes, token_id=None)
