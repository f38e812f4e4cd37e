"""Ratings and feedback through HTTP."""

from datetime import datetime

import pytest

from tests.factories import Api


def test_the_last_stars_count(api: Api, paper_id: str):
    first = api.post("/ratings", json={"paper_id": paper_id, "stars": 2})
    again = api.post("/ratings", json={"paper_id": paper_id, "stars": 5})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json["id"] == first.json["id"]
    assert [row["stars"] for row in api.get("/ratings").json["items"]] == [5]


def test_a_rating_is_changed_and_taken_back(api: Api, paper_id: str):
    made = api.post("/ratings", json={"paper_id": paper_id, "stars": 2})
    where = made.headers["Location"]
    changed = api.patch(where, json={"stars": 4}, headers={"If-Match": made.headers["ETag"]})
    assert (changed.status_code, changed.json["stars"]) == (200, 4)
    assert api.get(where).json == changed.json
    assert api.delete(where, headers={"If-Match": changed.headers["ETag"]}).status_code == 204
    assert api.get("/ratings").json["items"] == []


@pytest.mark.parametrize("kind", ["seen", "not_my_topic", "low_quality", "more_like_this"])
def test_feedback_is_given_and_undone(api: Api, paper_id: str, kind: str):
    made = api.post("/feedback?effect=false", json={"paper_id": paper_id, "kind": kind})
    said = {name: value for name, value in made.json.items() if name != "effect"}
    assert (made.status_code, said["kind"], said["until"]) == (201, kind, None)
    assert api.get(made.headers["Location"]).json == said
    assert api.get("/feedback").json["items"] == [said]
    undone = api.delete(made.headers["Location"], headers={"If-Match": made.headers["ETag"]})
    assert (undone.status_code, undone.json["effect"]["changed_of_top_50"]) == (200, 1)
    assert api.get(made.headers["Location"]).status_code == 404


def test_a_changed_mind_takes_the_place_of_what_was_said(api: Api, paper_id: str):
    made = api.post("/feedback", json={"paper_id": paper_id, "kind": "later", "snooze_days": 7})
    where, old = made.headers["Location"], {"If-Match": made.headers["ETag"]}
    changed = api.patch(where, json={"kind": "more_like_this"}, headers=old)
    assert (changed.status_code, changed.json["kind"]) == (200, "more_like_this")
    assert (changed.json["until"], changed.json["version"]) == (None, 2)
    assert api.delete(where, headers=old).status_code == 412
    wrong = api.patch(where, json={"kind": "later"}, headers={"If-Match": "*"})
    assert wrong.json["errors"][0]["pointer"] == "/snooze_days"


def test_later_ends_after_its_days(api: Api, paper_id: str):
    made = api.post("/feedback", json={"paper_id": paper_id, "kind": "later", "snooze_days": 7})
    said, until = (datetime.fromisoformat(made.json[name]) for name in ("given_at", "until"))
    assert (until - said).days == 7


@pytest.mark.parametrize(
    "wrong", [{"kind": "later"}, {"kind": "seen", "snooze_days": 3}], ids=["missing", "too much"]
)
def test_snooze_days_go_with_later_only(api: Api, paper_id: str, wrong: dict[str, object]):
    answer = api.post("/feedback", json={"paper_id": paper_id, **wrong})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == "/snooze_days"


def test_the_last_word_on_a_paper_counts(api: Api, paper_id: str):
    api.post("/feedback", json={"paper_id": paper_id, "kind": "later", "snooze_days": 7})
    again = api.post("/feedback", json={"paper_id": paper_id, "kind": "seen"})
    assert again.status_code == 200
    assert [row["kind"] for row in api.get("/feedback").json["items"]] == ["seen"]
    assert again.json["until"] is None
