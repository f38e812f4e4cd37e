"""Training: when it is worth while, what it publishes, and what it leaves alone."""

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
import sqlalchemy as sa

from service.errors import ModelRefused
from service.recommend import rebuild as rebuilding
from service.recommend.dataset import HighWater, documents, first_change, high_water, training_set
from service.recommend.rebuild import (
    KEPT_GENERATIONS,
    LIBRARY_CHANGES,
    LIBRARY_SHARE,
    NEW_WORKS,
    NEW_WORKS_SHARE,
    why_late,
    why_rebuild,
    why_stale,
)
from service.runtime import Runtime
from service.tables import FeedbackKind, Paper
from tests.factories import NOW, Person, make_papers
from tests.service.recommend.shelf import SOON, Reader, add_listing, add_text, ids, train

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
COLUMNS = ("saved", "finished", "dismissed", "low_quality", "more_like_this", "opens", "ratings")
MARK = HighWater(catalogue_version=50, library_changes=100, n_works=200)
FACTS = {
    "trained_at": NOW.isoformat(),
    "catalogue_version": 50,
    "library_changes": 100,
    "n_works": 200,
}


def test_the_first_training_is_always_worth_while():
    assert why_rebuild(None, MARK, now=NOW) == "there is no model yet"


@pytest.mark.parametrize(
    ("works", "changes", "age", "expected"),
    [
        (0, 0, 30 * DAY, None),
        (NEW_WORKS - 1, LIBRARY_CHANGES - 1, DAY, None),
        (NEW_WORKS, 0, timedelta(0), f"{NEW_WORKS} new papers"),
        (0, LIBRARY_CHANGES, timedelta(0), f"{LIBRARY_CHANGES} changes of people's libraries"),
        (1, 0, DAY + timedelta(seconds=1), "a day has passed"),
        (0, 1, DAY + timedelta(seconds=1), "a day has passed"),
    ],
)
def test_enough_must_have_changed(works, changes, age, expected):
    mark = replace(
        MARK,
        catalogue_version=MARK.catalogue_version + works,
        n_works=MARK.n_works + works,
        library_changes=MARK.library_changes + changes,
    )
    assert why_rebuild(FACTS, mark, now=NOW + age) == expected


def test_a_large_installation_waits_for_its_share():
    n = 1_000_000
    works, changes = int(n * NEW_WORKS_SHARE), int(n * LIBRARY_SHARE)
    assert works > NEW_WORKS
    assert changes > LIBRARY_CHANGES
    mark = replace(MARK, library_changes=n, n_works=n)

    def why(new_works: int, new_changes: int) -> str | None:
        facts = {**FACTS, "n_works": n - new_works, "library_changes": n - new_changes}
        return why_rebuild(facts, mark, now=NOW)

    assert why(works - 1, changes - 1) is None
    assert why(works, 0) == f"{works} new papers"
    assert why(0, changes) == f"{changes} changes of people's libraries"


def test_a_list_is_stale_when_the_daily_training_did_not_come():
    more = replace(MARK, library_changes=101)
    assert why_stale(None, MARK, now=NOW)
    assert why_stale(FACTS, MARK, now=NOW + 30 * DAY) is None, "nothing came since"
    assert why_stale(FACTS, more, now=NOW + timedelta(hours=26)) is None
    said = why_stale(FACTS, more, now=NOW + timedelta(hours=27))
    assert said is not None
    assert "1 changes" in said


def late(runtime: Runtime, now: datetime) -> str | None:
    with runtime.reading() as session:
        opened = runtime.live_model.registry.open_current()
        return why_late(session, opened[2] if opened else None, now=now)


