"""The description of the API, its pages, and the state of the service."""

import re
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from openapi_spec_validator import validate

from service.runtime import Runtime
from service.tables import Interaction
from tests.description import Description
from tests.factories import NOW, Api, make_papers
from tests.service.recommend.shelf import train


@pytest.fixture
def description(client: FlaskClient) -> Description:
    return Description(client.get("/openapi.json").json)


def test_the_description_is_valid(description: Description):
    validate(description.document)
    assert description.document["openapi"] == "3.1.0"


def test_every_operation_says_what_it_does_and_answers(description: Description):
    ids = set()
    for operation in description.operations():
        described = operation.described
        assert described["summary"], str(operation)
        assert described["description"], str(operation)
        ids.add(described["operationId"])
        statuses = set(described["responses"])
        assert {"401", "500", "503"} <= statuses, str(operation)
        if operation.scopes:
            assert "403" in statuses, str(operation)
        if "{" in operation.path:
            assert "404" in statuses, str(operation)
    assert len(ids) == len(list(description.operations()))


def test_every_error_is_a_problem(description: Description):
    for operation in description.operations():
        for status, response in operation.described["responses"].items():
            if int(status) >= 400:
                content = description.resolve(response)["content"]
                assert set(content) == {"application/problem+json"}, (str(operation), status)
                schema = content["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}


def test_every_object_is_closed(description: Description):
    for name, schema in description.document["components"]["schemas"].items():
        assert schema["additionalProperties"] is False, name
        for field, described in schema["properties"].items():
            kinds = {"type", "$ref", "anyOf"}
            assert kinds & set(described), f"{name}.{field} has no type"


def test_nothing_of_our_own_is_left_in_it(client: FlaskClient):
    assert "x-papershelf" not in client.get("/openapi.json").text


def test_the_description_is_not_sent_twice(client: FlaskClient):
    tag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": tag}).status_code == 304


def test_the_pages_load_nothing_from_elsewhere(client: FlaskClient):
    for path in ("/", "/docs", "/docs/start.js"):
        page = client.get(path)
        assert page.status_code == 200
        assert not re.search(r"(?:https?:)?//\w", page.text), path
        assert not re.search(r"<script(?![^>]*\ssrc=)|\son\w+=|style=|javascript:", page.text), path
    for name in re.findall(r'(?:src|href)="(/docs/[^"]+)"', client.get("/docs").text):
        with client.get(name) as file:
            assert file.status_code == 200, name
    policy = client.get("/docs").headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy


@pytest.mark.parametrize("name", ["swagger-ui.js", "../v1", "%2e%2e%2fflask_swagger_ui.py", "x"])
def test_no_other_file_is_served(client: FlaskClient, name: str):
    assert client.get(f"/docs/{name}").status_code == 404


def test_the_start_page_counts_the_papers(client: FlaskClient, runtime: Runtime):
    make_papers(runtime, 3)
    assert "has 3 papers" in client.get("/").text


def test_live_asks_nothing(client: FlaskClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("service.api.state.runtime", None)
    assert client.get("/health/live").json == {"status": "ok"}


def test_ready_says_so(client: FlaskClient):
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json["status"]) == (200, "ok")


def test_a_database_behind_is_not_ready(client: FlaskClient, runtime: Runtime):
    with runtime.sessions.engine.begin() as connection:
        (head,) = connection.exec_driver_sql("SELECT version_num FROM alembic_version").one()
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'other'")
    try:
        answer = client.get("/health/ready")
        assert (answer.status_code, answer.json["checks"]["database"]) == (503, "ok")
        assert "papershelf db upgrade" in answer.json["checks"]["migrations"]
        assert answer.headers["Retry-After"]
    finally:
        with runtime.sessions.engine.begin() as connection:
            connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{head}'")


def test_a_late_training_is_not_ready_unless_it_is_left_out(
    api: Api, paper_id: str, runtime: Runtime
):
    api.post("/bookmarks", json={"paper_id": paper_id})
    assert api.client.get("/health/ready").json["checks"]["training"] == "ok", "it has just begun"
    with runtime.sessions.engine.begin() as connection:
        connection.execute(sa.update(Interaction).values(at=NOW))
    late = api.client.get("/health/ready")
    assert (late.status_code, late.json["checks"]["training"][:6]) == (503, "late: ")
    assert api.client.get("/health/ready?except=training").status_code == 200
    train(runtime, now=datetime.now(UTC))
    assert api.client.get("/health/ready").status_code == 200


@pytest.mark.parametrize(
    ("query", "pointer", "said"),
    [
        ("except=foo", "query:except", "database, migrations, model, training"),
        ("except=training,foo", "query:except", "database, migrations, model, training"),
        ("exept=training", "query:exept", "There is except"),
    ],
)
def test_a_check_that_there_is_not_is_left_out_of_nothing(
    client: FlaskClient, query: str, pointer: str, said: str
):
    answer = client.get(f"/health/ready?{query}")
    assert (answer.status_code, answer.mimetype) == (422, "application/problem+json")
    (error,) = answer.json["errors"]
    assert (error["pointer"], said in error["detail"]) == (pointer, True)


def test_several_checks_may_be_left_out(client: FlaskClient):
    answer = client.get("/health/ready?except=training,model")
    assert answer.json["checks"].keys() == {"database", "migrations"}


def test_a_broken_model_is_not_ready(client: FlaskClient, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise OSError("no such file")

    monkeypatch.setattr("service.api.health.model_facts", broken)
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json["checks"]["model"]) == (503, "it failed (OSError)")
