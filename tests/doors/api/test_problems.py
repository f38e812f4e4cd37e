"""Errors, whatever their cause, and the headers of every answer."""

import io
import re
import sqlite3
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from flask import Flask, request
from flask.testing import FlaskClient

import service.db
from service import errors
from service.api.failures import on_database_error
from service.api.problems import KIND_OF, MEDIA_TYPE, STATUS_OF
from service.runtime import Runtime
from tests.factories import Api, Person

NEVER_ANSWERED = {errors.ServiceError, errors.CannotStart, errors.ModelRefused}
"""For the terminal and the log: no request can meet them."""


def is_problem(answer: Any, status: int) -> bool:
    return (
        answer.status_code == status == answer.json["status"]
        and answer.mimetype == MEDIA_TYPE
        and answer.json["request_id"] == answer.headers["X-Request-Id"]
        and answer.json["instance"] == answer.request.path
    )


UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def test_every_error_of_the_rooms_has_a_status():
    raised = {
        cls
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.ServiceError)
    }
    assert raised - set(STATUS_OF) == NEVER_ANSWERED


def test_each_type_of_problem_has_its_page(client: FlaskClient):
    for kind in KIND_OF.values():
        page = client.get(kind.uri)
        assert (page.status_code, page.mimetype) == (200, "text/plain")
        assert kind.title in page.text
    assert client.get("/problems/none").status_code == 404


@pytest.mark.parametrize(
    "path", ["/api/v1/none", "/api/none", "/api/v1/papers/x", "/api/v1/papers/"]
)
def test_nothing_there_is_a_problem_and_elsewhere_a_page(client: FlaskClient, path: str):
    assert is_problem(client.get(path), 404)
    assert client.get("/none").mimetype == "text/html"


def test_no_get_passes_over_a_parameter_that_there_is_not(api: Api):
    paths = api.client.get("/openapi.json").json["paths"]
    readable = [path for path, operations in paths.items() if "get" in operations]
    assert {"/api/v1/interests", "/api/v1/papers/{paper_id}/explanation"} < set(readable)
    for path in readable:
        place = re.sub(r"{\w+}", str(UUID(int=0)), path.removeprefix("/api/v1"))
        answer = api.get(f"{place}?nonsense=1")
        assert is_problem(answer, 422), path
        assert answer.json["errors"][0]["pointer"] == "query:nonsense"


def test_a_wrong_method_is_told_the_right_ones(client: FlaskClient):
    for path, allowed in (
        ("/api/v1/bookmarks", {"GET", "HEAD", "OPTIONS", "POST"}),
        ("/openapi.json", {"GET", "HEAD", "OPTIONS"}),
    ):
        answer = client.put(path)
        assert is_problem(answer, 405)
        assert set(answer.headers["Allow"].split(", ")) == allowed


def test_a_body_over_a_mebibyte_is_too_large(api: Api):
    answer = api.post("/bookmarks", json={"note": "x" * 2**20})
    assert is_problem(answer, 413)
    assert "1 MiB" in answer.json["detail"]


