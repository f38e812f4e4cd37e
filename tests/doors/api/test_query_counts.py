"""A list asks as many questions for 50 rows as for 2."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event

from service.db import scope
from service.library.actions import save_bookmark, save_rating
from service.library.feedback import give_feedback
from service.library.records import NewBookmark, NewFeedback, NewRating
from service.runtime import Runtime
from service.tables import FeedbackKind
from tests.doors.api.test_imports import LISTING, carry_out
from tests.factories import NOW, Api, Person, make_papers


@contextmanager
def counted(runtime: Runtime) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(runtime.sessions.engine, "before_cursor_execute", note)
    yield statements
    event.remove(runtime.sessions.engine, "before_cursor_execute", note)


@pytest.mark.parametrize(
    "path", ["/papers", "/bookmarks", "/ratings", "/feedback", "/recommendations"]
)
def test_a_longer_list_asks_no_more_questions(api: Api, runtime: Runtime, alice: Person, path: str):
    papers = [paper.public_id for paper in make_papers(runtime, 50)]
    with scope(runtime.writing(), alice.id) as session:
        for paper_id in papers:
            new = {"paper_id": paper_id}
            save_bookmark(session, alice.id, NewBookmark(**new, tags=("a", "b")), now=NOW)
            save_rating(session, alice.id, NewRating(**new, stars=4), now=NOW)
            give_feedback(session, alice.id, NewFeedback(**new, kind=FeedbackKind.SEEN), now=NOW)
        session.commit()
    make_papers(runtime, 60)
    api.get(f"{path}?limit=2")
    seen = []
    for limit in (2, 50):
        with counted(runtime) as statements:
            answer = api.get(f"{path}?limit={limit}")
        assert len(answer.json["items"]) == limit
        # On SQLite each impression is a statement of its own; the reading is what counts here.
        seen.append(len([one for one in statements if not one.startswith("INSERT")]))
    assert seen[0] == seen[1]


def test_the_rows_of_an_import_ask_no_more_questions(api: Api, runtime: Runtime):
    where = api.post("/imports", data=LISTING, content_type="text/plain").headers["Location"]
    carry_out(runtime)
    seen = []
    for limit in (1, 2):
        with counted(runtime) as statements:
            assert len(api.get(f"{where}/rows?limit={limit}").json["items"]) == limit
        seen.append(len(statements))
    assert seen[0] == seen[1]


def test_an_explanation_asks_no_more_questions_for_more_papers(api: Api, runtime: Runtime):
    papers = [str(paper.public_id) for paper in make_papers(runtime, 30)]
    api.get("/recommendations")
    seen = []
    for n in (2, 20):
        for paper_id in papers[:n]:
            api.post("/bookmarks", json={"paper_id": paper_id})
        with counted(runtime) as statements:
            answer = api.get(f"/papers/{papers[-1]}/explanation")
        assert len(answer.json["papers"]) == n
        seen.append(len(statements))
    assert seen[0] == seen[1]
