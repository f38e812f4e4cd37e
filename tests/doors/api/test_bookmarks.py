"""Bookmarks through HTTP."""

from uuid import uuid4

import pytest

from tests.factories import Api


def test_a_saved_paper_is_on_the_list(api: Api, paper_id: str):
    made = api.post("/bookmarks", json={"paper_id": paper_id, "tags": ["To discuss"], "note": "!"})
    assert made.status_code == 201, made.json
    assert made.headers["Location"] == f"/api/v1/bookmarks/{made.json['id']}"
    listed = api.get("/bookmarks")
    assert listed.json == {"items": [made.json], "next_cursor": None}
    assert made.json["tags"] == ["To discuss"]
    assert made.json["paper"]["id"] == paper_id
    assert made.json["saved_at"].endswith("Z")


def test_saving_a_paper_twice_keeps_one_bookmark(api: Api, paper_id: str):
    first = api.post("/bookmarks", json={"paper_id": paper_id})
    again = api.post("/bookmarks", json={"paper_id": paper_id, "status": "read"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json == again.json


def test_a_bookmark_is_changed_and_removed_by_its_etag(api: Api, paper_id: str):
    made = api.post("/bookmarks", json={"paper_id": paper_id})
    where = made.headers["Location"]
    changed = api.patch(
        where,
        json={"status": "read", "tags": ["a", "B"]},
        headers={"If-Match": made.headers["ETag"]},
    )
    assert changed.status_code == 200, changed.json
    assert (changed.json["status"], changed.json["tags"], changed.json["version"]) == (
        "read",
        ["a", "B"],
        2,
    )
    assert changed.headers["ETag"] != made.headers["ETag"]
    gone = api.delete(where, headers={"If-Match": changed.headers["ETag"]})
    assert gone.status_code == 204
    assert api.get(where).status_code == 404


def test_bookmarks_are_filtered_by_status_and_tag(api: Api, runtime, paper_id: str):
    api.post("/bookmarks", json={"paper_id": paper_id, "status": "reading", "tags": ["Deep"]})
    for query, found in (
        ("status=reading", 1),
        ("status=read", 0),
        ("tag=deep", 1),
        ("tag=shallow", 0),
        ("tag=DEEP&status=reading", 1),
    ):
        assert len(api.get(f"/bookmarks?{query}").json["items"]) == found, query


@pytest.mark.parametrize(
    ("kind", "more"),
    [("/bookmarks", {}), ("/ratings", {"stars": 3}), ("/feedback", {"kind": "seen"})],
)
def test_a_paper_that_is_not_there_is_named(api: Api, kind: str, more: dict[str, object]):
    answer = api.post(kind, json={"paper_id": str(uuid4()), **more})
    assert answer.status_code == 422
    assert answer.json["errors"] == [{"pointer": "/paper_id", "detail": "There is no such paper."}]
