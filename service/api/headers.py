"""What every answer carries: its request id, and what browsers and caches must not do with it."""

import re
from http import HTTPStatus
from secrets import token_hex

from flask import Flask, Response, g, request

REQUEST_ID = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)

BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)

CLOSED = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The content security policy of an answer that is no page."""


def request_id() -> str:
    """The caller's own, where it has a sane form; else a new one."""
    if "request_id" not in g:
        given = request.headers.get(REQUEST_ID, "")
        g.request_id = given if _SANE.fullmatch(given) else token_hex(16)
    return str(g.request_id)


def register_headers(app: Flask) -> None:
    """Set on every answer what it does not set itself."""

    @app.after_request
    def complete(answer: Response) -> Response:
        answer.headers[REQUEST_ID] = request_id()
        if answer.status_code in BODILESS:
            answer.headers.pop("Content-Type", None)
        answer.headers.setdefault("X-Content-Type-Options", "nosniff")
        answer.headers.setdefault("Referrer-Policy", "no-referrer")
        answer.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        answer.headers.setdefault("Content-Security-Policy", CLOSED)
        if request.path.startswith("/api/"):
            answer.headers["Cache-Control"] = "private, no-store"
            answer.vary.add("Authorization")
        return answer
