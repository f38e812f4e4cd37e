"""Interests through HTTP."""

import pytest

from service.catalogue.actions import add_paper
from service.catalogue.records import NewPaper
from service.db import scope
from service.library.actions import save_bookmark
from service.library.records import NewBookmark
from service.runtime import Runtime
from service.tables import PaperSource
from tests.doors.api.test_query_counts import counted
from tests.factories import NOW, Api, Person, make_paper
from tests.models.topics import TOPICS, documents


@pytest.fixture
def saved(runtime: Runtime, alice: Person) -> None:
    """Alice has saved twelve papers about tides and eight about parsing."""
    texts, _ = documents(each=14)
    with scope(runtime.writing(), alice.id) as session:
        for place, text in enumerate(texts):
            new = NewPaper(source=PaperSource.PERSON, abstract=text)
            paper, _ = add_paper(session, new, now=NOW)
            if place < 12 or 14 <= place < 22:
                save_bookmark(session, alice.id, NewBookmark(paper_id=paper.public_id), now=NOW)
        session.commit()


@pytest.fixture
def listed(api: Api, saved: None) -> dict[str, dict]:
    """Her interests by topic."""
    items = api.get("/interests").json["items"]
    return {next(t for t in TOPICS if one["terms"][0] in TOPICS[t].split()): one for one in items}


def path_of(interest: dict) -> str:
    return f"/interests/{interest['id']}"


def test_interests_are_listed_shown_and_paged(api: Api, listed: dict[str, dict]):
    assert {topic: one["n_papers"] for topic, one in listed.items()} == {"tides": 12, "parsing": 8}
    shown = api.get(path_of(listed["tides"]))
    assert shown.json == listed["tides"]
    same = api.get(path_of(listed["tides"]), headers={"If-None-Match": shown.headers["ETag"]})
    assert same.status_code == 304
    seen, path = [], f"{path_of(listed['tides'])}/papers?limit=5"
    while path:
        page = api.get(path).json
        seen += [row["position"] for row in page["items"]]
        cursor = page["next_cursor"]
        path = cursor and f"{path_of(listed['tides'])}/papers?limit=5&cursor={cursor}"
    assert seen == list(range(1, 13))


@pytest.mark.usefixtures("saved")
def test_a_list_finds_the_interests_once_and_remembers_new_ones(api: Api, runtime: Runtime):
    def named(items: list[dict]) -> set[str]:
        return {item["interest"]["id"] for item in items if item["interest"]}

    first = named(api.get("/recommendations?limit=5").json["items"])
    with counted(runtime) as statements:
        again = named(api.get("/recommendations?limit=5").json["items"])
    assert len([one for one in statements if "FROM interest \n" in one]) == 1
    assert first == again == {one["id"] for one in api.get("/interests").json["items"]}
    assert len(first) == 2


def test_a_change_needs_the_version_that_was_read(api: Api, listed: dict[str, dict]):
    path = path_of(listed["tides"])
    tag = api.get(path).headers["ETag"]
    assert api.patch(path, json={"muted": True}).status_code == 428
    changed = api.patch(path, json={"name": "Seas", "weight": 2}, headers={"If-Match": tag})
    assert (changed.status_code, changed.json["name"], changed.json["weight"]) == (200, "Seas", 2)
    assert changed.headers["ETag"] != tag
    assert api.patch(path, json={"muted": True}, headers={"If-Match": tag}).status_code == 412
    reset = api.patch(path, json={"name": None, "weight": None}, headers={"If-Match": "*"}).json
    assert (reset["name"], reset["weight"]) == (reset["derived_name"], 1)


def test_a_new_paper_changes_the_etag_but_not_the_version(
    api: Api, listed: dict[str, dict], runtime: Runtime
):
    path = path_of(listed["tides"])
    tag = api.get(path).headers["ETag"]
    text = f"{TOPICS['tides']} model"
    paper = make_paper(runtime, title=None, abstract=text, identifiers=())
    api.post("/bookmarks", json={"paper_id": str(paper.public_id)})
    assert api.post(f"/papers/{paper.public_id}/opens").status_code < 300
    assert api.get(path, headers={"If-None-Match": tag}).status_code == 200
    assert api.get(path).json["version"] == listed["tides"]["version"]
    assert api.patch(path, json={"muted": True}, headers={"If-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"weight": 5}, "/weight"),
        ({"weight": "NaN"}, "/weight"),
        ({"weight": "2"}, "/weight"),
        ({"weight": True}, "/weight"),
        ({"weight": [2]}, "/weight"),
        ({"muted": 1}, "/muted"),
        ({"muted": "true"}, "/muted"),
        ({"muted": "yes"}, "/muted"),
        ({"name": ""}, "/name"),
        ({"name": "x" * 101}, "/name"),
        ({}, ""),
    ],
    ids=str,
)
def test_what_can_not_be_set_is_named(api: Api, listed: dict[str, dict], change: dict, place: str):
    answer = api.patch(path_of(listed["tides"]), json=change, headers={"If-Match": "*"})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, place)


