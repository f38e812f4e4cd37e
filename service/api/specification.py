"""Completes what flask-smorest describes: each operation with every status it can answer."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from service.api.idempotency import HEADER, KEPT_FOR
from service.api.smorest import HINTS

Operation = dict[str, Any]

SECURITY = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "psh_<id>_<secret>_<check>",
        "description": "A token of yours, in the Authorization header only. Each operation lists "
        "the scopes that it needs.",
    },
    "password": {
        "type": "http",
        "scheme": "basic",
        "description": "E-mail address and password; for making, listing and revoking tokens only.",
    },
}
PARAMETERS: Mapping[str, dict[str, Any]] = {
    "IdempotencyKey": {
        "name": HEADER,
        "in": "header",
        "required": False,
        "description": "The same key with the same request is carried out once; the answer is "
        f"kept for {KEPT_FOR.total_seconds() / 3600:.0f} hours and given again.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "required": True,
        "description": "The ETag that you read, or * for any.",
        "schema": {"type": "string"},
        "example": '"1-1"',
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": "The ETag that you have; 304 if it is still that.",
        "schema": {"type": "string"},
    },
    "PreferWait": {
        "name": "Prefer",
        "in": "header",
        "required": False,
        "description": "wait=N holds the answer until it is done, at most 30 seconds.",
        "schema": {"type": "string"},
        "example": "wait=10",
    },
}
HEADERS: Mapping[str, tuple[str, str]] = {
    "ETag": ("string", "Its version; send it in If-Match to change it."),
    "Location": ("string", "Where it is."),
    "Link": ("string", 'The next page, as <…>; rel="next".'),
    "Allow": ("string", "The methods that fit."),
    "Retry-After": ("integer", "Seconds to wait."),
    "WWW-Authenticate": ("string", "How to say who you are."),
    "Preference-Applied": ("string", "The wait that was granted."),
    "Idempotency-Replayed": ("string", "“true” if this is the answer to the request before."),
    "X-Request-Id": ("string", "Finds this request in the log."),
}
HEADERS_OF_STATUS = {
    HTTPStatus.UNAUTHORIZED: ("WWW-Authenticate",),
    HTTPStatus.TOO_MANY_REQUESTS: ("Retry-After",),
    HTTPStatus.SERVICE_UNAVAILABLE: ("Retry-After",),
    HTTPStatus.METHOD_NOT_ALLOWED: ("Allow",),
}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The description with security, headers, and all errors; changes it in place."""
    components = document.setdefault("components", {})
    components["securitySchemes"] = SECURITY
    components.setdefault("parameters", {}).update(PARAMETERS)
    components["headers"] = {
        name: {"description": text, "schema": {"type": kind}}
        for name, (kind, text) in HEADERS.items()
    }
    components["responses"] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                _complete_operation(operation, method, path)
                operation["operationId"] = f"{method}{_camel(path)}"
    for name, status in _statuses_used(document):
        components["responses"][name] = _problem(status)
    return document


def _complete_operation(operation: Operation, method: str, path: str) -> None:
    hints = operation.pop(HINTS, {})
    parameters = operation.setdefault("parameters", [])
    writes = method != "get"
    for name, is_there in (
        ("IdempotencyKey", method == "post"),
        ("IfMatch", "if_match" in hints),
        ("IfNoneMatch", "etag" in hints),
        ("PreferWait", "prefer_wait" in hints),
    ):
        if is_there:
            parameters.append({"$ref": f"#/components/parameters/{name}"})
    if not parameters:
        del operation["parameters"]
    for parameter in parameters:
        _without_null(parameter.get("schema", {}))
    scopes = operation.get("security", [{}])[0].get("bearer", [])
    needed = f"Needs the scope {', '.join(scopes)}." if scopes else "Any token will do."
    operation["description"] = f"{operation.get('description', '')}\n\n{needed}".strip()
    has_query = any(parameter.get("in") == "query" for parameter in parameters)
    has_body = "requestBody" in operation
    possible = {
        400: has_body,
        401: True,
        403: bool(scopes),
        404: "{" in path,
        409: method == "post",
        412: "if_match" in hints,
        413: has_body or writes,
        415: has_body,
        422: has_body or has_query or method in {"get", "post"},
        428: "if_match" in hints,
        429: {"password": []} in operation.get("security", []),
        500: True,
        503: True,
        **dict.fromkeys(hints.get("errors", ()), True),
    }
    responses = operation["responses"]
    if "etag" in hints:
        responses["304"] = {"description": "It is what you have"}
    for status, can_be in possible.items():
        if can_be:
            name = HTTPStatus(status).name
            responses[str(status)] = {"$ref": f"#/components/responses/{name}"}
        else:
            responses.pop(str(status), None)
    for status, response in responses.items():
        if "$ref" not in response:
            _add_headers(response, _headers_of(int(status), method, hints))
    operation["responses"] = dict(sorted(responses.items()))


def _without_null(schema: dict[str, Any]) -> None:
    """A parameter is left out or has a value; null is nothing that a query string can say."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        schema["type"] = next(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    if schema.get("default", ...) is None:
        del schema["default"]


def _headers_of(status: int, method: str, hints: Mapping[str, Any]) -> list[str]:
    is_success = status < HTTPStatus.MULTIPLE_CHOICES and status != HTTPStatus.NO_CONTENT
    wanted = {
        "X-Request-Id": True,
        "ETag": "etag" in hints
        or "answers_etag" in hints
        or ("if_match" in hints and is_success and method != "delete"),
        "Link": "page" in hints,
        "Location": "location" in hints,
        "Preference-Applied": "prefer_wait" in hints,
        "Idempotency-Replayed": method == "post",
    }
    return [name for name, is_there in wanted.items() if is_there]


def _add_headers(response: dict[str, Any], names: list[str]) -> None:
    response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _statuses_used(document: Mapping[str, Any]) -> set[tuple[str, int]]:
    refs = {
        response["$ref"].rpartition("/")[2]
        for operations in document["paths"].values()
        for method, operation in operations.items()
        if method != "parameters"
        for response in operation["responses"].values()
        if "$ref" in response
    }
    return {(name, HTTPStatus[name].value) for name in refs}


def _problem(status: int) -> dict[str, Any]:
    names = ["X-Request-Id", *HEADERS_OF_STATUS.get(HTTPStatus(status), ())]
    response: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    _add_headers(response, names)
    return response


def _camel(path: str) -> str:
    """``/api/v1/papers/{paper_id}/related`` → ``PapersByIdRelated``."""
    steps = path.removeprefix("/api/v1/").split("/")
    return "".join("ById" if step.startswith("{") else step.title() for step in steps)
