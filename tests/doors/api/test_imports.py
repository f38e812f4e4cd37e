"""Imports through HTTP."""

import io
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from service.app import create_app
from service.db import system_scope
from service.importers.run import run_import
from service.runtime import Runtime
from service.tables import Import, Job
from tests.factories import Api, Person

LISTING = """# ICLR 2026

We study how networks sort papers on a shelf, and show that a simple model with a good index does
as well as a large one on four public collections.

We present a benchmark for reading lists with ten thousand people and their bookmarks, and find
that most recommenders do not beat popularity on it.

Too short.
"""


def carry_out(runtime: Runtime) -> None:
    """What a worker would do: all imports that wait."""
    with runtime.reading() as session, system_scope(session, "a test plays the worker"):
        waiting = session.execute(select(Import.id, Import.user_id)).all()
    for import_id, user_id in waiting:
        run_import(runtime.writing, import_id, user_id, now=datetime.now(UTC))


@pytest.mark.parametrize("form", ["multipart", "text"])
def test_a_file_is_taken_and_its_entries_are_reported(api: Api, runtime: Runtime, form: str):
    if form == "multipart":
        sent = {"data": {"file": (io.BytesIO(LISTING.encode()), "../lists/iclr.txt")}}
    else:
        sent = {"data": LISTING, "content_type": "text/plain", "query_string": "file_name=iclr.txt"}
    taken = api.post("/imports", **sent)
    assert taken.status_code == 202, taken.json
    assert (taken.json["state"], taken.json["file_name"]) == ("queued", "iclr.txt")
    carry_out(runtime)
    done = api.get(taken.headers["Location"]).json
    assert (done["state"], done["n_created"], done["finished_at"] is None) == ("done", 2, False)
    rows = api.get(f"{taken.headers['Location']}/rows?limit=2").json
    assert [row["outcome"] for row in rows["items"]] == ["created", "created"]
    assert rows["items"][0]["display_title"]
    if rows["next_cursor"]:
        rest = api.get(f"{taken.headers['Location']}/rows?cursor={rows['next_cursor']}&limit=2")
        assert rest.json["items"][0]["position"] == 3
    assert [row["id"] for row in api.get("/imports").json["items"]] == [done["id"]]


def test_an_import_leaves_a_job(api: Api, runtime: Runtime):
    api.post("/imports", data=LISTING, content_type="text/plain")
    with runtime.reading() as session:
        assert len(session.scalars(select(Job.id)).all()) == 1


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"data": "", "content_type": "text/plain"}, 422),
        ({"data": "{}", "content_type": "application/json"}, 415),
        (
            {
                "data": LISTING,
                "content_type": "text/plain",
                "headers": {"Content-Encoding": "gzip"},
            },
            415,
        ),
        ({"data": {"file": "no file"}, "content_type": "multipart/form-data"}, 422),
        ({}, 415),
    ],
)
def test_what_is_no_upload_is_refused(api: Api, options: dict[str, object], status: int):
    assert api.post("/imports", **options).status_code == status


def test_a_file_in_another_field_is_refused_by_name(api: Api):
    answer = api.post("/imports", data={"other": (io.BytesIO(b"x"), "x")})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/other")


def test_two_files_at_once_are_refused(api: Api):
    files = [(io.BytesIO(b"a"), "a"), (io.BytesIO(b"b"), "b")]
    answer = api.post("/imports", data={"file": files})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "/file")


class Worker:
    """Carries an import out in a thread as soon as it is told of it."""

    def __init__(self) -> None:
        self.runtime: Runtime | None = None
        self.threads: list[threading.Thread] = []

    def tell(self, _job_id: int) -> None:
        thread = threading.Thread(target=carry_out, args=(self.runtime,))
        self.threads.append(thread)
        thread.start()


@pytest.fixture
def worked_api(runtime: Runtime, alice: Person) -> Iterator[Api]:
    worker = Worker()
    worker.runtime = replace(runtime, tell=worker.tell)
    app = create_app(worker.runtime)
    app.testing = True
    worker.runtime = runtime
    yield Api(app.test_client(), alice.headers)
    for thread in worker.threads:
        thread.join()


def test_prefer_wait_holds_the_answer_until_it_is_done(worked_api: Api):
    taken = worked_api.post(
        "/imports", data=LISTING, content_type="text/plain", headers={"Prefer": "wait=20"}
    )
    assert taken.status_code == 202
    assert taken.json["state"] == "done"
    assert taken.headers["Preference-Applied"] == "wait=20"
    again = worked_api.get(taken.headers["Location"], headers={"Prefer": "respond-async, wait=5"})
    assert again.json["state"] == "done"


