"""Recommendations through HTTP."""

from dataclasses import replace

import pytest

from service.app import create_app
from service.config import Settings
from service.runtime import Runtime
from service.tables import Impression, Slate
from tests.factories import Api, Person, count, make_papers
from tests.service.recommend.shelf import add_listing


def test_somebody_new_gets_papers_and_is_told_why(api: Api, runtime: Runtime):
    make_papers(runtime, 12)
    answer = api.get("/recommendations?limit=5")
    assert answer.status_code == 200, answer.json
    assert len(answer.json["items"]) == 5
    assert answer.json["strategy"] == "cold_start"
    assert answer.json["model"]["catalogue_as_of"].endswith("Z")


def test_a_saved_paper_counts_at_once_and_is_not_shown(api: Api, runtime: Runtime):
    papers = make_papers(runtime, 20)
    saved = str(papers[0].public_id)
    api.post("/bookmarks", json={"paper_id": saved})
    answer = api.get("/recommendations?limit=10").json
    assert answer["strategy"] == "personal"
    assert saved not in {item["paper"]["id"] for item in answer["items"]}
    first = answer["items"][0]
    assert [reason["paper_id"] for reason in first["because"]] == [saved]
    assert first["rank"] == 1


def test_without_explain_nothing_is_explained(api: Api, runtime: Runtime):
    papers = make_papers(runtime, 5)
    api.post("/bookmarks", json={"paper_id": str(papers[0].public_id)})
    items = api.get("/recommendations?explain=false").json["items"]
    assert items
    assert all(item["because"] == [] for item in items)


def test_a_slate_is_remembered_and_what_is_done_with_it(api: Api, runtime: Runtime, alice: Person):
    make_papers(runtime, 8)
    slate = api.get("/recommendations?limit=4").json
    assert (count(runtime, alice, Slate), count(runtime, alice, Impression)) == (1, 4)
    shown = slate["items"][0]["paper"]["id"]
    saved = api.post("/bookmarks", json={"paper_id": shown, "slate_id": slate["slate_id"]})
    assert saved.status_code == 201


def test_the_slate_of_another_person_is_no_slate(api: Api, bobs_api: Api, runtime: Runtime):
    make_papers(runtime, 4)
    slate = api.get("/recommendations").json
    new = {"paper_id": slate["items"][0]["paper"]["id"], "slate_id": slate["slate_id"]}
    assert bobs_api.post("/bookmarks", json=new).status_code == 422


def test_seeds_tag_and_filters_are_taken(api: Api, runtime: Runtime):
    papers = make_papers(runtime, 10, venue="ICML")
    make_papers(runtime, 1, venue="Proceedings, of trees", list_name="Papers, of late")
    one, two = (str(paper.public_id) for paper in papers[:2])
    api.post("/bookmarks", json={"paper_id": one, "tags": ["Mine"]})
    for query in (
        f"seeds={one},{two}",
        f"seeds={one}&seeds={two}",
        "tag=mine",
        "diversity=0&year_from=2021",
        "diversity=1",
        "exclude_tag=mine",
        "venue=ICML&venue=Proceedings, of trees",
        "year_to=2020&published_after=2019-06-30",
        f"exclude_papers={one}",
        "list_name=Papers, of late",
        "freshness=1",
        "exploration=0.5",
    ):
        answer = api.get(f"/recommendations?{query}")
        assert answer.status_code == 200, (query, answer.json)


def test_unknown_seeds_and_tags_are_named(api: Api, paper_id: str):
    for query, place in (
        ("seeds=00000000-0000-4000-8000-000000000000", "query:seeds"),
        ("seeds=x", "query:seeds/0"),
        ("tag=none", "query:tag"),
        (f"seeds={','.join([paper_id] * 51)}", "query:seeds"),
        ("exclude_tag=none", "query:exclude_tag"),
        ("exclude_papers=00000000-0000-4000-8000-000000000000", "query:exclude_papers"),
        ("venue=Nowhere", "query:venue"),
        ("venue=", "query:venue/0"),
        ("list_name=none", "query:list_name"),
        ("year_from=2021&year_to=2020", "query:year_to"),
        ("published_after=2026-02-30", "query:published_after"),
        ("published_after=2026", "query:published_after"),
        ("exploration=0.6", "query:exploration"),
        ("freshness=2", "query:freshness"),
        ("collection=mine", "query:collection"),
    ):
        answer = api.get(f"/recommendations?{query}")
        assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, place)


