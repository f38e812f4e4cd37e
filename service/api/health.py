"""Whether the service lives, and whether it can answer."""

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import cast

from flask import Flask, Response, jsonify, request
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from service.api.parameters import require_known
from service.api.state import runtime
from service.catalogue.queries import n_papers
from service.errors import InvalidInput
from service.recommend.serve import model_facts, training_facts
from service.tables.migrations import is_current

FINE = ("ok", "stale")
"""How the outcome of a check begins when the service can answer; an old model still can."""


def register_health(app: Flask) -> None:
    @app.get("/health/live")
    def live() -> Response:
        return jsonify(status="ok")

    @app.get("/health/ready")
    def ready() -> Response:
        require_known("except")
        left_out = _left_out(request.args.getlist("except"))
        checks = {name: _outcome(check) for name, check in CHECKS.items() if name not in left_out}
        wrong = {name: said for name, said in checks.items() if not said.startswith(FINE)}
        answer = jsonify(status="unavailable" if wrong else "ok", checks=checks)
        answer.headers["Cache-Control"] = "no-store"
        if wrong:
            answer.status_code = 503
            answer.headers["Retry-After"] = "5"
        return answer


def _left_out(given: Iterable[str]) -> Collection[str]:
    """The checks that the parameter ``except`` names; raises InvalidInput for one that is none."""
    named = {name.strip() for names in given for name in names.split(",")} - {""}
    if named - CHECKS.keys():
        known = ", ".join(CHECKS)
        raise InvalidInput(f"It takes these, with commas: {known}.", field="query:except")
    return named


def _outcome(check: Callable[[], str]) -> str:
    # Whatever a broken database or a broken model raises is the answer here.
    try:
        return check()
    except SQLAlchemyError as error:
        return f"the database does not answer ({type(getattr(error, 'orig', error)).__name__})"
    except Exception as error:
        return f"it failed ({type(error).__name__})"


def _database() -> str:
    with runtime().reading() as session:
        n_papers(session)
    return "ok"


def _migrations() -> str:
    with runtime().reading() as session:
        # The session's own engine, since it reads: another would take the write lock to look.
        engine = cast(Engine, session.get_bind())
        return "ok" if is_current(engine) else "run `papershelf db upgrade`"


def _model() -> str:
    with runtime().reading() as session:
        facts = model_facts(session, runtime().live_model, now=datetime.now(UTC))
    return f"stale: {facts.stale_because}" if facts.stale_because else "ok"


def _training() -> str:
    with runtime().reading() as session:
        facts = training_facts(session, runtime().live_model, now=datetime.now(UTC))
    return f"late: {facts.late_because}" if facts.late_because else "ok"


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "migrations": _migrations,
    "model": _model,
    "training": _training,
}