def test_who_waits_too_short_gets_it_as_it_is(api: Api):
    taken = api.post(
        "/imports", data=LISTING, content_type="text/plain", headers={"Prefer": "wait=1"}
    )
    assert (taken.status_code, taken.json["state"]) == (202, "queued")
    for nonsense in ("wait=x", "wait", "wait=-1", "wait=0", ";;wait==3"):
        headers = {"Prefer": nonsense}
        assert api.get(taken.headers["Location"], headers=headers).status_code == 200


def upload(api: Api, content: bytes) -> Any:
    """A multipart body in one piece: the test client would spool it to a file and forget it."""
    head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="large.txt"\r\n\r\n'
    return api.post(
        "/imports",
        data=head + content + b"\r\n--edge--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=edge"},
    )


@pytest.mark.parametrize("megabytes", [0.3, 1.5, 31])
def test_a_large_file_is_taken_whatever_its_lines(api: Api, megabytes: float):
    line = b"A line of a listing that goes on\n"
    assert upload(api, line * int(megabytes * 2**20 / len(line))).status_code == 202


def test_a_file_over_the_limit_is_refused_and_told_the_limit(api: Api):
    refused = upload(api, b"x\n" * 17 * 2**20)
    assert refused.status_code == 413
    assert "32 MiB" in refused.json["detail"]


BIB = """@string{acme = {Acme Press}}
@article{good, title = {Folding Shelves}, year = 2024, keywords = {home decor}}
@book{nameless, publisher = acme}
"""


def brought(api: Api, runtime: Runtime, text: str | bytes, query: str = "") -> Any:
    taken = api.post("/imports", data=text, content_type="text/plain", query_string=query)
    assert taken.status_code == 202, taken.json
    carry_out(runtime)
    return api.get(taken.headers["Location"]).json


def test_a_reference_managers_file_goes_to_the_library(api: Api, runtime: Runtime):
    done = brought(api, runtime, BIB)
    assert (done["format"], done["encoding"], done["saves"]) == ("bibtex", "utf-8", True)
    told = ("percent", "n_entries", "n_done", "n_saved", "n_created", "n_skipped")
    assert [done[name] for name in told] == [100, 2, 2, 1, 1, 1]
    (kept,) = api.get("/bookmarks").json["items"]
    assert (kept["paper"]["title"], kept["tags"]) == ("Folding Shelves", ["home decor"])
    assert (kept["paper"]["published"], kept["paper"]["kind"]) == ("2024", "article-journal")
    rows = api.get(f"/imports/{done['id']}/rows").json["items"]
    assert [(row["line"], row["is_saved"]) for row in rows] == [(2, True), (3, False)]


def test_who_does_not_want_them_in_the_library_says_so(api: Api, runtime: Runtime):
    done = brought(api, runtime, BIB, "saves=false")
    assert (done["saves"], done["n_created"], done["n_saved"]) == (False, 1, 0)
    assert api.get("/bookmarks").json["items"] == []


def test_what_was_rejected_is_a_file_to_mend_and_send_again(api: Api, runtime: Runtime):
    done = brought(api, runtime, BIB, "file_name=mine.bib")
    answer = api.get(f"/imports/{done['id']}/rejected")
    assert (answer.status_code, answer.mimetype) == (200, "text/plain")
    assert "rejected-mine.bib" in answer.headers["Content-Disposition"]
    mended = answer.text.replace("{nameless,", "{nameless, title = {A Name},")
    again = brought(api, runtime, mended)
    assert (again["n_created"], again["n_skipped"]) == (1, 0)
    none = api.get(f"/imports/{again['id']}/rejected")
    assert (none.status_code, none.json["detail"]) == (404, "Nothing of this file was rejected.")


def test_format_and_encoding_can_be_forced(api: Api, runtime: Runtime):
    done = brought(
        api, runtime, BIB.replace("Shelves", "Möbel").encode("cp1252"), "encoding=cp1252"
    )
    assert done["encoding"] == "cp1252"
    assert api.get("/bookmarks").json["items"][0]["paper"]["title"] == "Folding Möbel"
    refused = brought(api, runtime, LISTING, "format=bibtex")
    assert (refused["state"], refused["format"]) == ("failed", "bibtex")
    assert "read as a BibTeX file" in refused["error"]


@pytest.mark.parametrize("name", ["format", "encoding", "saves"])
def test_a_word_that_means_nothing_is_refused_by_its_field(api: Api, name: str):
    answer = api.post(
        "/imports", data=BIB, content_type="text/plain", query_string=f"{name}=nonsense"
    )
    assert answer.status_code == 422
    assert name in str(answer.json["errors"][0])
