"""Installations at the edge of what there can be, through HTTP, trained and not."""

from datetime import UTC, datetime

import pytest

from service.runtime import Runtime
from tests.factories import Api, make_papers
from tests.service.recommend.shelf import train


@pytest.fixture(params=["untrained", "trained"])
def settle(request: pytest.FixtureRequest, runtime: Runtime):
    """Lets the recommender learn what there is, in one of the two cases."""
    return lambda: request.param == "trained" and train(runtime, now=datetime.now(UTC))


def test_no_papers(api: Api, settle):
    settle()
    answer = api.get("/recommendations").json
    assert (answer["items"], answer["strategy"]) == ([], "cold_start")
    assert answer["explanation"].startswith("Nothing is left to recommend")
    assert answer["model"]["catalogue_as_of"]


def test_one_person_and_one_paper(api: Api, paper_id: str, settle):
    settle()
    assert [item["paper"]["id"] for item in api.get("/recommendations").json["items"]] == [paper_id]
    assert api.get(f"/papers/{paper_id}/related").json["items"] == []
    api.post("/bookmarks", json={"paper_id": paper_id})
    settle()
    assert api.get("/recommendations").json["items"] == []


def test_who_saved_everything_gets_nothing_until_something_comes(
    api: Api, runtime: Runtime, settle
):
    for paper in make_papers(runtime, 6):
        api.post("/bookmarks", json={"paper_id": str(paper.public_id)})
    settle()
    assert api.get("/recommendations?limit=100").json["items"] == []
    said = api.post("/ratings?effect=true", json={"paper_id": str(paper.public_id), "stars": 1})
    assert said.json["effect"] == {
        "changed_of_top_50": 0,
        "text": "There is nothing to recommend.",
        "entered": [],
        "left": [],
    }
    (new,) = make_papers(runtime, 1)
    (only,) = api.get("/recommendations?limit=100").json["items"]
    assert (only["paper"]["id"], abs(only["score"]) < 100) == (str(new.public_id), True)


def test_a_paper_is_recommendable_the_moment_it_is_there(api: Api, runtime: Runtime, settle):
    papers = make_papers(runtime, 20)
    settle()
    api.post("/bookmarks", json={"paper_id": str(papers[0].public_id)})
    before = api.get("/recommendations").json
    new = api.post(
        "/papers", json={"title": "A sequel", "abstract": f"{papers[0].abstract} A sequel to it."}
    ).json
    after = api.get("/recommendations").json
    assert new["id"] in {item["paper"]["id"] for item in after["items"][:4]}, "its topic has four"
    assert after["model"]["generation"] == before["model"]["generation"]
    assert after["model"]["model_trained_at"] == before["model"]["model_trained_at"]
    assert after["model"]["catalogue_as_of"] > before["model"]["catalogue_as_of"]
    near = api.get(f"/papers/{papers[0].public_id}/related").json
    assert new["id"] in {item["paper"]["id"] for item in near["items"][:4]}
    assert near["model"] == after["model"]


def test_a_list_says_that_it_is_stale_and_why(api: Api, paper_id: str):
    model = api.get("/recommendations").json["model"]
    assert (model["model_trained_at"], model["stale"]) == (None, True)
    assert model["stale_because"].startswith("No model has been trained yet")
