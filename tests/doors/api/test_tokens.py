"""Tokens and who they stand for."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from service.accounts.records import Scope
from service.db import scope
from service.runtime import Runtime
from service.tables import ApiToken, IdempotencyKey
from tests.factories import PASSWORD, Api, Person, make_token

EVERYTHING = ["digest:manage", "feedback:write", "library:read", "library:write", "recs:read"]


def basic(email: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{email}:{password}".encode()).decode()}


def test_a_password_makes_a_token_that_works(client: FlaskClient, alice: Person):
    api = Api(client, basic(alice.email, PASSWORD))
    made = api.post("/tokens", json={"name": "cli", "scopes": EVERYTHING})
    assert made.status_code == 201, made.json
    assert made.json["token"].startswith(made.json["starts_with"])
    me = Api(client, {"Authorization": f"Bearer {made.json['token']}"}).get("/me")
    assert (me.status_code, me.json["email"]) == (200, alice.email)
    assert me.json["token_id"] == made.json["id"]
    assert me.json["scopes"] == EVERYTHING


def test_a_password_is_for_tokens_only(client: FlaskClient, alice: Person):
    answer = Api(client, basic(alice.email, PASSWORD)).get("/me")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_five_wrong_passwords_make_the_address_wait(client: FlaskClient, alice: Person):
    api = Api(client, basic(alice.email, "wrong password"))
    assert [api.get("/tokens").status_code for _ in range(6)] == [401] * 5 + [429]
    right = Api(client, basic(alice.email, PASSWORD)).get("/tokens")
    assert right.status_code == 429
    assert int(right.headers["Retry-After"]) > 0


def test_an_unknown_address_answers_like_a_wrong_password(client: FlaskClient, alice: Person):
    known = Api(client, basic(alice.email, "wrong password")).get("/tokens").json
    unknown = Api(client, basic("nobody@example.org", "wrong password")).get("/tokens").json
    assert {**known, "request_id": ""} == {**unknown, "request_id": ""}


def test_the_token_is_shown_once(api: Api):
    made = api.post("/tokens", json={"name": "cli", "scopes": ["recs:read"]})
    listed = api.get("/tokens").json["items"]
    assert [row["name"] for row in listed] == ["test", "cli"]
    assert made.json["token"] not in api.get("/tokens").text


def test_a_replayed_answer_and_the_database_hold_no_token(
    api: Api, runtime: Runtime, alice: Person
):
    headers = {"Idempotency-Key": "one"}
    new = {"name": "cli", "scopes": ["recs:read"]}
    first = api.post("/tokens", json=new, headers=headers)
    again = api.post("/tokens", json=new, headers=headers)
    assert again.json == {**first.json, "token": None}
    with scope(runtime.reading(), alice.id) as session:
        (kept,) = session.scalars(select(IdempotencyKey.body)).all()
    assert first.json["token"].encode() not in kept


def test_a_token_gives_no_more_than_it_has(runtime: Runtime, client: FlaskClient, alice: Person):
    soon = datetime.now(UTC) + timedelta(hours=1)
    weak = make_token(runtime, alice, [Scope.RECS_READ], expires_at=soon)
    api = Api(client, {"Authorization": f"Bearer {weak}"})
    new = {"name": "child", "scopes": ["recs:read"], "expires_at": soon.isoformat()}
    assert api.post("/tokens", json={**new, "scopes": ["library:read"]}).status_code == 403
    assert api.post("/tokens", json={**new, "expires_at": None}).status_code == 422
    late = (soon + timedelta(days=1)).isoformat()
    assert api.post("/tokens", json={**new, "expires_at": late}).status_code == 422
    assert api.post("/tokens", json=new).status_code == 201


def test_a_person_cannot_make_an_admin_token(client: FlaskClient, alice: Person):
    api = Api(client, basic(alice.email, PASSWORD))
    assert api.post("/tokens", json={"name": "x", "scopes": ["admin"]}).status_code == 403


def test_a_revoked_token_stops_at_once(client: FlaskClient, api: Api):
    made = api.post("/tokens", json={"name": "cli", "scopes": ["recs:read"]}).json
    theirs = Api(client, {"Authorization": f"Bearer {made['token']}"})
    assert theirs.get("/me").status_code == 200
    assert api.delete(f"/tokens/{made['id']}").status_code == 204
    assert theirs.get("/me").status_code == 401
    assert api.delete(f"/tokens/{made['id']}").status_code == 404


def test_a_token_revokes_itself_but_no_stronger_one(
    runtime: Runtime, client: FlaskClient, api: Api, alice: Person
):
    weak = make_token(runtime, alice, [Scope.RECS_READ])
    theirs = Api(client, {"Authorization": f"Bearer {weak}"})
    strong, own = (api.get("/me").json["token_id"], theirs.get("/me").json["token_id"])
    assert theirs.delete(f"/tokens/{strong}").status_code == 403
    assert theirs.delete(f"/tokens/{own}").status_code == 204


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer x", "Basic", "Basic !!", "Basic Og==", "Digest x", "psh_x",
     "Basic YQ==", "Basic /w==", "Bearer psh_aaaaaaaa_" + "b" * 43 + "_cccccc", "Basic YQBhOmI="],
)  # fmt: skip
def test_anything_else_is_nobody(client: FlaskClient, header: str):
    for path in ("/me", "/tokens"):
        assert Api(client, {"Authorization": header}).get(path).status_code == 401


def test_a_token_in_the_query_string_is_not_looked_at(client: FlaskClient, alice: Person):
    assert client.get(f"/api/v1/me?access_token={alice.token}").status_code == 401


def test_the_last_use_is_noted_once_a_minute(
    api: Api, runtime: Runtime, alice: Person, monkeypatch: pytest.MonkeyPatch
):
    api.get("/me")
    with scope(runtime.reading(), alice.id) as session:
        (noted,) = session.scalars(select(ApiToken.last_used_at)).all()
    assert noted is not None
    monkeypatch.setattr("service.api.auth.note_use", None)
    assert api.get("/me").status_code == 200