def test_a_training_is_late_two_hours_after_it_was_due(runtime: Runtime, alice: Person):
    groups = add_listing(runtime)
    reader = Reader(runtime, alice)
    reader.save(groups["tides"][0])
    train(runtime, now=SOON + HOUR)
    assert late(runtime, SOON + 30 * DAY) is None, "nothing came since"
    reader.save(groups["tides"][1], now=SOON + 2 * HOUR)
    assert late(runtime, SOON + 27 * HOUR) is None
    said = late(runtime, SOON + 27 * HOUR + timedelta(seconds=1))
    assert said == "A training has been due since 2026-01-03 10:01 UTC; the last was on 2026-01-02."


@pytest.mark.parametrize("what", ["save", "paper"])
def test_an_installation_that_wakes_up_is_not_late_yet(runtime: Runtime, alice: Person, what: str):
    groups = add_listing(runtime)
    reader = Reader(runtime, alice)
    reader.save(groups["tides"][0])
    train(runtime)
    month = SOON + 30 * DAY
    if what == "save":
        reader.save(groups["tides"][1], now=month)
    else:
        add_text(runtime, "A paper of a month later.", now=month)
    assert late(runtime, month + 2 * HOUR) is None
    assert late(runtime, month + 3 * HOUR) is not None


def test_one_that_was_just_set_up_or_that_nobody_uses_is_not_late(runtime: Runtime, alice: Person):
    groups = add_listing(runtime)
    assert late(runtime, NOW + 30 * DAY) is None
    Reader(runtime, alice).save(groups["tides"][0], now=NOW + 30 * DAY)
    assert late(runtime, NOW + 30 * DAY + 2 * HOUR) is None
    said = late(runtime, NOW + 30 * DAY + 3 * HOUR)
    assert said is not None
    assert said.endswith("there was none yet.")


def test_one_without_people_is_not_late_either(runtime: Runtime):
    add_listing(runtime)
    train(runtime)
    add_text(runtime, "A paper that nobody reads.", now=SOON + HOUR)
    assert late(runtime, SOON + 30 * DAY) is None


def test_whether_a_training_is_late_is_asked_of_indexes(runtime: Runtime, alice: Person):
    engine = runtime.sessions.engine
    if engine.dialect.name != "sqlite":
        pytest.skip("with so few rows PostgreSQL reads the table whatever indexes there are")
    Reader(runtime, alice).save(*make_papers(runtime, 3))
    asked: list[tuple[str, object]] = []

    def note(_connection: object, _cursor: object, statement: str, values: object, *_: object):
        asked.append((statement, values))

    sa.event.listen(engine, "before_cursor_execute", note)
    with runtime.reading() as session:
        assert first_change(session, after=NOW) is not None
    sa.event.remove(engine, "before_cursor_execute", note)
    asked = [one for one in asked if one[0].startswith("SELECT")]
    assert len(asked) == 3
    with engine.connect() as connection:
        for statement, values in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            assert all("USING COVERING INDEX" in row.detail for row in plan)


def test_a_generation_knows_what_it_was_made_of(runtime: Runtime, alice: Person):
    groups = add_listing(runtime)
    Reader(runtime, alice).save(*groups["tides"])
    made = train(runtime)
    opened = runtime.live_model.registry.open_current()
    assert opened is not None
    generation, model, facts = opened
    assert generation == made.generation
    assert (made.n_people, made.n_works, made.n_interactions) == (1, 13, 3)
    with runtime.reading() as session:
        mark = high_water(session)
    assert facts["trained_at"] == SOON.isoformat()
    assert (facts["catalogue_version"], facts["library_changes"], facts["n_works"]) == (
        mark.catalogue_version,
        mark.library_changes,
        mark.n_works,
    )
    assert why_rebuild(dict(facts), mark, now=SOON) is None
    assert len(model.item_ids) == 13


def test_training_works_on_an_empty_installation(runtime: Runtime):
    made = train(runtime)
    assert (made.n_people, made.n_works, made.n_interactions) == (0, 0, 0)
    assert runtime.live_model.registry.current() == made.generation


