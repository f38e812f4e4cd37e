"""ETags, If-Match and If-None-Match."""

import threading

import pytest
from sqlalchemy import select

from service.runtime import Runtime
from service.tables import Paper
from tests.factories import Api, Person

KINDS = {
    "/bookmarks": ({}, {"note": "changed"}),
    "/ratings": ({"stars": 3}, {"stars": 4}),
    "/feedback": ({"kind": "seen"}, {"kind": "low_quality"}),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_change_needs_if_match(api: Api, paper_id: str, kind: str):
    more, change = KINDS[kind]
    where = api.post(kind, json={"paper_id": paper_id, **more}).headers["Location"]
    for answer in (api.patch(where, json=change), api.delete(where)):
        assert answer.status_code == 428
        assert answer.json["type"] == "/problems/precondition-required"


@pytest.mark.parametrize("tag", ['"9-1"', 'W/"1-1"', '"x"', "1-1x", '""', '"1-1', "garbage, ,"])
def test_a_wrong_etag_changes_nothing(api: Api, paper_id: str, kind: str, tag: str):
    more, change = KINDS[kind]
    where = api.post(kind, json={"paper_id": paper_id, **more}).headers["Location"]
    before, headers = api.get(where).json, {"If-Match": tag}
    assert api.patch(where, json=change, headers=headers).status_code == 412
    assert api.delete(where, headers=headers).status_code == 412
    assert api.get(where).json == before


def test_an_old_etag_is_refused_and_several_are_understood(api: Api, paper_id: str, kind: str):
    more, change = KINDS[kind]
    made = api.post(kind, json={"paper_id": paper_id, **more})
    where, old = made.headers["Location"], made.headers["ETag"]
    new = api.patch(where, json=change, headers={"If-Match": old}).headers["ETag"]
    assert api.delete(where, headers={"If-Match": old}).status_code == 412
    assert api.delete(where, headers={"If-Match": f"{old}, {new}"}).status_code < 300


def test_a_star_matches_whatever_is_there(api: Api, paper_id: str, kind: str):
    more, change = KINDS[kind]
    where = api.post(kind, json={"paper_id": paper_id, **more}).headers["Location"]
    assert api.patch(where, json=change, headers={"If-Match": "*"}).json["version"] == 2
    assert api.delete(where, headers={"If-Match": "*"}).status_code < 300
    assert api.delete(where, headers={"If-Match": "*"}).status_code == 404


def test_what_the_caller_has_is_not_sent_again(api: Api, paper_id: str, kind: str):
    more, _ = KINDS[kind]
    made = api.post(kind, json={"paper_id": paper_id, **more})
    for where in (made.headers["Location"], f"/papers/{paper_id}"):
        tag = api.get(where).headers["ETag"]
        same = api.get(where, headers={"If-None-Match": f'"other", {tag}'})
        assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tag)
        assert api.get(where, headers={"If-None-Match": '"0"'}).status_code == 200


def test_a_bookmark_with_a_new_title_has_a_new_etag(api: Api, runtime: Runtime, paper_id: str):
    made = api.post("/bookmarks", json={"paper_id": paper_id})
    where, old = made.headers["Location"], made.headers["ETag"]
    with runtime.writing() as session:
        paper = session.scalars(select(Paper)).one()
        paper.display_title, paper.version = "The real title", paper.version + 1
        session.commit()
    assert api.get(where, headers={"If-None-Match": old}).status_code == 200
    # Yet the bookmark is the one that was read: the change is not refused for the paper's sake.
    assert api.patch(where, json={"note": "!"}, headers={"If-Match": old}).status_code == 200


def test_of_two_changes_at_once_one_wins(api: Api, alice: Person, paper_id: str):
    made = api.post("/bookmarks", json={"paper_id": paper_id})
    where, headers = made.headers["Location"], {"If-Match": made.headers["ETag"]}
    statuses, start = [], threading.Barrier(8)

    def change(note: str) -> None:
        theirs = Api(api.client.application.test_client(), alice.headers)
        start.wait()
        statuses.append(theirs.patch(where, json={"note": note}, headers=headers).status_code)

    threads = [threading.Thread(target=change, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [412] * 7
    assert api.get(where).json["version"] == 2