class Unread:
    """A body that fails the test when it is read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")

    readline = read


LARGE = {"wsgi.input": Unread(), "CONTENT_LENGTH": str(200 * 2**20)}


def test_two_hundred_megabytes_are_refused_unread(api: Api):
    for operation in api.description.operations():
        if operation.method != "get":
            path = operation.path.replace("{", "").replace("}", "")
            path = (
                path.replace(path.split("/")[4], "00000000-0000-4000-8000-000000000000")
                if ("{" in operation.path)
                else path
            )
            answer = api.open(
                operation.method.upper(),
                path,
                content_type="application/json",
                environ_overrides=LARGE,
            )
            assert is_problem(answer, 413), str(operation)
    upload = api.post("/imports", content_type="text/plain", environ_overrides=LARGE)
    assert "32 MiB" in upload.json["detail"]


class Endless(io.RawIOBase):
    n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        self.n_read += len(buffer)
        return len(buffer)


@pytest.mark.parametrize(
    ("path", "media_type", "limit"),
    [
        ("/bookmarks", "application/json", 2**20),
        ("/imports", "text/plain", 2**25),
        ("/imports", "multipart/form-data; boundary=x", 2**25),
    ],
)
def test_a_body_without_an_end_is_cut_off(api: Api, path: str, media_type: str, limit: int):
    stream = Endless()
    chunked = {
        "wsgi.input": stream,
        "wsgi.input_terminated": True,
        "HTTP_TRANSFER_ENCODING": "chunked",
        "CONTENT_LENGTH": "",
    }
    assert is_problem(api.post(path, content_type=media_type, environ_overrides=chunked), 413)
    assert stream.n_read < 2 * limit


def test_an_error_nobody_foresaw_tells_nothing_but_its_request_id(
    app: Flask, alice: Person, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret in the message")

    monkeypatch.setattr("service.api.v1.me.get_user", broken)
    app.testing = False
    answer = app.test_client().get("/api/v1/me", headers=alice.headers)
    assert is_problem(answer, 500)
    assert b"secret" not in answer.data
    assert b"ZeroDivision" not in answer.data


def test_a_locked_database_asks_to_come_back(
    api: Api, runtime: Runtime, paper_id: str, monkeypatch: pytest.MonkeyPatch
):
    if runtime.sessions.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL locks rows, not databases")
    api.get("/me")
    monkeypatch.setattr(service.db, "BUSY_TIMEOUT_MS", 20)
    runtime.sessions.engine.dispose()
    other = sqlite3.connect(runtime.settings.database_url.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = api.post("/bookmarks", json={"paper_id": paper_id})
        assert api.get("/bookmarks").status_code == 200, "reading goes on"
    finally:
        other.close()
    assert is_problem(answer, 503)
    assert int(answer.headers["Retry-After"]) > 0
    assert api.post("/bookmarks", json={"paper_id": paper_id}).status_code == 201


def test_a_lost_connection_asks_to_come_back(app: Flask, api: Api, runtime: Runtime):
    """The server ends all connections; the pool finds out before it hands one out."""
    if runtime.sessions.engine.dialect.name != "postgresql":
        pytest.skip("SQLite has no server")
    api.get("/me")
    with runtime.sessions.engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert api.get("/me").status_code == 200


def test_a_server_that_is_away_asks_to_come_back(app: Flask, runtime: Runtime):
    import psycopg

    away = sa.create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with app.test_request_context("/api/v1/me"):
        with pytest.raises(sa.exc.OperationalError) as raised, away.connect():
            pass
        assert isinstance(raised.value.orig, psycopg.OperationalError)
        assert on_database_error(raised.value).status_code == 503
        assert request.path == "/api/v1/me"
    away.dispose()


@pytest.mark.parametrize("given", ["abcdefgh", "A-1.b_" + "x" * 20, "x" * 64])
def test_a_sane_request_id_is_kept(client: FlaskClient, given: str):
    assert (
        client.get("/health/live", headers={"X-Request-Id": given}).headers["X-Request-Id"] == given
    )


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "with blank", "ä" * 10, "<script>alert"])
def test_any_other_request_id_is_replaced(client: FlaskClient, given: str):
    first, second = (
        client.get("/api/v1/none", headers={"X-Request-Id": given}).headers["X-Request-Id"]
        for _ in range(2)
    )
    assert given not in {first, second}
    assert first != second
    assert len(first) == 32


def test_every_answer_has_the_headers_that_protect(api: Api, client: FlaskClient):
    for path in ("/", "/docs", "/docs/start.js", "/openapi.json", "/health/live", "/none"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] == "no-referrer", path
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
    for path in ("/me", "/bookmarks", "/none"):
        headers = api.get(path).headers
        assert headers["Cache-Control"] == "private, no-store", path
        assert "Authorization" in headers["Vary"], path


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        ({}, "/paper_id", "This is needed."),
        ({"paper_id": None}, "/paper_id", "This cannot be null."),
        ({"paper_id": UNKNOWN_ID, "tags": "maths"}, "/tags", "A list is needed."),
        ({"paper_id": UNKNOWN_ID, "tags": [None]}, "/tags/0", "This cannot be null."),
        ({"paper_id": UNKNOWN_ID, "star": 5}, "/star", "There is no such field."),
    ],
    ids=str,
)
def test_what_is_missing_or_of_the_wrong_kind_is_told_in_plain_words(
    api: Api, body: dict, place: str, said: str
):
    (error,) = api.post("/bookmarks", json=body).json["errors"]
    assert (error["pointer"], error["detail"]) == (place, said)
