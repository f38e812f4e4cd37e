"""What one request knows: the runtime, who asks, and the session that is open for them."""

from collections.abc import Callable
from typing import cast

from flask import Flask, Response, current_app, g
from sqlalchemy.orm import Session

from service.accounts.records import Principal
from service.api.headers import request_id
from service.db import scope
from service.runtime import Runtime

EXTENSION = "papershelf"

AfterCommit = Callable[[Response], Response]


def runtime() -> Runtime:
    return cast(Runtime, current_app.extensions[EXTENSION])


def principal() -> Principal:
    """Who asks; only in a view that needs a token."""
    return cast(Principal, g.principal)


def user_id() -> int:
    return principal().user_id


def session() -> Session:
    """The request's one session, bound to who asks; it cannot write in a GET."""
    return cast(Session, g.session)


def open_session(who: Principal, *, to_write: bool) -> Session:
    """Open the request's session; closed when the request ends, if not before."""
    opened = runtime().writing() if to_write else runtime().reading()
    g.session = opened
    opened.info["request_id"] = request_id()
    return scope(opened, who.user_id)


def close_session() -> None:
    opened: Session | None = g.pop("session", None)
    if opened is not None:
        opened.close()


def after_commit(then: AfterCommit) -> None:
    """Have the answer passed through ``then`` after the commit, with no session open."""
    g.after_commit = then


def register_state(app: Flask, made: Runtime) -> None:
    app.extensions[EXTENSION] = made

    @app.teardown_request
    def close(_error: BaseException | None) -> None:
        close_session()
