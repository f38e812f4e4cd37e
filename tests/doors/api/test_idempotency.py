"""A POST with an Idempotency-Key is carried out once."""

import io
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from service.db import scope
from service.runtime import Runtime
from service.tables import AnswerState, IdempotencyKey, Import, Interaction
from tests.factories import Api, Person, count

KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


def test_the_same_request_gets_the_same_answer(api: Api, paper_id: str):
    first = api.post("/bookmarks", json={"paper_id": paper_id}, headers=KEY)
    again = api.post("/bookmarks", json={"paper_id": paper_id}, headers=KEY)
    assert first.status_code == again.status_code == 201
    assert first.data == again.data
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"
    for name in ("Location", "ETag", "Content-Type"):
        assert first.headers[name] == again.headers[name]


def test_an_answer_without_a_body_is_replayed_too(
    api: Api, runtime: Runtime, alice: Person, paper_id: str
):
    answers = [api.post(f"/papers/{paper_id}/opens", headers=KEY) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [204, 204, 204]
    assert count(runtime, alice, Interaction) == 1


def test_another_request_with_the_key_is_refused(api: Api, paper_id: str):
    api.post("/bookmarks", json={"paper_id": paper_id}, headers=KEY)
    for path, body in (
        ("/bookmarks", {"paper_id": paper_id, "note": "other"}),
        ("/ratings", {"paper_id": paper_id, "stars": 3}),
        ("/bookmarks?x=1", {"paper_id": paper_id}),
    ):
        answer = api.post(path, json=body, headers=KEY)
        assert (answer.status_code, answer.json["type"]) == (
            422,
            "/problems/idempotency-mismatch",
        )


def test_keys_are_each_persons_own(api: Api, bobs_api: Api, paper_id: str):
    made = [
        one.post("/bookmarks", json={"paper_id": paper_id}, headers=KEY) for one in (api, bobs_api)
    ]
    assert made[0].json["id"] != made[1].json["id"]


def test_a_request_that_failed_may_be_mended(api: Api, paper_id: str):
    assert api.post("/ratings", json={"paper_id": paper_id}, headers=KEY).status_code == 422
    good = api.post("/ratings", json={"paper_id": paper_id, "stars": 3}, headers=KEY)
    assert good.status_code == 201


def test_after_two_days_the_key_is_new(api: Api, runtime: Runtime, alice: Person, paper_id: str):
    opened = f"/papers/{paper_id}/opens"
    api.post(opened, headers=KEY)
    with scope(runtime.writing(), alice.id) as session:
        long_ago = datetime.now(UTC) - timedelta(hours=49)
        session.execute(update(IdempotencyKey).values(created_at=long_ago))
        session.commit()
    assert "Idempotency-Replayed" not in api.post(opened, headers=KEY).headers
    assert count(runtime, alice, Interaction) == 2


def test_a_key_in_flight_is_a_conflict(api: Api, runtime: Runtime, alice: Person, paper_id: str):
    opened = f"/papers/{paper_id}/opens"
    api.post(opened, headers=KEY)
    with scope(runtime.writing(), alice.id) as session:
        session.execute(update(IdempotencyKey).values(state=AnswerState.IN_FLIGHT))
        session.commit()
    assert api.post(opened, headers=KEY).status_code == 409


@pytest.mark.parametrize("key", ["", " ", "a b", "ä", "x" * 256, "\x7f"])
def test_what_is_no_key_is_named(api: Api, paper_id: str, key: str):
    answer = api.post(f"/papers/{paper_id}/opens", headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == "header:Idempotency-Key"


def test_an_upload_sent_again_is_the_same_whatever_its_boundary(
    api: Api, runtime: Runtime, alice: Person
):
    def send(text: bytes) -> object:
        return api.post("/imports", data={"file": (io.BytesIO(text), "a.txt")}, headers=KEY)

    first, again, other = send(b"# One"), send(b"# One"), send(b"# Two")
    assert first.json["id"] == again.json["id"]
    assert other.status_code == 422
    assert count(runtime, alice, Import) == 1


@pytest.mark.parametrize("what", ["opens", "imports"])
def test_eight_threads_with_one_key_have_one_effect(
    api: Api, runtime: Runtime, alice: Person, paper_id: str, what: str
):
    answers, start = [], threading.Barrier(8)

    def send() -> None:
        theirs = Api(api.client.application.test_client(), alice.headers)
        start.wait()
        if what == "opens":
            answers.append(theirs.post(f"/papers/{paper_id}/opens", headers=KEY))
        else:
            text = {"data": "# One", "content_type": "text/plain"}
            answers.append(theirs.post("/imports", headers=KEY, **text))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({(answer.status_code, answer.data) for answer in answers}) == 1
    assert answers[0].status_code in {202, 204}
    replayed = [answer for answer in answers if "Idempotency-Replayed" in answer.headers]
    assert len(replayed) == 7
    assert count(runtime, alice, Interaction if what == "opens" else Import) == 1
