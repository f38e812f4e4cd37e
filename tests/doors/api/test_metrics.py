"""Figures for those who watch the service."""

import re
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from service.accounts.records import Scope
from service.api.metrics import Gauge
from service.db import system_scope
from service.runtime import Runtime
from service.tables import Interaction
from tests.factories import NOW, Api, Person, make_papers, make_token
from tests.service.recommend.shelf import train

LINE = re.compile(r'papershelf_[a-z_]+(?:\{[a-z]+="[^"\n]*"\})? -?[0-9.e+-]+')


@pytest.fixture
def figures(client: FlaskClient, root: Person):
    """Reads the figures as Prometheus does, and holds them to its format."""

    def read() -> dict[str, float]:
        answer = client.get("/metrics", headers=root.headers)
        assert answer.status_code == 200
        assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
        lines = [line for line in answer.text.splitlines() if not line.startswith("# ")]
        assert all(LINE.fullmatch(line) for line in lines)
        pairs = (line.rsplit(" ", 1) for line in lines)
        return {name.removeprefix("papershelf_"): float(value) for name, value in pairs}

    return read


def test_before_the_first_training(figures, api: Api, runtime: Runtime):
    papers = make_papers(runtime, 3)
    api.post("/bookmarks", json={"paper_id": str(papers[0].public_id)})
    told = figures()
    assert (told["papers"], told["people"], told["bookmarks"]) == (3, 2, 1)
    assert (told["training_late"], told["model_catalogue_lag"]) == (0, 3)
    assert told['jobs{state="failed"}'] == 0
    assert "model_age_seconds" not in told


def test_after_a_training_and_when_the_next_is_late(figures, api: Api, runtime: Runtime):
    papers = make_papers(runtime, 3)
    made = train(runtime, now=NOW)
    api.post("/bookmarks", json={"paper_id": str(papers[0].public_id)})
    told = figures()
    assert told[f'model_info{{generation="{made.generation}"}}'] == 1
    age = (datetime.now(UTC) - NOW).total_seconds()
    assert told["model_age_seconds"] == pytest.approx(age, abs=60)
    assert 0 < told["training_seconds"] <= made.seconds + 0.001
    assert (told["training_late"], told["model_catalogue_lag"]) == (0, 0)
    with runtime.writing() as session, system_scope(session, "a test"):
        session.execute(sa.update(Interaction).values(at=NOW.replace(minute=5)))
        session.commit()
    assert figures()["training_late"] == 1


def test_only_an_administrators_token_reads_them(
    client: FlaskClient, runtime: Runtime, root: Person
):
    assert client.get("/metrics").status_code == 401
    token = make_token(runtime, root, sorted(set(Scope) - {Scope.ADMIN}))
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json["type"]) == (403, "/problems/not-allowed")
    token = make_token(runtime, root, [Scope.ADMIN])
    headers = {"Authorization": f"Bearer {token}"}
    assert client.get("/metrics", headers=headers).status_code == 200


def test_a_parameter_is_refused(client: FlaskClient, root: Person):
    answer = client.get("/metrics?name=papers", headers=root.headers)
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, "query:name")


def test_a_label_is_quoted():
    assert list(Gauge("a", "An a.", {'x"\\\n': 1}, "of").lines())[2] == (
        'papershelf_a{of="x\\"\\\\\\n"} 1'
    )
