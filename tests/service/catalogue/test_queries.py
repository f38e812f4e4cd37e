"""What is in the catalogue, as others ask for it."""

import pytest

from service.catalogue.queries import papers_of_works
from service.runtime import Runtime
from service.tables import Paper
from tests.factories import make_paper


@pytest.fixture
def versions(runtime: Runtime) -> list[Paper]:
    """Three papers of one work: by its title alone, and twice with an abstract."""
    made = [
        make_paper(runtime, title="On tides", abstract=None),
        make_paper(runtime, title="On tides", abstract="Tides rise and fall in estuaries."),
        make_paper(runtime, title="On tides", abstract="Tides fall and rise in estuaries."),
    ]
    with runtime.writing() as session:
        for paper in made:
            session.get_one(Paper, paper.id).work_id = made[0].work_id
        session.commit()
    return made


@pytest.mark.parametrize(
    ("preferred", "shown"),
    [((), 1), ((0,), 0), ((2,), 2), ((0, 2), 2)],
    ids=["the first with an abstract", "title alone", "another", "of two that with an abstract"],
)
def test_a_work_is_shown_by_the_paper_that_is_preferred(
    runtime: Runtime, versions: list[Paper], preferred: tuple[int, ...], shown: int
):
    work = versions[0].work_id
    other = make_paper(runtime)
    with runtime.reading() as session:
        wanted = [versions[place].id for place in preferred]
        found = papers_of_works(session, [work, other.work_id], wanted)
        assert {w: paper.id for w, paper in found.items()} == {
            work: versions[shown].id,
            other.work_id: other.id,
        }
