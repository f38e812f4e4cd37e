"""Turns what went wrong into the answer that says so."""

import logging
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException, InternalServerError, RequestEntityTooLarge

from service.api.bodies import MalformedBody, WrongMediaType
from service.api.problems import KIND_OF, KINDS, Kind, problem
from service.errors import (
    InvalidInput,
    NotAuthenticated,
    NotFound,
    ServiceError,
    TemporarilyUnavailable,
    TooManyAttempts,
)

logger = logging.getLogger(__name__)

RETRY_AFTER_S = 2
"""When the database was busy: longer than any of our own writes."""

RETRYABLE_SQLSTATES = frozenset(
    {"40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03", "53300"}
)
"""PostgreSQL: serialization, deadlock, lock and statement time-out, shutting down, full."""


def is_ours(path: str) -> bool:
    """Whether errors at this path are problems; everywhere else they are pages."""
    return path.startswith(("/api/", "/openapi.json")) or path == "/api"


def on_service_error(error: ServiceError) -> Response:
    if isinstance(error, MalformedBody):
        return problem(KINDS[HTTPStatus.BAD_REQUEST], str(error))
    if isinstance(error, WrongMediaType):
        return problem(KINDS[HTTPStatus.UNSUPPORTED_MEDIA_TYPE], str(error))
    kind = KIND_OF.get(type(error))
    if kind is None:
        # What no request is expected to meet, such as CannotStart, is our mistake.
        raise error
    errors: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    if isinstance(error, InvalidInput) and error.field is not None:
        errors.append((_pointer_of(error.field), str(error)))
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="Papershelf"'
    if isinstance(error, TooManyAttempts | TemporarilyUnavailable):
        headers["Retry-After"] = str(error.retry_after_s)
    return problem(kind, str(error), errors=errors, headers=headers)


def on_database_error(error: DBAPIError | PoolTimeout) -> Response:
    """503 for what passes; anything else is our mistake and goes on as a 500."""
    if not _passes(error):
        raise error
    logger.warning("the database could not serve %s: %s", request.path, error)
    busy = TemporarilyUnavailable("The database is busy.", retry_after_s=RETRY_AFTER_S)
    return on_service_error(busy)


def on_http_exception(error: HTTPException) -> Response | HTTPException:
    """For werkzeug's own errors and webargs' validation errors; keeps headers like Allow."""
    if not is_ours(request.path):
        return error
    if isinstance(error, InternalServerError):
        return problem(KINDS[HTTPStatus.INTERNAL_SERVER_ERROR], "An error that nobody foresaw.")
    if isinstance(error, RequestEntityTooLarge):
        return problem(KINDS[HTTPStatus.REQUEST_ENTITY_TOO_LARGE], _size_limit())
    data: Mapping[str, Any] = getattr(error, "data", None) or {}
    if "messages" in data:
        return _invalid(data["messages"])
    status = HTTPStatus(error.code or 500)
    kind = KINDS.get(status) or Kind("malformed-request", status.phrase, status, "")
    headers = {
        name: value
        for name, value in error.get_headers(request.environ)
        if name not in {"Content-Type", "Content-Length"}
    }
    return problem(kind, _in_words(status, error), headers=headers, status=status)


@contextmanager
def naming(field: str) -> Iterator[None]:
    """What is not found in here was named by this field of the body, not by the address."""
    try:
        yield
    except NotFound as error:
        raise InvalidInput(str(error), field=field) from error


def register_failures(app: Flask) -> None:
    app.register_error_handler(ServiceError, on_service_error)
    app.register_error_handler(DBAPIError, on_database_error)
    app.register_error_handler(PoolTimeout, on_database_error)


def _invalid(messages: Mapping[str, Any]) -> Response:
    errors = [
        (_pointer(location, path), detail)
        for location, found in messages.items()
        for path, detail in _leaves(found, ())
    ]
    places = ", ".join(dict.fromkeys(pointer or "the body" for pointer, _ in errors[:5]))
    detail = f"This cannot be used: {places}."
    return problem(KINDS[HTTPStatus.UNPROCESSABLE_ENTITY], detail, errors=errors)


def _leaves(found: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(found, Mapping):
        for name, below in found.items():
            yield from _leaves(below, path if name == "_schema" else (*path, str(name)))
    elif isinstance(found, list):
        for below in found:
            yield from _leaves(below, path)
    else:
        yield path, str(found)


def _pointer(location: str, path: tuple[str, ...]) -> str:
    steps = [step.replace("~", "~0").replace("/", "~1") for step in path]
    steps = [
        step.encode("ascii", "backslashreplace").decode() if not _is_unicode(step) else step
        for step in steps
    ]
    steps = [step[:200] for step in steps]
    if location == "query":
        return f"query:{'/'.join(steps)}"
    return "".join(f"/{step}" for step in steps)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _pointer_of(field: str) -> str:
    if ":" in field:
        return field
    return f"query:{field}" if request.method in {"GET", "HEAD"} else f"/{field}"


def _passes(error: DBAPIError | PoolTimeout) -> bool:
    if isinstance(error, PoolTimeout) or error.connection_invalidated:
        return True
    origin = error.orig
    if isinstance(origin, sqlite3.OperationalError):
        return any(word in str(origin) for word in ("is locked", "is busy", "disk is full"))
    sqlstate = getattr(origin, "sqlstate", None)
    if sqlstate is None:
        # psycopg gives none where the server could not be reached or went away.
        return type(origin).__name__ == "OperationalError" and not isinstance(origin, sqlite3.Error)
    return sqlstate in RETRYABLE_SQLSTATES or sqlstate.startswith("08")


def _size_limit() -> str:
    limit = request.max_content_length
    if limit is None:
        return "The body is too large."
    return f"The body is larger than {limit // 2**20} MiB, which is the limit here."


def _in_words(status: HTTPStatus, error: HTTPException) -> str:
    if status is HTTPStatus.NOT_FOUND:
        return "There is nothing at this address."
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{request.method} does not fit this address."
    return error.description or status.phrase