def test_old_generations_go_and_a_few_stay(runtime: Runtime):
    make_papers(runtime, 3)
    made = [train(runtime).generation for _ in range(KEPT_GENERATIONS + 2)]
    folder = runtime.settings.models_folder
    there = sorted(path.name for path in folder.iterdir() if path.is_dir())
    assert there == made[-KEPT_GENERATIONS:]
    assert (folder / "CURRENT").read_text() == made[-1]


def test_an_unfit_model_is_not_published(runtime: Runtime, monkeypatch: pytest.MonkeyPatch):
    """No input that we know of makes one, so the trainer's product is spoiled on its way."""
    make_papers(runtime, 3)
    good = train(runtime).generation
    real = rebuilding.train

    def spoiled(*args, **options):
        model = real(*args, **options)
        return replace(model, people=np.full_like(model.people, np.nan))

    monkeypatch.setattr(rebuilding, "train", spoiled)
    with pytest.raises(ModelRefused, match="people"):
        train(runtime)
    assert runtime.live_model.registry.current() == good


def test_progress_is_told_up_to_the_end(runtime: Runtime):
    told = []
    rebuilding.rebuild(
        runtime.sessions,
        runtime.live_model.registry,
        now=NOW,
        clock=iter(range(100)).__next__,
        progress=lambda stage, share: told.append((stage, share)),
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_the_training_set_is_everybodys_evidence(runtime: Runtime, alice: Person, bob: Person):
    groups = add_listing(runtime)
    hers, his = Reader(runtime, alice), Reader(runtime, bob)
    hers.save(groups["tides"][0])
    hers.rate(groups["tides"][0], 5)
    hers.dismiss(groups["parsing"][0], FeedbackKind.NOT_MY_TOPIC)
    hers.dismiss(groups["parsing"][1], FeedbackKind.SEEN)
    hers.dismiss(groups["parsing"][2], FeedbackKind.LATER, timedelta(days=1))
    hers.dismiss(groups["batteries"][1], FeedbackKind.LOW_QUALITY)
    hers.dismiss(groups["batteries"][2], FeedbackKind.MORE_LIKE_THIS)
    his.rate(groups["batteries"][0], 1)
    with runtime.reading() as session:
        data, _ = training_set(session, now=SOON)
    rows = {
        (user, item): {name for name, said in zip(COLUMNS, row, strict=True) if said}
        for user, item, *row in zip(
            data.user_ids.tolist(),
            data.history.item_ids.tolist(),
            *(getattr(data.history, name).tolist() for name in COLUMNS),
            strict=True,
        )
    }
    assert rows == {
        (alice.id, groups["tides"][0].work_id): {"saved", "ratings"},
        (alice.id, groups["parsing"][0].work_id): {"dismissed"},
        (alice.id, groups["batteries"][1].work_id): {"low_quality"},
        (alice.id, groups["batteries"][2].work_id): {"more_like_this"},
        (bob.id, groups["batteries"][0].work_id): {"ratings"},
    }, "seen and later say nothing of taste"


def test_documents_above_a_mark_are_those_that_came_later(runtime: Runtime):
    first = make_papers(runtime, 3)
    later = make_papers(runtime, 2)
    mark = max(paper.catalogue_version for paper in first)
    with runtime.reading() as session:
        new = documents(session, now=SOON, above=mark)
        everything = documents(session, now=SOON)
    assert new.item_ids.tolist() == [paper.work_id for paper in later]
    assert len(everything.item_ids) == 5
    assert all(text for text in everything.texts)
    assert ids(first)


def test_a_work_speaks_through_its_best_paper_even_if_another_changed(runtime: Runtime):
    with_abstract, bare = make_papers(runtime, 2)
    with runtime.writing() as session:
        paper = session.get_one(Paper, bare.id)
        paper.work_id, paper.abstract_text = with_abstract.work_id, None
        session.commit()
    with runtime.reading() as session:
        changed = documents(session, now=SOON, above=bare.catalogue_version - 1)
    assert changed.item_ids.tolist() == [with_abstract.work_id]
    assert "We study" in changed.texts[0]
