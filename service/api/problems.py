"""What a client is told when something went wrong: RFC 9457, from one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import marshmallow as ma
import orjson
from flask import Flask, Response, request

from service.api.headers import request_id
from service.errors import (
    Conflict,
    IdempotencyMismatch,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    PreconditionFailed,
    PreconditionRequired,
    ServiceError,
    TemporarilyUnavailable,
    TooManyAttempts,
)

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 50
"""Places named in one answer; who sends a thousand wrong tags needs not a thousand lines."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its page, its title, its status and what to do about it."""

    slug: str
    title: str
    status: HTTPStatus
    advice: str

    @property
    def uri(self) -> str:
        return f"/problems/{self.slug}"


KINDS: Mapping[HTTPStatus, Kind] = {
    kind.status: kind
    for kind in (
        Kind(
            "malformed-request",
            "The request cannot be read",
            HTTPStatus.BAD_REQUEST,
            "The body must be one JSON document in UTF-8, nested at most 32 deep, with no name "
            "twice in an object and no NaN or Infinity.",
        ),
        Kind(
            "not-authenticated",
            "Nobody is signed in",
            HTTPStatus.UNAUTHORIZED,
            "Send a live token as “Authorization: Bearer psh_…”. POST /api/v1/tokens makes one.",
        ),
        Kind(
            "not-allowed",
            "The token may not do this",
            HTTPStatus.FORBIDDEN,
            "The detail names the missing scope; make a token that has it.",
        ),
        Kind(
            "not-found",
            "There is no such thing",
            HTTPStatus.NOT_FOUND,
            "It never was, it is gone, or it belongs to somebody else: the three look alike.",
        ),
        Kind(
            "method-not-allowed",
            "The method does not fit the address",
            HTTPStatus.METHOD_NOT_ALLOWED,
            "The Allow header lists the methods that do.",
        ),
        Kind(
            "conflict",
            "It contradicts what is there",
            HTTPStatus.CONFLICT,
            "Read the present state; or wait, if a request with the same Idempotency-Key is "
            "still being carried out.",
        ),
        Kind(
            "precondition-failed",
            "It has changed in the meantime",
            HTTPStatus.PRECONDITION_FAILED,
            "Read the thing again, and send its new ETag in If-Match.",
        ),
        Kind(
            "too-large",
            "The body is too large",
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "The detail names the limit.",
        ),
        Kind(
            "unsupported-media-type",
            "The body has another type than is read here",
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Send the Content-Type that the detail names, and no Content-Encoding.",
        ),
        Kind(
            "invalid-input",
            "What was sent cannot be used",
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "Each entry of “errors” names a place and says what would be right there. A pointer "
            "like “/stars” is a JSON pointer into the body; “query:limit” is a parameter and "
            "“header:If-Match” a header.",
        ),
        Kind(
            "precondition-required",
            "It needs the version that it is to change",
            HTTPStatus.PRECONDITION_REQUIRED,
            "Send the ETag that you read in If-Match, or “*” for whatever it is now.",
        ),
        Kind(
            "too-many-attempts",
            "Too many attempts",
            HTTPStatus.TOO_MANY_REQUESTS,
            "Wait for as many seconds as Retry-After says.",
        ),
        Kind(
            "internal-error",
            "Something broke on our side",
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "The administrator finds the reason in the log under the request id.",
        ),
        Kind(
            "temporarily-unavailable",
            "The service cannot do this just now",
            HTTPStatus.SERVICE_UNAVAILABLE,
            "Nothing was changed. Try again after as many seconds as Retry-After says.",
        ),
    )
}

IDEMPOTENCY_MISMATCH = Kind(
    "idempotency-mismatch",
    "The Idempotency-Key belongs to another request",
    HTTPStatus.UNPROCESSABLE_ENTITY,
    "Use a new key for each thing you want done; repeat a request byte by byte to repeat its key.",
)

KIND_OF: Mapping[type[ServiceError], Kind] = {
    NotAuthenticated: KINDS[HTTPStatus.UNAUTHORIZED],
    NotAllowed: KINDS[HTTPStatus.FORBIDDEN],
    NotFound: KINDS[HTTPStatus.NOT_FOUND],
    Conflict: KINDS[HTTPStatus.CONFLICT],
    PreconditionRequired: KINDS[HTTPStatus.PRECONDITION_REQUIRED],
    PreconditionFailed: KINDS[HTTPStatus.PRECONDITION_FAILED],
    IdempotencyMismatch: IDEMPOTENCY_MISMATCH,
    InvalidInput: KINDS[HTTPStatus.UNPROCESSABLE_ENTITY],
    TooManyAttempts: KINDS[HTTPStatus.TOO_MANY_REQUESTS],
    TemporarilyUnavailable: KINDS[HTTPStatus.SERVICE_UNAVAILABLE],
}
STATUS_OF: Mapping[type[ServiceError], HTTPStatus] = {
    error: kind.status for error, kind in KIND_OF.items()
}


class ErrorPlaceSchema(ma.Schema):
    class Meta:
        unknown = ma.RAISE

    pointer = ma.fields.String(required=True, metadata={"example": "/stars"})
    detail = ma.fields.String(required=True, metadata={"example": "A whole number is needed."})


class ProblemSchema(ma.Schema):
    """Documents the body of every error; never used to dump one."""

    class Meta:
        unknown = ma.RAISE

    type = ma.fields.String(required=True, metadata={"example": "/problems/invalid-input"})
    title = ma.fields.String(required=True)
    status = ma.fields.Integer(required=True, metadata={"example": 422})
    detail = ma.fields.String(required=True)
    instance = ma.fields.String(required=True, metadata={"description": "The path asked for."})
    request_id = ma.fields.String(required=True, metadata={"description": "Finds it in the log."})
    errors = ma.fields.List(ma.fields.Nested(ErrorPlaceSchema))


def problem(
    kind: Kind,
    detail: str,
    *,
    errors: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    status: int | None = None,
) -> Response:
    """The answer for a problem; ``errors`` are pairs of a pointer and what is wrong there."""
    body: dict[str, Any] = {
        "type": kind.uri,
        "title": kind.title,
        "status": int(status or kind.status),
        "detail": detail,
        "instance": request.path,
        "request_id": request_id(),
    }
    if errors:
        body["errors"] = [
            {"pointer": pointer, "detail": text} for pointer, text in errors[:MOST_ERRORS]
        ]
    answer = Response(orjson.dumps(body), status=status or kind.status, content_type=MEDIA_TYPE)
    answer.headers.update(headers or {})
    return answer


def register_problem_pages(app: Flask) -> None:
    """Serve the page that each problem's ``type`` points to."""

    @app.get("/problems/<slug>")
    def problem_page(slug: str) -> Response:
        for kind in (*KINDS.values(), IDEMPOTENCY_MISMATCH):
            if kind.slug == slug:
                status = f"HTTP {kind.status.value} {kind.status.phrase}"
                return Response(f"{kind.title}\n{status}\n\n{kind.advice}\n", mimetype="text/plain")
        known = "\n".join(sorted(kind.uri for kind in (*KINDS.values(), IDEMPOTENCY_MISMATCH)))
        return Response(
            f"There is no such problem. There are:\n{known}\n", 404, mimetype="text/plain"
        )
