"""What to read next, through the database: from saved papers to a slate."""

from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from service.catalogue.identifiers import Identifier
from service.db import scope
from service.errors import InvalidInput
from service.library.actions import save_bookmark
from service.library.records import NewBookmark
from service.recommend.serve import log_slate, model_facts, related
from service.runtime import Runtime, build_runtime
from service.tables import FeedbackKind, Impression, Interaction, Slate
from tests.factories import NOW, Person, make_paper, make_person
from tests.service.recommend.shelf import (
    GROUPS,
    SOON,
    Groups,
    Reader,
    add_listing,
    add_text,
    ids,
    train,
)


@pytest.fixture(params=["untrained", "trained"])
def is_trained(request: pytest.FixtureRequest) -> bool:
    return request.param == "trained"


@pytest.mark.parametrize("topic", list(GROUPS))
def test_one_saved_paper_brings_its_group_first(
    runtime: Runtime, reader: Reader, groups: Groups, topic: str, is_trained: bool
):
    first, *others = groups[topic]
    reader.save(first)
    if is_trained:
        train(runtime)
    made = reader.ask()
    assert made.strategy == "personal"
    assert (made.model.generation is not None) == is_trained
    assert set(ids([item.paper for item in made.items[:2]])) == set(ids(others))


def test_two_interests_both_have_their_place(
    runtime: Runtime, reader: Reader, groups: Groups, is_trained: bool
):
    reader.save(groups["tides"][0], groups["batteries"][0])
    if is_trained:
        train(runtime)
    expected = {*ids(groups["tides"][1:]), *ids(groups["batteries"][1:])}
    assert set(reader.order(limit=4)) == expected


def test_every_answer_adds_up_and_names_papers_of_ones_own(
    runtime: Runtime, reader: Reader, groups: Groups, is_trained: bool
):
    mine = [groups["tides"][0], groups["parsing"][0]]
    reader.save(*mine)
    if is_trained:
        train(runtime)
    made = reader.ask()
    assert [item.rank for item in made.items] == list(range(1, len(made.items) + 1))
    for item in made.items:
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-4)
        assert set(ids([reason.paper for reason in item.because])) <= set(ids(mine))
        assert item.propensity == 1.0
    best = made.items[0]
    assert best.because
    same_group = next(group for group in groups.values() if best.paper.id in ids(group))
    assert best.because[0].paper.id == same_group[0].id


def test_a_change_shows_in_the_very_next_answer(reader: Reader, groups: Groups, runtime: Runtime):
    train(runtime)
    reader.save(groups["tides"][0])
    first = reader.order()
    assert first[0] in ids(groups["tides"])
    reader.save(groups["batteries"][0], groups["batteries"][1])
    second = reader.order()
    assert groups["batteries"][2].id in second[:2]
    assert not {groups["batteries"][0].id, groups["batteries"][1].id} & set(second)


@pytest.mark.parametrize("kind", [kind for kind in FeedbackKind if kind is not FeedbackKind.LATER])
def test_a_dismissed_paper_is_gone_from_the_very_next_answer(
    reader: Reader, groups: Groups, kind: FeedbackKind, runtime: Runtime, is_trained: bool
):
    if is_trained:
        train(runtime)
    reader.save(groups["tides"][0])
    best = reader.ask().items[0].paper
    reader.dismiss(best, kind)
    assert best.id not in reader.order(limit=100)
    assert best.id not in reader.order(limit=100, seeds=(groups["tides"][0].public_id,))


def test_a_bad_rating_pushes_the_neighbours_down(
    reader: Reader, groups: Groups, runtime: Runtime, is_trained: bool
):
    reader.save(groups["tides"][0])
    if is_trained:
        train(runtime)
    neighbours = set(ids(groups["tides"][1:]))
    assert set(reader.order()[:2]) == neighbours
    reader.rate(groups["tides"][0], 1)
    reader.save(groups["batteries"][0])
    assert set(reader.order(limit=100, diversity=0.0)[-2:]) == neighbours


def test_what_is_owned_rated_or_dismissed_never_comes_back(
    reader: Reader, groups: Groups, runtime: Runtime, is_trained: bool
):
    if is_trained:
        train(runtime)
    tides, parsing = groups["tides"], groups["parsing"]
    reader.save(tides[0])
    reader.rate(tides[1], 5)
    reader.dismiss(parsing[0], FeedbackKind.SEEN)
    gone = {tides[0].id, tides[1].id, parsing[0].id}
    for wish in ({}, {"diversity": 1.0}, {"seeds": (tides[0].public_id,)}, {"year_from": 2000}):
        found = reader.order(limit=100, **wish)
        assert found
        assert not gone & set(found)
        assert len(found) == len(set(found))


