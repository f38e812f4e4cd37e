"""Reads a JSON body as strictly as both databases and every later reader need it."""

import json
import math
import re
from typing import Any

from flask import request
from werkzeug.exceptions import RequestEntityTooLarge

from service.errors import ServiceError

LARGEST_JSON = 2**20
DEEPEST = 32
"""Levels of nesting; our own bodies need two."""

LONGEST_NUMBER = 64
"""Characters; past that it is too large for any field, whatever it is exactly."""

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)
"""Possessive, so that a string without an end costs one pass and no more."""


class MalformedBody(ServiceError):
    """The body is no JSON document of the kind that is read here."""


class WrongMediaType(ServiceError):
    """The body has another type than the one named in the message."""


def read_json() -> Any:
    """The document that the request carries; ``{}`` where it carries nothing at all.

    Raises WrongMediaType, MalformedBody, and werkzeug's RequestEntityTooLarge.
    """
    body = read_body()
    if not body and not request.mimetype:
        return {}
    refuse_encoding()
    if request.mimetype != "application/json":
        raise WrongMediaType("Send the body as application/json.")
    return parse_json(body)


def read_body() -> bytes:
    """All of the body. Raises RequestEntityTooLarge."""
    body = request.get_data(cache=True)
    limit = request.max_content_length or LARGEST_JSON
    if len(body) >= limit and len(body) != request.content_length:
        # A chunked body is cut off at the limit without a word.
        raise RequestEntityTooLarge
    return body


def refuse_encoding() -> None:
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise WrongMediaType("Send the body as it is, without Content-Encoding.")


def parse_json(body: bytes) -> Any:
    """The document; lone surrogates and infinite numbers pass and are refused by their field."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise MalformedBody(f"Byte {error.start} of the body is not UTF-8.") from error
    _refuse_depth(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=float,
        )
    except json.JSONDecodeError as error:
        raise MalformedBody(
            f"The body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error


def _refuse_depth(text: str) -> None:
    # The parser recurses, so the depth is counted before it runs.
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        mark = found[0][0]
        if mark in "[{":
            depth += 1
            if depth > DEEPEST:
                raise MalformedBody(f"The body is nested more than {DEEPEST} levels deep.")
        elif mark in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise MalformedBody(f"The name {ascii(twice)[:100]} occurs twice in an object.")
    return found


def _refuse_constant(name: str) -> float:
    raise MalformedBody(f"{name} is no JSON number.")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_NUMBER else math.inf
