"""The catalogue through HTTP."""

import pytest

from service.runtime import Runtime
from service.tables import Interaction
from tests.factories import Api, Person, count, make_papers


def test_a_new_paper_is_added_and_then_known(api: Api):
    new = {
        "title": "Attention Is All You Need",
        "authors": ["Ashish Vaswani"],
        "year": 2017,
        "arxiv_id": "arXiv:1706.03762v5",
        "url": "https://example.org/attention",
    }
    first = api.post("/papers", json=new)
    assert first.status_code == 201, first.json
    assert {"scheme": "arxiv", "value": "1706.03762"} in first.json["identifiers"]
    assert first.json["title_is_derived"] is False
    again = api.post("/papers", json={"title": "Other words", "arxiv_id": "1706.03762"})
    assert (again.status_code, again.json["id"]) == (200, first.json["id"])
    assert api.get(first.headers["Location"]).json == first.json


def test_a_paper_without_title_gets_a_derived_one(api: Api):
    abstract = "We present ShelfNet, a **fast** network that sorts $\\alpha$ papers by their topic."
    made = api.post("/papers", json={"abstract": abstract})
    assert made.status_code == 201
    assert made.json["title"] is None
    assert made.json["title_is_derived"] is True
    assert made.json["display_title"]
    assert made.json["abstract"] == abstract
    assert "**" not in made.json["abstract_text"]
    assert "<strong>fast</strong>" in made.json["abstract_html"]


def test_markup_in_an_abstract_is_never_live_in_its_html(api: Api):
    attack = "We show <script>alert(1)</script> and [a](javascript:alert(1)) <img src=x onerror=y>."
    html = api.post("/papers", json={"abstract": attack}).json["abstract_html"]
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "ftp://a.org/b", "x"])
@pytest.mark.parametrize("field", ["url", "pdf_url"])
def test_only_web_addresses_are_links(api: Api, field: str, link: str):
    answer = api.post("/papers", json={"title": "T", field: link})
    assert answer.status_code == 422
    assert answer.json["errors"][0]["pointer"] == f"/{field}"


def test_a_paper_needs_a_title_or_an_abstract(api: Api):
    answer = api.post("/papers", json={"year": 2020})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/title")


def test_a_wrong_identifier_is_named(api: Api):
    answer = api.post("/papers", json={"title": "T", "doi": "nonsense"})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/doi")


def test_papers_are_found_by_words_venue_year_and_list(api: Api, runtime: Runtime):
    make_papers(runtime, 3, venue="ICLR", year=2021)
    make_papers(runtime, 1, title="Gödel 100%", abstract="Rare words", venue="STOC", year=2022)
    for query, n in {
        "q=rare%20WORDS": 1,
        "q=100%25": 1,
        "q=_00": 0,
        "venue=iclr": 3,
        "year=2022": 1,
        "venue=iclr&year=2022": 0,
        "list_name=none": 0,
    }.items():
        assert len(api.get(f"/papers?{query}").json["items"]) == n, query


def test_opening_a_paper_is_remembered(api: Api, runtime: Runtime, alice: Person, paper_id: str):
    assert api.post(f"/papers/{paper_id}/opens").status_code == 204
    assert api.post(f"/papers/{paper_id}/opens", json={}).status_code == 204
    assert count(runtime, alice, Interaction) == 2


def test_opening_a_paper_from_a_list_again_changes_nothing(
    api: Api, runtime: Runtime, alice: Person, paper_id: str
):
    slate_id = api.get("/recommendations").json["slate_id"]
    for _ in range(2):
        answer = api.post(f"/papers/{paper_id}/opens", json={"slate_id": slate_id})
        assert answer.status_code == 204
    assert count(runtime, alice, Interaction) == 1


def test_a_slate_that_did_not_show_the_paper_is_refused(api: Api, paper_id: str):
    answer = api.post(f"/papers/{paper_id}/opens", json={"slate_id": paper_id})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/slate_id")


def test_related_papers_are_others_of_the_topic(api: Api, runtime: Runtime):
    papers = make_papers(runtime, 12)
    found = api.get(f"/papers/{papers[0].public_id}/related?limit=3").json["items"]
    assert len(found) == 3
    assert str(papers[0].public_id) not in {item["paper"]["id"] for item in found}
    scores = [item["score"] for item in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", ["venue=ökologie", "venue=ÖKOLOGIE", "q=ÉTUDE", "q=étude"])
def test_capitals_of_every_alphabet_are_alike(api: Api, runtime: Runtime, query: str):
    make_papers(runtime, 1, title="Étude", venue="Ökologie")
    assert len(api.get(f"/papers?{query}").json["items"]) == 1