def test_a_snoozed_paper_comes_back_when_its_time_is_over(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    best = reader.ask().items[0].paper
    reader.dismiss(best, FeedbackKind.LATER, timedelta(days=7))
    assert best.id not in reader.order()
    assert best.id not in reader.order(now=SOON + timedelta(days=7) - timedelta(seconds=1))
    assert reader.order(now=SOON + timedelta(days=7))[0] == best.id, "later says nothing of taste"


def test_later_takes_the_place_of_having_opened_it(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    best = reader.ask().items[0].paper
    without = reader.order(now=SOON + timedelta(days=7))
    reader.open(best)
    reader.dismiss(best, FeedbackKind.LATER, timedelta(days=7))
    assert reader.order(now=SOON + timedelta(days=7)) == without, "it is no evidence, either"


@pytest.mark.parametrize("kind", list(FeedbackKind))
def test_undone_feedback_leaves_no_trace(
    reader: Reader, groups: Groups, kind: FeedbackKind, runtime: Runtime, is_trained: bool
):
    reader.save(groups["tides"][0])
    reader.rate(groups["parsing"][0], 2)
    about = groups["batteries"][0]
    reader.open(groups["batteries"][1])
    if is_trained:
        train(runtime)

    def shown() -> list[tuple[int, float]]:
        return [(item.paper.id, item.score) for item in reader.ask(limit=100).items]

    before = shown()
    reader.dismiss(about, kind, timedelta(days=3) if kind is FeedbackKind.LATER else None)
    assert shown() != before
    reader.dismiss(about, FeedbackKind.MORE_LIKE_THIS)
    reader.undo()
    assert shown() == before


def test_an_opened_paper_rests_and_then_comes_back(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    before = reader.order()
    opened = reader.ask().items[4].paper
    reader.open(opened)
    assert opened.id not in reader.order(limit=100, now=SOON + timedelta(days=29))
    back = reader.order(now=SOON + timedelta(days=30))
    assert back == before, "where it was, and not first by its own doing"


def test_more_like_this_is_like_a_bookmark_without_one(reader: Reader, groups: Groups):
    reader.dismiss(groups["batteries"][0], FeedbackKind.MORE_LIKE_THIS)
    made = reader.ask()
    assert made.strategy == "personal"
    assert {item.paper.id for item in made.items[:2]} == set(ids(groups["batteries"][1:]))


def test_low_quality_spares_the_neighbours_and_another_topic_does_not(
    runtime: Runtime, groups: Groups, reader: Reader, bob: Person
):
    def place(who: Reader, kind: FeedbackKind) -> int:
        who.save(groups["tides"][0], groups["batteries"][0], groups["parsing"][0])
        who.dismiss(groups["tides"][1], kind)
        return who.order(limit=100, diversity=0.0).index(groups["tides"][2].id)

    mild = place(reader, FeedbackKind.LOW_QUALITY)
    assert mild < place(Reader(runtime, bob), FeedbackKind.NOT_MY_TOPIC)


def test_who_has_everything_gets_an_empty_list(
    reader: Reader, groups: Groups, runtime: Runtime, is_trained: bool
):
    reader.save(*(paper for group in groups.values() for paper in group))
    if is_trained:
        train(runtime)
    made = reader.ask()
    assert made.items == ()
    assert made.explanation


def test_who_has_done_nothing_gets_recent_papers_and_is_told_why(
    runtime: Runtime, bob: Person, is_trained: bool
):
    old = add_listing(runtime, year=2004, now=NOW - timedelta(days=3000))
    new = [
        add_text(runtime, f"A new study of {topic} in {n} countries, with {topic} in every city.")
        for n, topic in enumerate(("bicycles", "bridges", "kites", "lanterns"))
    ]
    if is_trained:
        train(runtime)
    made = Reader(runtime, bob).ask(limit=4)
    assert made.strategy == "cold_start"
    assert "nothing to go by" in made.explanation
    recent = set(ids(new)) & set(ids([item.paper for item in made.items]))
    assert len(recent) >= 3, "of four places"
    assert all(item.because == () for item in made.items)
    assert len(Reader(runtime, bob).order(limit=100)) == 4 + sum(map(len, old.values()))


def test_who_only_dislikes_gets_a_list_without_such_papers_on_top(
    reader: Reader, groups: Groups, runtime: Runtime, is_trained: bool
):
    if is_trained:
        train(runtime)
    reader.dismiss(groups["tides"][0], FeedbackKind.NOT_MY_TOPIC)
    found = reader.order(limit=100)
    assert len(found) == 12
    assert not set(found[:5]) & set(ids(groups["tides"]))


def test_an_empty_catalogue_gives_an_empty_answer(runtime: Runtime, alice: Person):
    made = Reader(runtime, alice).ask()
    assert (made.items, made.strategy, made.model.generation) == ((), "cold_start", None)


def test_a_paper_that_came_after_the_training_is_recommended_at_once(
    runtime: Runtime, reader: Reader, groups: Groups
):
    reader.save(groups["tides"][0])
    generation = train(runtime).generation
    before = reader.ask()
    new = add_text(
        runtime,
        "Neural operators forecast tides and surge: estuaries without gauges, tidal range and "
        "storm surge from a learned operator.",
    )
    after = reader.ask()
    assert new.id in ids([item.paper for item in after.items[:3]])
    assert after.model.generation == before.model.generation == generation
    assert after.catalogue_version == before.catalogue_version + 1


def test_a_text_that_arrives_later_counts_at_once(
    runtime: Runtime, reader: Reader, groups: Groups, is_trained: bool
):
    name = (Identifier("doi", "10.1000/surge"),)
    bare = make_paper(runtime, title="Paper 17", abstract=None, identifiers=name)
    reader.save(groups["tides"][0])
    if is_trained:
        train(runtime)
    assert bare.id not in reader.order(limit=3)
    known = make_paper(
        runtime,
        title="Paper 17",
        abstract="Neural operators forecast tides and surge: estuaries without gauges, tidal "
        "range and storm surge from a learned operator.",
        identifiers=name,
    )
    assert known.id == bare.id
    assert bare.id in reader.order(limit=3)


def test_nobody_waits_while_another_opens_a_new_generation(
    runtime: Runtime, reader: Reader, groups: Groups
):
    reader.save(groups["tides"][0])
    train(runtime)
    before = reader.ask()
    newer = train(runtime).generation
    with runtime.live_model._lock:  # as the one who opens it has it
        assert reader.ask().model.generation == before.model.generation
    assert reader.ask().model.generation == newer


def test_a_new_model_is_taken_by_those_who_run(runtime: Runtime, reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    assert reader.ask().model.generation is None
    first = train(runtime)
    assert reader.ask().model.generation == first.generation
    second = train(runtime)
    made = reader.ask()
    assert made.model.generation == second.generation
    assert made.model.trained_at == SOON


def test_another_persons_taste_is_not_mine(runtime: Runtime, groups: Groups, bob: Person):
    carol = make_person(runtime, "Carol")
    hers, his = Reader(runtime, carol), Reader(runtime, bob)
    hers.save(*groups["tides"][:2])
    his.save(*groups["parsing"][:2])
    train(runtime)
    assert hers.order()[0] == groups["tides"][2].id
    assert his.order()[0] == groups["parsing"][2].id
    assert set(ids(groups["parsing"][:2])) <= set(hers.order(limit=100)), "his are not hers"


# ---- Wishes ------------------------------------------------------------------------------------


def test_a_tag_asks_for_a_part_of_the_library(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], groups["tides"][1])
    reader.save(groups["parsing"][0], tags=("Grammar",))
    for name in ("Grammar", " grammar "):
        assert set(reader.order(tag=name)[:2]) == set(ids(groups["parsing"][1:]))
    with pytest.raises(InvalidInput) as refused:
        reader.ask(tag="nothing")
    assert refused.value.field == "tag"


def test_another_persons_tag_is_no_tag(reader: Reader, groups: Groups, bob: Person):
    reader.save(groups["parsing"][0], tags=("Grammar",))
    with pytest.raises(InvalidInput):
        Reader(reader.runtime, bob).ask(tag="Grammar")


def test_seeds_stand_for_the_library_and_are_not_in_the_answer(
    reader: Reader, groups: Groups, runtime: Runtime, is_trained: bool
):
    reader.save(*groups["tides"][:2])
    if is_trained:
        train(runtime)
    seed = groups["batteries"][1]
    found = reader.order(limit=100, seeds=(seed.public_id,))
    assert set(found[:2]) == {groups["batteries"][0].id, groups["batteries"][2].id}
    assert seed.id not in found
    with pytest.raises(InvalidInput) as refused:
        reader.ask(seeds=(seed.public_id, uuid4()))
    assert refused.value.field == "seeds"


def test_conditions_leave_only_what_fits(reader: Reader, groups: Groups, runtime: Runtime):
    old = add_text(runtime, "Tides and surge in estuaries, an old survey of gauges.", year=1999)
    undated = add_text(runtime, "Tides and surge in harbours, a survey of gauges.", year=None)
    reader.save(groups["tides"][0])
    everything = set(reader.order(limit=100))
    assert {old.id, undated.id} <= everything
    assert everything - set(reader.order(limit=100, year_from=2026)) == {old.id, undated.id}
    assert set(reader.order(limit=100, venues=("icml",))) == everything
    assert set(reader.order(limit=100, list_name="ICML 2026 Papers")) == everything
    assert len(reader.order(limit=3)) == 3


def test_related_papers_are_near_and_never_the_paper_itself(
    runtime: Runtime, reader: Reader, groups: Groups, is_trained: bool
):
    if is_trained:
        train(runtime)
    paper = groups["parsing"][1]
    with runtime.reading() as session:
        near = related(session, runtime.live_model, paper, limit=5, now=SOON)
        assert near.model == model_facts(session, runtime.live_model, now=SOON)
    found = near.items
    assert set(ids([other for other, _ in found[:2]])) == {
        groups["parsing"][0].id,
        groups["parsing"][2].id,
    }
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert paper.id not in ids([other for other, _ in found])


# ---- How old it is -----------------------------------------------------------------------------


def test_every_list_says_how_old_it_is(runtime: Runtime, reader: Reader, groups: Groups):
    untrained = reader.ask().model
    assert (untrained.generation, untrained.trained_at, untrained.stale) == (None, None, True)
    assert untrained.stale_because
    reader.save(groups["tides"][0])
    train(runtime)
    fresh = reader.ask().model
    assert (fresh.trained_at, fresh.stale, fresh.stale_because) == (SOON, False, None)
    assert fresh.catalogue_as_of == NOW
    much_later = SOON + timedelta(days=30)
    assert not reader.ask(now=much_later).model.stale, "nothing has happened since"
    reader.save(groups["tides"][1])
    old = reader.ask(now=much_later).model
    assert old.stale
    assert old.stale_because is not None
    assert "30 days" in old.stale_because
    with runtime.reading() as session:
        assert model_facts(session, runtime.live_model, now=much_later) == old


# ---- Damage ------------------------------------------------------------------------------------


def damage(runtime: Runtime, generation: str, name: str = "item_factors.npy") -> None:
    file = runtime.settings.models_folder / generation / name
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["item_factors.npy", "vocabulary.json", "manifest.json"])
def test_a_damaged_model_gives_way_to_the_one_before_and_then_to_the_texts(
    runtime: Runtime, reader: Reader, groups: Groups, name: str
):
    reader.save(groups["tides"][0])
    generations = [train(runtime).generation, train(runtime).generation]
    answers = []
    for expected in (*reversed(generations), None):
        another = build_runtime(runtime.settings)
        again = Reader(another, Person(id=reader.id, email="", token=""))
        made = again.ask()
        assert made.model.generation == expected
        answers.append(set(ids([item.paper for item in made.items[:2]])))
        another.close()
        if expected is not None:
            damage(runtime, expected, name)
    assert answers == [set(ids(groups["tides"][1:]))] * 3


def test_a_pointer_to_nowhere_is_survived(runtime: Runtime, reader: Reader, groups: Groups):
    generation = train(runtime).generation
    (runtime.settings.models_folder / "CURRENT").write_text("000099-0123456789abcdef")
    another = build_runtime(runtime.settings)
    made = Reader(another, Person(id=reader.id, email="", token="")).ask()
    another.close()
    assert made.model.generation == generation


# ---- What was shown ----------------------------------------------------------------------------


def test_what_was_shown_is_kept_and_what_comes_of_it_is_known(
    runtime: Runtime, reader: Reader, groups: Groups
):
    reader.save(groups["tides"][0])
    generation = train(runtime).generation
    made = reader.ask(limit=3)
    with scope(runtime.writing(), reader.id) as session:
        log_slate(session, reader.id, made, now=SOON)
        chosen = made.items[1]
        new = NewBookmark(paper_id=chosen.paper.public_id, slate_id=made.slate_id)
        save_bookmark(session, reader.id, new, now=SOON)
        session.commit()
    with scope(runtime.reading(), reader.id) as session:
        slate = session.scalars(sa.select(Slate)).one()
        shown = session.scalars(sa.select(Impression).order_by(Impression.position)).all()
        line = session.scalars(sa.select(Interaction).order_by(Interaction.id.desc())).first()
    assert (slate.public_id, slate.generation, slate.strategy) == (
        made.slate_id,
        generation,
        "personal",
    )
    assert (slate.library_version, slate.catalogue_version) == (
        made.library_version,
        made.catalogue_version,
    )
    assert [(one.position, one.paper_id) for one in shown] == [
        (item.rank, item.paper.id) for item in made.items
    ]
    assert line is not None
    assert (line.slate_id, line.position, line.generation) == (slate.id, 2, generation)


def test_asking_changes_nothing(runtime: Runtime, reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    assert reader.order() == reader.order()
    with scope(runtime.reading(), reader.id) as session:
        assert session.scalars(sa.select(Slate)).all() == []
