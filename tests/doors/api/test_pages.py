"""Lists in pages."""

from itertools import chain
from urllib.parse import quote

import pytest

from service.runtime import Runtime
from tests.factories import Api, make_papers

KINDS = {"/bookmarks": {}, "/ratings": {"stars": 3}, "/feedback": {"kind": "seen"}}


def fill(api: Api, runtime: Runtime, kind: str, n: int) -> list[str]:
    """Newest first."""
    made = []
    for paper in make_papers(runtime, n):
        new = {"paper_id": str(paper.public_id), **KINDS[kind]}
        made.append(api.post(kind, json=new).json["id"])
    return made[::-1]


def walk(api: Api, path: str, limit: int) -> list[list[str]]:
    pages, link = [], f"/api/v1{path}{'&' if '?' in path else '?'}limit={limit}"
    while link:
        answer = api.get(link)
        assert answer.status_code == 200, answer.json
        pages.append([item["id"] for item in answer.json["items"]])
        header = answer.headers.get("Link", "")
        link = header.partition("<")[2].partition(">")[0]
        assert header == (f'<{link}>; rel="next"' if link else "")
        assert (
            (quote(answer.json["next_cursor"]) in link) if link else not answer.json["next_cursor"]
        )
    return pages


@pytest.mark.parametrize("kind", KINDS)
def test_the_pages_together_are_the_list(api: Api, runtime: Runtime, kind: str):
    wanted = fill(api, runtime, kind, 7)
    pages = walk(api, kind, 3)
    assert [len(page) for page in pages] == [3, 3, 1]
    assert list(chain.from_iterable(pages)) == wanted
    assert walk(api, kind, 7) == [wanted]


def test_papers_of_one_moment_are_each_shown_once(api: Api, runtime: Runtime):
    made = {str(paper.public_id) for paper in make_papers(runtime, 25)}
    pages = walk(api, "/papers?q=study", 10)
    assert [len(page) for page in pages] == [10, 10, 5]
    assert set(chain.from_iterable(pages)) == made


def test_what_is_added_meanwhile_moves_nothing(api: Api, runtime: Runtime):
    wanted = fill(api, runtime, "/bookmarks", 6)
    first = api.get("/bookmarks?limit=3").json
    fill(api, runtime, "/bookmarks", 4)
    rest = api.get(f"/bookmarks?limit=10&cursor={first['next_cursor']}").json
    assert [item["id"] for item in first["items"] + rest["items"]] == wanted


def test_a_cursor_fits_its_own_list_only(api: Api, bobs_api: Api, runtime: Runtime):
    fill(api, runtime, "/bookmarks", 3)
    cursor = api.get("/bookmarks?limit=1&status=to_read").json["next_cursor"]
    assert api.get(f"/bookmarks?limit=2&status=to_read&cursor={cursor}").status_code == 200
    flipped = ("A" if cursor[0] != "A" else "B") + cursor[1:]
    for asker, path in (
        (api, f"/bookmarks?cursor={cursor}"),
        (api, f"/bookmarks?status=read&cursor={cursor}"),
        (api, f"/ratings?cursor={cursor}"),
        (api, f"/papers?cursor={cursor}"),
        (bobs_api, f"/bookmarks?status=to_read&cursor={cursor}"),
        (api, f"/bookmarks?status=to_read&cursor={flipped}"),
        (api, f"/bookmarks?status=to_read&cursor={cursor[:-1]}"),
        (api, "/bookmarks?cursor=x"),
        (api, "/bookmarks?cursor="),
        (api, "/bookmarks?cursor=" + "x" * 1001),
    ):
        answer = asker.get(path)
        assert answer.status_code == 422, path
        assert answer.json["errors"][0]["pointer"] == "query:cursor"


@pytest.mark.parametrize(
    "limit", ["0", "101", "-1", "x", "", "1.5", "1e1", "%EF%BC%91", "1&limit=2"]
)
def test_a_limit_is_1_to_100(api: Api, limit: str):
    answer = api.get(f"/bookmarks?limit={limit}")
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "query:limit")