def test_two_interests_have_two_names(api: Api, listed: dict[str, dict]):
    any_version = {"If-Match": "*"}
    tides, parsing = (path_of(listed[topic]) for topic in ("tides", "parsing"))
    assert api.patch(tides, json={"name": "Mine"}, headers=any_version).status_code == 200
    assert api.patch(tides, json={"name": "mine"}, headers=any_version).status_code == 200
    answer = api.patch(parsing, json={"name": "MINE"}, headers=any_version)
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/name")


def test_who_mutes_everything_is_told_so(api: Api, listed: dict[str, dict]):
    for one in listed.values():
        api.patch(path_of(one), json={"muted": True}, headers={"If-Match": "*"})
    made = api.get("/recommendations?limit=5").json
    assert made["strategy"] == "cold_start"
    assert "muted" in made["explanation"]
    assert "-0.0" not in [str(part) for item in made["items"] for part in item["parts"].values()]


def test_a_list_that_is_steered_names_no_interests(api: Api, listed: dict[str, dict]):
    plain = api.get("/recommendations?limit=5").json["items"]
    assert any(item["interest"] for item in plain)
    steered = api.get(f"/recommendations?limit=5&interest={listed['tides']['id']}").json["items"]
    assert [item["interest"] for item in steered] == [None] * 5


def test_a_muted_interest_is_gone_from_the_next_list(api: Api, listed: dict[str, dict]):
    muted = listed["parsing"]["id"]

    def interests() -> set[str]:
        items = api.get("/recommendations?limit=20").json["items"]
        return {item["interest"]["id"] for item in items if item["interest"]}

    assert muted in interests()
    api.patch(path_of(listed["parsing"]), json={"muted": True}, headers={"If-Match": "*"})
    assert interests() == {listed["tides"]["id"]}
    asked = api.get(f"/recommendations?limit=5&interest={muted}").json
    assert len(asked["items"]) == 5
    assert asked["explanation"].startswith("Chosen by your papers of this interest")


def test_a_merge_and_its_undoing(api: Api, listed: dict[str, dict]):
    tides, parsing = listed["tides"], listed["parsing"]
    merge = f"{path_of(parsing)}/merge"
    both = api.post(merge, json={"into": tides["id"]})
    assert (both.status_code, both.json["id"], both.json["n_papers"]) == (200, tides["id"], 20)
    assert [one["id"] for one in both.json["merged"]] == [parsing["id"]]
    assert len(api.get("/interests").json["items"]) == 1
    part = api.get(path_of(parsing))
    assert part.json["merged_into"] == tides["id"]
    muting = api.patch(path_of(parsing), json={"muted": True}, headers={"If-Match": "*"})
    assert muting.status_code == 409
    assert api.delete(merge).status_code == 428
    assert api.delete(merge, headers={"If-Match": part.headers["ETag"]}).status_code == 204
    assert api.delete(merge, headers={"If-Match": "*"}).status_code == 404
    assert len(api.get("/interests").json["items"]) == 2


def test_what_an_interest_can_not_be_merged_into_is_named(api: Api, listed: dict[str, dict]):
    path = f"{path_of(listed['tides'])}/merge"
    for into in (listed["tides"]["id"], "00000000-0000-4000-8000-000000000000"):
        answer = api.post(path, json={"into": into})
        assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/into")


def test_the_interests_of_others_are_not_there(api: Api, bobs_api: Api, listed: dict[str, dict]):
    assert bobs_api.get("/interests").json["items"] == []
    asked = bobs_api.get(f"/recommendations?interest={listed['tides']['id']}")
    assert (asked.status_code, asked.json["errors"][0]["pointer"]) == (422, "query:interest")


def test_an_empty_library_has_no_interests(api: Api, paper_id: str):
    listed = api.get("/interests").json
    assert listed["items"] == []
    assert listed["model"]["catalogue_as_of"]
    api.post("/bookmarks", json={"paper_id": paper_id})
    (one,) = api.get("/interests").json["items"]
    assert (one["n_papers"], one["share"]) == (1, 1)
