"""Why a paper is recommended, through HTTP."""

from uuid import uuid4

import pytest

from service.runtime import Runtime
from tests.factories import Api, make_paper, make_papers, make_person


def test_an_explanation_has_the_numbers_of_the_list(api: Api, runtime: Runtime):
    papers = [str(paper.public_id) for paper in make_papers(runtime, 20)]
    for number, paper_id in enumerate(papers[:6]):
        api.post("/ratings", json={"paper_id": paper_id, "stars": 1 + number % 5})
    items = api.get("/recommendations?diversity=0").json["items"]
    for item in items[:3]:
        answer = api.get(f"/papers/{item['paper']['id']}/explanation")
        assert answer.status_code == 200, answer.json
        found = answer.json
        assert (found["score"], found["rank"]) == (item["score"], item["rank"])
        assert (found["standing"], found["n_candidates"], found["n_papers"]) == ("candidate", 14, 6)
        assert {part["name"]: part["amount"] for part in found["parts"]} == item["parts"]
        assert found["paper"] == item["paper"]
        likes = [reason for reason in found["papers"] if reason["amount"] > 0][:3]
        for listed, full in zip(item["because"], likes, strict=True):
            same = ("paper_id", "display_title", "did", "stars", "terms", "readers")
            assert {name: listed[name] for name in same} == {name: full[name] for name in same}
            assert listed["amount"] == pytest.approx(full["amount"], abs=1e-5)


def test_a_reason_is_told_in_full(api: Api, runtime: Runtime):
    mine, *_, target = make_papers(runtime, 6)
    api.post("/bookmarks", json={"paper_id": str(mine.public_id), "status": "read"})
    api.post("/ratings", json={"paper_id": str(mine.public_id), "stars": 5})
    (reason,) = api.get(f"/papers/{target.public_id}/explanation").json["papers"]
    assert (reason["paper_id"], reason["did"]) == (
        str(mine.public_id),
        ["rated", "finished", "saved"],
    )
    assert (reason["stars"], reason["readers"]) == (5, None)
    one, two, three = reason["terms"]
    assert reason["text"].startswith(
        f"Because you rated “{mine.display_title}” 5 stars; both speak of {one}, {two} and "
        f"{three}. Without that paper it "
    )
    assert reason["rank_without"] in range(1, 6)


def test_a_paper_that_says_nothing_is_not_called_a_reason(api: Api, runtime: Runtime):
    mine, target = make_papers(runtime, 2, abstract=None)
    api.post("/bookmarks", json={"paper_id": str(mine.public_id)})
    (reason,) = api.get(f"/papers/{target.public_id}/explanation").json["papers"]
    assert reason["amount"] == 0
    assert reason["text"] == (
        f"That you saved “{mine.display_title}” adds nothing here. "
        "Without that paper it would still rank 1."
    )


def test_counterfactuals_and_length_are_bounded(api: Api, runtime: Runtime):
    papers = [str(paper.public_id) for paper in make_papers(runtime, 12)]
    for paper_id in papers[:8]:
        api.post("/bookmarks", json={"paper_id": paper_id})
    where = f"/papers/{papers[-1]}/explanation"
    for query, n_tried, n_shown in (
        ("", 5, 8),
        ("?counterfactuals=0", 0, 8),
        ("?counterfactuals=20", 8, 8),
        ("?counterfactuals=2&limit=2", 2, 2),
    ):
        shown = api.get(f"{where}{query}").json["papers"]
        tried = [reason for reason in shown if reason["rank_without"] is not None]
        assert (len(tried), len(shown)) == (n_tried, n_shown), query


def test_wrong_questions_are_refused_and_named(api: Api, paper_id: str):
    where = f"/papers/{paper_id}/explanation"
    for query, place in (
        (f"seeds={uuid4()}", "query:seeds"),
        ("tag=none", "query:tag"),
        ("counterfactuals=21", "query:counterfactuals"),
        ("limit=0", "query:limit"),
        ("venue=ICML", "query:venue"),
    ):
        answer = api.get(f"{where}?{query}")
        assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, place)
    assert api.get(f"/papers/{uuid4()}/explanation").status_code == 404


def test_of_other_people_an_explanation_says_a_number_at_most(
    api: Api, bobs_api: Api, runtime: Runtime
):
    mine, target, theirs = (make_paper(runtime) for _ in range(3))
    api.post("/bookmarks", json={"paper_id": str(mine.public_id)})
    where = f"/papers/{target.public_id}/explanation"
    alone = api.get(where).json
    crowd = [bobs_api, *(Api(api.client, make_person(runtime, name).headers) for name in "CD")]
    for number, other in enumerate(crowd, 1):
        for paper in (mine, target, theirs):
            new = {"paper_id": str(paper.public_id), "note": "a secret", "tags": ["Secret"]}
            assert other.post("/bookmarks", json=new).status_code == 201
        found = api.get(where).json
        (reason,) = found["papers"]
        assert reason["readers"] == (3 if number == 3 else None)
        if number < 3:
            assert {**found, "model": None} == {**alone, "model": None}, "as if nobody was there"
    whole = api.get(where).text
    assert not [name for name in ("secret", "Secret", "bob", "Bob", "example.org") if name in whole]
    assert str(theirs.public_id) not in whole
