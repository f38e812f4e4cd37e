"""What the answer to a change says of the recommendations."""

import pytest
from sqlalchemy.exc import OperationalError

from service.api import effects
from service.runtime import Runtime
from tests.factories import Api, make_papers


@pytest.fixture
def papers(runtime: Runtime) -> list[str]:
    return [str(paper.public_id) for paper in make_papers(runtime, 70)]


def top(api: Api) -> list[str]:
    items = api.get("/recommendations?limit=50&diversity=0&explain=false").json["items"]
    return [item["paper"]["id"] for item in items]


def test_the_effect_is_what_the_lists_show(api: Api, papers: list[str]):
    api.post("/bookmarks", json={"paper_id": papers[0]})
    before = top(api)
    said = api.post("/feedback", json={"paper_id": before[-1], "kind": "more_like_this"})
    after = top(api)
    entered = [paper for paper in after if paper not in before]
    left = [paper for paper in before if paper not in after]
    effect = said.json["effect"]
    assert effect["changed_of_top_50"] == len(entered) == len(left) > 1
    assert effect["text"] == f"{len(entered)} of your top 50 changed."
    assert [paper["paper_id"] for paper in effect["entered"]] == entered[:5]
    assert [paper["paper_id"] for paper in effect["left"]] == left[:5]
    shown = api.get(f"/papers/{entered[0]}").json["display_title"]
    assert effect["entered"][0]["display_title"] == shown


def test_taking_it_back_tells_its_effect_too(api: Api, papers: list[str]):
    api.post("/bookmarks", json={"paper_id": papers[0]})
    before = set(top(api))
    body = {"paper_id": top(api)[-1], "kind": "more_like_this"}
    made = api.post("/feedback", json=body)
    undone = api.delete(made.headers["Location"], headers={"If-Match": made.headers["ETag"]})
    told, untold = made.json["effect"], undone.json["effect"]
    assert untold == {**told, "entered": untold["entered"], "left": untold["left"]}
    assert {paper["paper_id"] for paper in untold["entered"]} <= before
    assert set(top(api)) == before


def test_a_repeated_request_gets_the_same_effect(api: Api, papers: list[str]):
    body = {"json": {"paper_id": papers[3], "kind": "more_like_this"}}
    first = api.post("/feedback", headers={"Idempotency-Key": "once"}, **body)
    again = api.post("/feedback", headers={"Idempotency-Key": "once"}, **body)
    assert first.json["effect"]["changed_of_top_50"] > 0
    assert (again.json, again.headers["Idempotency-Replayed"]) == (first.json, "true")


def test_saving_and_rating_tell_it_if_asked(api: Api, papers: list[str]):
    for where, body in (("/bookmarks", {}), ("/ratings", {"stars": 5})):
        silent = api.post(where, json={"paper_id": papers[4], **body})
        assert "effect" not in silent.json
        told = api.post(f"{where}?effect=true", json={"paper_id": papers[5], **body})
        assert "changed" in told.json["effect"]["text"]


def test_nobody_has_to_know(api: Api, papers: list[str]):
    made = api.post("/feedback?effect=false", json={"paper_id": papers[0], "kind": "seen"})
    assert made.json["effect"] is None


def test_the_write_is_over_before_the_ranking_begins(
    api: Api, papers: list[str], runtime: Runtime, monkeypatch: pytest.MonkeyPatch
):
    def rank(*args: object, **options: object) -> object:
        with runtime.writing() as session:  # would wait for the lock, and in vain
            session.connection()
        return real(*args, **options)

    real = effects.effect_since
    monkeypatch.setattr(effects, "effect_since", rank)
    made = api.post("/feedback", json={"paper_id": top(api)[0], "kind": "seen"})
    assert made.json["effect"]["changed_of_top_50"] == 1


@pytest.mark.parametrize("trouble", [OperationalError("", {}, Exception()), MemoryError()])
def test_a_failed_look_does_not_undo_what_was_kept(
    api: Api, papers: list[str], monkeypatch: pytest.MonkeyPatch, trouble: Exception
):
    def fail(*_: object, **__: object) -> None:
        raise trouble

    monkeypatch.setattr(effects, "effect_since", fail)
    made = api.post("/feedback", json={"paper_id": papers[0], "kind": "seen"})
    assert (made.status_code, made.json["effect"]) == (201, None)
    assert len(api.get("/feedback").json["items"]) == 1
