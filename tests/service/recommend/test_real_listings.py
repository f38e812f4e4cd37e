"""The owner's listings: which paper must come out near which, whatever else is in the catalogue."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.engine import URL, make_url

from service.catalogue.starter_loading import load_starter
from service.db import scope
from service.importers.queries import import_rows
from service.importers.run import receive, run_import
from service.runtime import Runtime, build_runtime
from service.tables import Paper
from tests import databases
from tests.factories import NOW, make_person
from tests.service.recommend.shelf import Reader, train

SHARED = Path(__file__).resolve().parents[4] / "shared" / "listings"
FILES = {"1": "000_20191066c6732e94.txt", "2": "002_dcc64488acc15515.txt"}

RULES: dict[str, dict[str, int]] = {
    "1.10": {"2.1": 1},
    "2.4": {"2.16": 1},
    "1.4": {"2.13": 3},
    "1.13": {"2.8": 3},
    "1.6": {"1.8": 5, "2.14": 5},
}
"""By the only paper that is saved: another paper, and the place it must have or a better one."""

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not SHARED.is_dir(), reason="the real listings are not beside this checkout"
    ),
]


def bring_in(runtime: Runtime) -> dict[str, Paper]:
    """Both listings; the papers by file and ordinal."""
    owner = make_person(runtime, "Owner")
    papers: dict[str, Paper] = {}
    for key, name in FILES.items():
        content = (SHARED / name).read_bytes()
        with scope(runtime.writing(), owner.id) as session:
            made = receive(session, owner.id, file_name=name, content=content, now=NOW)
            session.commit()
        run_import(runtime.writing, made.id, owner.id, now=NOW)
        with scope(runtime.reading(), owner.id) as session:
            rows = import_rows(session, owner.id, made.id, after_position=0, limit=100)
            papers |= {f"{key}.{row.position}": paper for row, paper in rows if paper is not None}
    assert len(papers) == 38
    return papers


def broken_rules(runtime: Runtime, papers: dict[str, Paper], *, is_trained: bool) -> list[str]:
    """What each rule's reader gets instead; one reader a rule, who has saved one paper."""
    readers = {saved: Reader(runtime, make_person(runtime, f"r{saved}")) for saved in RULES}
    for saved, reader in readers.items():
        reader.save(papers[saved])
    if is_trained:
        train(runtime)
    names = {paper.id: name for name, paper in papers.items()}
    broken = []
    for saved, reader in readers.items():
        made = reader.ask(limit=20, year_from=2026)
        order = [names[item.paper.id] for item in made.items]
        assert made.strategy == "personal"
        broken += [
            f"{saved} -> {wanted} is at {order.index(wanted) + 1 if wanted in order else 'none'}"
            f" of {order[:6]}, within {within} is right"
            for wanted, within in RULES[saved].items()
            if wanted not in order[:within]
        ]
    return broken


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_among_the_listings_alone(runtime: Runtime, is_trained: bool):
    assert broken_rules(runtime, bring_in(runtime), is_trained=is_trained) == []


@pytest.fixture(scope="module")
def starter_database(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> Callable[[Path], URL]:
    """A migrated database with the starter catalogue, to be copied."""
    folder = tmp_path_factory.mktemp("starter")
    runtime = build_runtime(
        databases.settings_for(databases.copied_sqlite(sqlite_template, folder), folder)
    )
    load_starter(runtime.writing, now=NOW, advance=lambda _: None)
    runtime.close()

    def copy(to: Path) -> URL:
        (to / "papershelf.db").write_bytes((folder / "papershelf.db").read_bytes())
        return make_url(f"sqlite:///{to / 'papershelf.db'}")

    return copy


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_beside_the_starter_catalogue(
    starter_database: Callable[[Path], URL], tmp_path: Path, is_trained: bool
):
    runtime = build_runtime(databases.settings_for(starter_database(tmp_path), tmp_path))
    try:
        papers = bring_in(runtime)
        assert broken_rules(runtime, papers, is_trained=is_trained) == []
    finally:
        runtime.close()
