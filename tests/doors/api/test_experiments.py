"""An experiment through HTTP: from the first shared slate to the winner."""

from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from service.recommend.experiments import find_experiment
from service.recommend.use_report import experiment_report
from service.runtime import Runtime
from service.tables import Arm, Decision
from tests.factories import Api, make_person
from tests.service.recommend.rivals import Groups, start_rivals
from tests.service.recommend.shelf import add_listing


@pytest.fixture
def groups(runtime: Runtime) -> Groups:
    return add_listing(runtime)


def test_people_who_save_what_the_challenger_proposes_let_it_win(
    client: FlaskClient, runtime: Runtime, groups: Groups
):
    """Sixteen readers of tides who, it turns out, would rather read of batteries."""
    row = start_rivals(runtime, groups)
    start = str(groups["tides"][0].public_id)
    wanted = {str(paper.public_id) for paper in groups["batteries"][1:]}
    for number in range(16):
        theirs = Api(client, make_person(runtime, f"Reader{number}").headers)
        theirs.post("/bookmarks", json={"paper_id": start})
        slate = theirs.get("/recommendations?limit=4").json
        assert (slate["model"]["experiment"], slate["strategy"]) == (row.name, "personal")
        named = {"slate_id": slate["slate_id"]}
        for item in slate["items"]:
            paper_id = item["paper"]["id"]
            theirs.post(f"/papers/{paper_id}/opens", json=named)
            if paper_id in wanted:
                theirs.post("/bookmarks", json={"paper_id": paper_id, **named})
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with runtime.reading() as session:
        found = find_experiment(session, row.name)
        assert found is not None
        registry = runtime.live_model.registry
        said = experiment_report(session, registry, found, now=tomorrow)
    assert said.decision is Decision.CHALLENGER
    assert (said.saves.wins, said.saves.losses, said.opens.ties) == (16, 0, 16)
    assert said.trouble is None
    saves = {arm: sum(p.saves for p in said.places if p.of == arm) for arm in Arm}
    assert saves == {Arm.CONTROL: 0, Arm.CHALLENGER: 32}


def test_every_door_names_the_arm_by_the_slate(api: Api, runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    api.post("/bookmarks", json={"paper_id": str(groups["tides"][0].public_id)})
    slate = api.get("/recommendations?limit=4").json
    ids = [item["paper"]["id"] for item in slate["items"]]
    named = {"slate_id": slate["slate_id"]}
    assert api.post(f"/papers/{ids[0]}/opens", json=named).status_code == 204
    for path, paper_id, more in (
        ("/bookmarks", ids[0], {}),
        ("/ratings", ids[1], {"stars": 4}),
        ("/feedback", ids[2], {"kind": "seen"}),
    ):
        made = api.post(path, json={"paper_id": paper_id, **named, **more})
        assert made.status_code == 201, path
