"""What belongs to somebody else answers like what was never there."""

import re
from uuid import uuid4

from flask import Flask

from tests.description import Description, Operation
from tests.factories import Api

OWNED = {
    "bookmark_id": ("/bookmarks", {}),
    "rating_id": ("/ratings", {"stars": 4}),
    "feedback_id": ("/feedback", {"kind": "seen"}),
}
BODIES = {
    "BookmarkChange": {"note": "mine now"},
    "RatingChange": {"stars": 1},
    "FeedbackChange": {"kind": "low_quality"},
    "InterestChange": {"muted": True},
    "Merge": {"into": str(uuid4())},
}


def alices_things(api: Api, paper_id: str) -> dict[str, str]:
    things = {
        name: api.post(path, json={"paper_id": paper_id, **more}).json["id"]
        for name, (path, more) in OWNED.items()
    }
    things["interest_id"] = api.get("/interests").json["items"][0]["id"]
    things["token_id"] = api.get("/me").json["token_id"]
    upload = api.post("/imports", data="# A list", content_type="text/plain")
    things["import_id"] = upload.json["id"]
    return things


def owned_operations(description: Description) -> list[tuple[Operation, str]]:
    return [
        (operation, found[1])
        for operation in description.operations()
        if (found := re.search(r"\{(\w+)\}", operation.path)) and found[1] != "paper_id"
    ]


def test_what_is_somebody_elses_answers_like_what_is_not_there(
    app: Flask, api: Api, bobs_api: Api, paper_id: str
):
    things = alices_things(api, paper_id)
    operations = owned_operations(api.description)
    assert {name for _, name in operations} == set(things)
    assert len(operations) == 18
    for operation, name in operations:
        theirs, absent = (asked(bobs_api, operation, name, id_) for id_ in (things[name], uuid4()))
        assert theirs[0] == 404, str(operation)
        assert theirs == absent, str(operation)


def test_lists_hold_nothing_of_anybody_else(api: Api, bobs_api: Api, paper_id: str):
    alices_things(api, paper_id)
    for path in ("/bookmarks", "/ratings", "/feedback", "/imports"):
        assert bobs_api.get(path).json == {"items": [], "next_cursor": None}, path
    (token,) = bobs_api.get("/tokens").json["items"]
    assert token["id"] == bobs_api.get("/me").json["token_id"]


def test_the_same_paper_is_kept_by_each_for_themselves(api: Api, bobs_api: Api, paper_id: str):
    made = [api.post("/bookmarks", json={"paper_id": paper_id, "note": "A", "tags": ["x"]})]
    made.append(bobs_api.post("/bookmarks", json={"paper_id": paper_id, "note": "B"}))
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json["id"] != made[1].json["id"]
    assert bobs_api.get("/bookmarks?tag=x").json["items"] == []


def asked(api: Api, operation: Operation, name: str, id_: object) -> tuple[int, object, bytes]:
    path = operation.path.replace(f"{{{name}}}", str(id_))
    options = {}
    if "requestBody" in operation.described:
        schema = operation.described["requestBody"]["content"]["application/json"]["schema"]
        options["json"] = BODIES[schema["$ref"].rpartition("/")[2]]
    headers = {"If-Match": '"1-1"', "X-Request-Id": "the-same-one"}
    answer = api.open(operation.method.upper(), path, headers=headers, **options)
    kept = sorted((k, v) for k, v in answer.headers.items() if k != "Content-Length")
    return answer.status_code, kept, answer.data.replace(str(id_).encode(), b"ID")