def test_the_shares_of_the_persons_papers_add_up_to_the_score(api: Api, runtime: Runtime):
    papers = make_papers(runtime, 30)
    for number, paper in enumerate(papers[:9]):
        api.post("/ratings", json={"paper_id": str(paper.public_id), "stars": 1 + number % 5})
    items = api.get("/recommendations?limit=20").json["items"]
    assert any(item["others"] < -1e-6 for item in items), "dislikes count against a paper"
    for item in items:
        shares = sum(reason["amount"] for reason in item["because"])
        assert shares + item["others"] == pytest.approx(item["score"], abs=1e-5)
        assert sum(item["parts"].values()) == pytest.approx(item["score"], abs=1e-5)


def test_an_empty_list_says_that_nothing_is_left(api: Api, paper_id: str):
    api.post("/bookmarks", json={"paper_id": paper_id})
    answer = api.get("/recommendations").json
    assert answer["items"] == []
    assert answer["explanation"].startswith("Nothing is left to recommend: you know every paper")


def test_a_venue_that_is_not_there_is_answered_with_one_that_is(api: Api, runtime: Runtime):
    make_papers(runtime, 1, venue="ICML 2026")
    answer = api.get("/recommendations?venue=ICML%202025")
    assert answer.json["errors"] == [
        {
            "pointer": "query:venue",
            "detail": "No paper has the venue ICML 2025. Did you mean ICML 2026?",
        }
    ]


def test_what_is_tried_out_is_marked(api: Api, runtime: Runtime):
    make_papers(runtime, 30)
    items = api.get("/recommendations?limit=10&exploration=0.2").json["items"]
    assert [item["explored"] for item in items] == [False] * 8 + [True] * 2
    assert [item["propensity"] for item in items] == pytest.approx([1.0] * 8 + [2 / 22] * 2)
    usual = api.get("/recommendations?limit=10").json["items"]
    assert {(item["propensity"], item["explored"]) for item in usual} == {(1.0, False)}


def test_the_setting_says_how_much_is_tried_out(
    settings: Settings, runtime: Runtime, alice: Person
):
    make_papers(runtime, 30)
    trying = replace(runtime, settings=replace(settings, exploration=0.5))
    api = Api(create_app(trying).test_client(), alice.headers)
    asked = {name: api.get(f"/recommendations{name}").json for name in ("", "?exploration=0")}
    drawn = {
        name: sum(item["explored"] for item in answer["items"]) for name, answer in asked.items()
    }
    assert drawn == {"": 5, "?exploration=0": 0}


def test_a_service_without_a_model_is_ready_and_says_what_it_lacks(api: Api, runtime: Runtime):
    make_papers(runtime, 3)
    ready = api.client.get("/health/ready")
    assert ready.status_code == 200
    assert ready.json["checks"]["model"].startswith("stale: No model has been trained yet")


def test_the_description_says_what_narrower_tastes_do_together(api: Api):
    (parameters,) = (
        operation["get"]["parameters"]
        for path, operation in api.client.get("/openapi.json").json["paths"].items()
        if path.endswith("/recommendations")
    )
    told = {one["name"] for one in parameters if "none wins" in one.get("description", "")}
    assert told == {"tag", "collection", "seeds", "interest"}


def test_the_words_of_a_list_add_up_as_those_of_the_explanation_do(api: Api, runtime: Runtime):
    groups = add_listing(runtime)
    api.post("/bookmarks", json={"paper_id": str(groups["tides"][0].public_id)})
    made = api.get("/recommendations?limit=3").json
    for item in made["items"]:
        path = f"/papers/{item['paper']['id']}/explanation?limit=5"
        explained = api.get(path).json
        for one, same in zip(item["terms"], explained["terms"], strict=True):
            assert one["term"] == same["term"]
            assert one["amount"] == pytest.approx(same["amount"], abs=1e-5)
        assert item["not_from_words"] == pytest.approx(explained["not_from_words"], abs=1e-5)
        told = sum(one["amount"] for one in item["terms"])
        told += item["other_terms"] + item["not_from_words"]
        assert told == pytest.approx(item["score"], abs=1e-5)
    assert made["items"][0]["terms"]
    (plain, *_) = api.get("/recommendations?limit=3&explain=false").json["items"]
    assert (plain["terms"], plain["other_terms"], plain["not_from_words"]) == ([], None, None)
