"""Every parameter and every field of the description, with values that break services.

Whatever comes: never a 5xx, the place is named, and both databases say the same.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_from_bytes

import pytest

from tests.conftest import DATABASES
from tests.description import Operation
from tests.factories import Api

ABSENT = "00000000-0000-4000-8000-000000000000"

RAW_JSON = {
    "a lone surrogate": r'"\ud800"',
    "a reversed pair": r'"\udc00\ud800"',
    "NUL": r'"a\u0000b"',
    "a control character": r'"a\u001bb"',
    "full-width digits": '"１２"',
    "digits as text": '"12"',
    "2^31": "2147483648",
    "2^63": "9223372036854775808",
    "5000 digits": "9" * 5000,
    "1e400": "1e400",
    "-1": "-1",
    "1.5": "1.5",
    "true": "true",
    "null": "null",
    "an object": '{"a": {}}',
    "a list of lists": "[[[]]]",
    "a list of null": "[null]",
    "200,000 characters": '"' + "x" * 200_000 + '"',
    "the end of time": '"9999-12-31T23:59:59-23:59"',
    "a time without a zone": '"2026-12-01T09:00:00"',
    "a URN": '"urn:uuid:00000000-0000-4000-8000-000000000000"',
}
"""Each is a JSON document by itself; what is none has its own test."""

RAW_QUERY = {
    "NUL": b"a\x00b",
    "no UTF-8": b"\xff",
    "an encoded surrogate": b"\xed\xa0\x80",
    "full-width digits": "１２".encode(),
    "2^31": b"2147483648",
    "2^63": b"9223372036854775808",
    "5000 digits": b"9" * 5000,
    "1e400": b"1e400",
    "-1": b"-1",
    "1_0": b"1_0",
    "NaN": b"nan",
    "nothing": b"",
    "percent signs": b"%" * 200,
    "quotes": b"'\";--",
    "20,000 characters": b"x" * 20_000,
}
outcomes: dict[str, dict[str, tuple[int, list[str]]]] = {}


def body_cases(api: Api) -> Iterator[tuple[Operation, str, dict[str, Any]]]:
    for operation in api.description.operations():
        content = operation.described.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            schema = api.description.resolve(content["application/json"]["schema"])
            for field in schema["properties"]:
                yield operation, field, schema


def query_cases(api: Api) -> Iterator[tuple[Operation, str]]:
    for operation in api.description.operations():
        for parameter in operation.described.get("parameters", []):
            if parameter.get("in") == "query":
                yield operation, parameter["name"]


def test_no_value_of_any_field_is_our_mistake(api: Api, database: str, paper_id: str):
    seen = {}
    for operation, field, schema in body_cases(api):
        base = valid_body(schema, paper_id)
        for name, raw in RAW_JSON.items():
            members = {key: json.dumps(value) for key, value in base.items()} | {field: raw}
            body = "{" + ", ".join(f'"{key}": {value}' for key, value in members.items()) + "}"
            answer = ask(api, operation, data=body.encode(), content_type="application/json")
            case = f"{operation} {field}: {name}"
            seen[case] = told(answer, f"/{field}", case)
    assert len(seen) > 400
    hold_together("fields", database, seen)


def test_no_value_of_any_parameter_is_our_mistake(api: Api, database: str):
    seen = {}
    for operation, parameter in query_cases(api):
        for name, raw in RAW_QUERY.items():
            query = f"{parameter}={quote_from_bytes(raw, safe='')}"
            answer = ask(api, operation, query_string=query)
            case = f"{operation} {parameter}: {name}"
            seen[case] = told(answer, f"query:{parameter}", case)
    assert len(seen) > 250
    hold_together("parameters", database, seen)


def test_no_id_in_a_path_is_our_mistake(api: Api):
    rubbish = ["x", "%00", "%ff", "9" * 400, "٣", "..%2f..", "{id}", ABSENT.replace("-", "")]
    for operation in api.description.operations():
        if "{" in operation.path:
            for one in rubbish:
                path = re.sub(r"\{\w+\}", one, operation.path)
                answer = api.open(operation.method.upper(), path, headers={"If-Match": "*"})
                assert answer.status_code == 404, (str(operation), one)
                assert answer.mimetype == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a": 1}}',
        b'{"a": 1, "a": 2}',
        b'{"stars": NaN}',
        b'{"stars": Infinity}',
        b'{"stars": -Infinity}',
        b'{"note": "\xff"}',
        b'{"note": "\xed\xa0\x80"}',
        b'\xef\xbb\xbf{"a": 1}',
        '{"note": "x"}'.encode("utf-16"),
        b'{"note": "a\x01b"}',
        b"[" * 20_000,
        b" " + b"[" * 20_000 + b"]" * 20_000,
        b'{"a":' * 20_000,
        b'{"note": ' + b"[" * 100 + b"]" * 100 + b"}",
        b"nul",
        b"01",
        b"'x'",
    ],
    ids=lambda body: ascii(body[:16]),
)
def test_what_is_no_json_of_ours_cannot_be_read(api: Api, body: bytes):
    for operation in api.description.operations():
        content = operation.described.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            answer = ask(api, operation, data=body, content_type="application/json")
            assert answer.status_code == 400, str(operation)
            assert answer.json["type"] == "/problems/malformed-request"


@pytest.mark.parametrize("body", [b"[1]", b"null", b'"x"', b"1", b"true"])
def test_a_body_that_is_no_object_is_refused(api: Api, body: bytes):
    answer = api.post("/bookmarks", data=body, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json["errors"] == [{"pointer": "", "detail": "A JSON object is needed."}]


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "x"])
def test_another_media_type_is_not_read(api: Api, media_type: str):
    for operation in api.description.operations():
        content = operation.described.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            answer = ask(api, operation, data=b"{}", content_type=media_type)
            assert answer.status_code == 415, str(operation)


def test_errors_are_named_fifty_at_most(api: Api):
    answer = api.post("/bookmarks", json={f"field{number}": 1 for number in range(1_000)})
    assert (answer.status_code, len(answer.json["errors"])) == (422, 50)
    assert len(answer.data) < 10_000


def test_names_that_are_no_text_are_named_without_breaking_the_answer(api: Api):
    body = rb'{"\ud800": 1, "a/b~c": 1, "' + b"x" * 5_000 + b'": 1}'
    answer = api.post("/bookmarks", data=body, content_type="application/json")
    assert answer.status_code == 422
    pointers = [error["pointer"] for error in answer.json["errors"]]
    assert {"/\\ud800", "/a~1b~0c"} <= set(pointers)
    assert max(map(len, pointers)) <= 201


def ask(api: Api, operation: Operation, **options: Any) -> Any:
    path = re.sub(r"\{\w+\}", ABSENT, operation.path)
    headers = {"If-Match": "*", "X-Request-Id": "the-same-one"}
    return api.open(operation.method.upper(), path, headers=headers, **options)


def told(answer: Any, place: str, case: str) -> tuple[int, list[str]]:
    assert answer.status_code < 500, case
    errors = [] if answer.status_code in {200, 201, 202, 204} else answer.json.get("errors", [])
    pointers = sorted({error["pointer"] for error in errors})
    if answer.status_code in {400, 422}:
        assert any(pointer.startswith(place) for pointer in pointers), (case, answer.json)
    return answer.status_code, pointers


def hold_together(what: str, database: str, seen: dict[str, tuple[int, list[str]]]) -> None:
    """The second database to come here must have answered like the first."""
    assert database in DATABASES
    before = outcomes.setdefault(what, seen)
    assert seen == before


def valid_body(schema: dict[str, Any], paper_id: str) -> dict[str, Any]:
    known = {"paper_id": paper_id, "stars": 3, "kind": "seen", "name": "x", "scopes": ["recs:read"]}
    known["into"] = ABSENT
    body = {name: known[name] for name in schema.get("required", ())}
    if "abstract" in schema["properties"]:
        body |= {"title": "x", "abstract": "We study x."}
    if not body and "note" in schema["properties"]:
        body["note"] = "x"
    return body
