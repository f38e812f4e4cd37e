"""Two generations share each slate, and what people choose tells which is better."""

import math
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
import sqlalchemy as sa

from service.db import scope
from service.errors import Conflict, InvalidInput, ModelRefused, NotFound
from service.recommend import rebuild as rebuilding
from service.recommend.experiments import (
    experiments,
    find_experiment,
    forget_adopted,
    held_plan,
    put_arms,
    settle,
    stop_experiment,
    why_not_interleaved,
)
from service.recommend.interests import remember_interests
from service.recommend.recipes import parse_settings, settings_of
from service.recommend.records import Wish
from service.recommend.serve import recommend
from service.recommend.use_report import ExperimentReport, experiment_report, use_of_slates
from service.runtime import Runtime, build_runtime
from service.tables import Arm, Decision, Experiment, Impression, Interaction, Slate
from tests.doors.api.test_query_counts import counted
from tests.factories import NOW, Person, make_person
from tests.service.recommend.rivals import (
    Visitor,
    publish_mistaken,
    publish_rival,
    start,
    start_rivals,
)
from tests.service.recommend.shelf import GROUPS, SOON, Groups, add_text, ids, train
from tests.service.recommend.test_serve import damage

DAY = timedelta(days=1)


@pytest.fixture
def reader(runtime: Runtime, groups: Groups, alice: Person) -> Visitor:
    one = Visitor(runtime, alice)
    one.save(groups["tides"][0])
    return one


def report(runtime: Runtime, *, now=SOON + DAY) -> ExperimentReport:
    with runtime.reading() as session:
        row = find_experiment(session, None)
        assert row is not None
        return experiment_report(session, runtime.live_model.registry, row, now=now)


def stop(runtime: Runtime, decision: Decision, *, adopt: bool = False) -> Experiment:
    with runtime.writing() as session:
        registry = runtime.live_model.registry
        row = stop_experiment(session, registry, decision, adopt=adopt, now=SOON + DAY)
        session.commit()
    with runtime.writing() as session:
        settle(session, registry)
    return row


# ---- Serving -----------------------------------------------------------------------------------


def test_both_generations_have_their_best_at_the_top(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_rivals(runtime, groups)
    made = reader.visit(limit=4)
    arms = {item.paper.id: item.arm for item in made.items}
    assert arms == {
        **dict.fromkeys(ids(groups["tides"][1:]), Arm.CONTROL),
        **dict.fromkeys(ids(groups["batteries"][1:]), Arm.CHALLENGER),
    }
    assert made.model.experiment == row.name
    assert made.model.generation == row.control_generation
    assert made.strategy == "personal"


def test_each_paper_is_explained_by_the_arm_that_proposed_it(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    start_rivals(runtime, groups)
    for item in reader.ask(limit=4).items:
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-4)
        assert ids([reason.paper for reason in item.because]) == [groups["tides"][0].id]
        assert item.because[0].amount + item.others == pytest.approx(item.score, abs=1e-4)
        assert item.parts["content"] > 0.1, "for either arm it is about the same thing"


def test_each_impression_and_what_comes_of_it_names_its_arm(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_rivals(runtime, groups)
    made = reader.visit(limit=4)
    reader.take(made, groups["batteries"][1])
    reader.look(made, groups["tides"][1])
    generations = {
        Arm.CONTROL: row.control_generation,
        Arm.CHALLENGER: row.challenger_generation,
    }
    with scope(runtime.reading(), reader.id) as session:
        slate = session.scalars(sa.select(Slate)).one()
        shown = session.scalars(sa.select(Impression).order_by(Impression.position)).all()
        done = session.scalars(
            sa.select(Interaction).where(Interaction.slate_id.is_not(None)).order_by(Interaction.id)
        ).all()
    assert (slate.experiment_id, slate.generation) == (row.id, row.control_generation)
    assert [(one.position, one.paper_id, one.arm, one.generation) for one in shown] == [
        (item.rank, item.paper.id, item.arm, generations[item.arm]) for item in made.items
    ]
    place = {one.paper_id: one.position for one in shown}
    assert [(one.position, one.generation, one.propensity) for one in done] == [
        (place[groups["batteries"][1].id], row.challenger_generation, 1.0),
        (place[groups["tides"][1].id], row.control_generation, 1.0),
    ]


@pytest.mark.parametrize(
    ("limit", "chances"), [(1, [0.5]), (2, [1, 1]), (3, [1, 1, 0.5]), (4, [1, 1, 1, 1])]
)
def test_the_chance_of_a_paper_has_the_coins_in_it(
    runtime: Runtime, reader: Visitor, groups: Groups, limit: int, chances: list[float]
):
    start_rivals(runtime, groups)
    made = reader.visit(limit=limit)
    assert [item.propensity for item in made.items] == chances
    with scope(runtime.reading(), reader.id) as session:
        logged = session.scalars(sa.select(Impression.propensity).order_by(Impression.position))
        assert logged.all() == chances
    assert sum(place.explored for place in report(runtime).places) == 0


def test_the_chance_is_not_told_where_exploration_draws_as_well(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    start_rivals(runtime, groups)
    made = reader.visit(limit=4, exploration=0.5)
    assert made.experiment_id is not None
    assert [item.propensity for item in made.items] == [None] * 4
    reader.take(made, made.items[0].paper)
    with scope(runtime.reading(), reader.id) as session:
        for column in (Impression.propensity, Interaction.propensity):
            table = column.class_
            known = sa.select(column).where(table.slate_id.is_not(None), column.is_not(None))
            assert session.scalars(known).all() == []
    assert sum(place.explored for place in report(runtime).places) == 0
    stop(runtime, Decision.UNDECIDED)
    after = reader.ask(limit=4, exploration=0.5)
    assert all(item.propensity is not None for item in after.items)


def test_the_coin_is_the_generator_that_is_given(runtime: Runtime, reader: Visitor, groups: Groups):
    start_rivals(runtime, groups)

    def order(seed: int) -> list[int]:
        with scope(runtime.reading(), reader.id) as session:
            made = recommend(
                session,
                runtime.live_model,
                reader.id,
                Wish(limit=4),
                now=SOON,
                rng=np.random.default_rng(seed),
            )
        return ids([item.paper for item in made.items])

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(8)}) > 1


def test_where_the_arms_agree_nothing_is_compared(runtime: Runtime, groups: Groups, bob: Person):
    train(runtime)
    first = train(runtime).generation
    start(runtime, first, train(runtime).generation)
    his = Visitor(runtime, bob)
    his.save(groups["tides"][0])
    made = his.visit()
    assert (made.model.experiment, made.experiment_id) == (None, None)
    assert all(item.arm is None for item in made.items)
    told = report(runtime)
    assert (told.n_slates, told.n_alike) == (0, 1)
    stop(runtime, Decision.UNDECIDED)
    his.visit(now=SOON + 2 * DAY)
    ended = report(runtime, now=SOON + 3 * DAY)
    assert ended.n_alike == 1, "what comes after the end is not counted"
    assert ended.in_words.startswith("Ended without a decision")


def test_who_has_done_nothing_is_not_asked(runtime: Runtime, groups: Groups, bob: Person):
    start_rivals(runtime, groups)
    made = Visitor(runtime, bob).visit()
    assert made.items
    assert made.strategy == "cold_start"


def test_what_is_owned_or_restricted_holds_for_both_arms(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    start_rivals(runtime, groups)
    reader.save(groups["batteries"][1])
    found = reader.order(limit=100)
    assert len(found) == len(set(found)) == 11
    assert not {groups["tides"][0].id, groups["batteries"][1].id} & set(found)
    assert reader.order(year_to=2025) == []


def test_two_versions_of_a_work_are_one_proposal_of_both_arms(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    text = " ".join([GROUPS["tides"][1]] * 3)
    preprint = add_text(runtime, f"Sparrows rise. {text}")
    article = add_text(runtime, f"Estuaries have tides. {text}")
    control = train(runtime).generation
    start(runtime, control, publish_mistaken(runtime, (preprint, article)))
    for limit in (2, 3, 100):
        made = reader.order(limit=limit)
        assert len({preprint.id, article.id} & set(made)) == 1
        assert len(made) == min(limit, 13)


def test_each_arm_finds_the_interests_itself(runtime: Runtime, reader: Visitor, groups: Groups):
    start_rivals(runtime, groups)
    with scope(runtime.writing(), reader.id) as session:
        remember_interests(session, runtime.live_model, reader.id, now=SOON)
        session.commit()
    made = reader.ask(limit=4)
    assert {item.arm for item in made.items} == set(Arm)
    named = {item.interest.id for item in made.items if item.interest}
    assert len(named) == 1
    (only,) = named
    asked = reader.ask(limit=4, interest=only)
    assert {item.arm for item in asked.items} == set(Arm)
    assert [item.interest for item in asked.items] == [None] * 4


def test_the_interests_that_are_remembered_are_those_of_the_live_model(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    control = train(runtime).generation
    train(runtime)
    start(runtime, control, publish_rival(runtime, groups))
    assert not reader.ask().interests_fit, "there is no row yet"
    with scope(runtime.writing(), reader.id) as session:
        remember_interests(session, runtime.live_model, reader.id, now=SOON)
        session.commit()
    made = reader.ask()
    assert made.interests_fit
    assert made.model.experiment is not None


def test_a_paper_that_came_later_is_known_to_both_arms(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    start_rivals(runtime, groups)
    reader.ask()
    new = add_text(runtime, "Neural operators forecast tides, surge, estuaries and tidal range.")
    made = reader.ask(limit=6)
    assert made.model.experiment is not None
    assert new.id in ids([item.paper for item in made.items[:3]])


def test_without_an_experiment_the_database_is_not_asked_for_one(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    train(runtime)
    reader.ask()
    with counted(runtime) as statements:
        reader.ask()
    assert not [one for one in statements if "experiment" in one]
    assert runtime.live_model.pinned(()) == {}


def test_a_restart_keeps_the_experiment(runtime: Runtime, reader: Visitor, groups: Groups):
    row = start_rivals(runtime, groups)
    before = reader.order(limit=4)
    another = build_runtime(runtime.settings)
    again = Visitor(another, Person(id=reader.id, email="", token=""))
    assert again.ask().model.experiment == row.name
    assert again.order(limit=4) == before
    another.close()


@pytest.mark.parametrize("arm", list(Arm))
@pytest.mark.parametrize("how", ["damaged", "missing"])
def test_without_an_arm_the_live_model_answers_and_the_status_says_so(
    runtime: Runtime, reader: Visitor, groups: Groups, arm: Arm, how: str
):
    control = train(runtime).generation
    live = train(runtime).generation
    row = start(runtime, control, publish_rival(runtime, groups))
    broken = row.control_generation if arm is Arm.CONTROL else row.challenger_generation
    if how == "damaged":
        damage(runtime, broken)
    else:
        (runtime.settings.models_folder / broken).rename(runtime.settings.data_folder / "gone")
    made = reader.visit(limit=2)
    assert (made.model.generation, made.model.experiment) == (live, None)
    assert set(ids([item.paper for item in made.items])) == set(ids(groups["tides"][1:]))
    said = report(runtime).trouble
    assert said is not None
    assert broken in said
    assert arm.value in said


def test_a_start_that_was_cut_off_is_told_and_harmless(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_rivals(runtime, groups)
    registry = runtime.live_model.registry
    registry.drop_arms()
    assert reader.ask().model.experiment is None
    said = why_not_interleaved(registry, row)
    assert said is not None
    assert "does not name its arms" in said
    put_arms(registry, row)
    assert why_not_interleaved(registry, row) is None
    assert reader.ask().model.experiment == row.name


# ---- Starting and stopping -----------------------------------------------------------------------


def test_one_experiment_at_a_time(runtime: Runtime, groups: Groups):
    row = start_rivals(runtime, groups)
    arms = (row.control_generation, row.challenger_generation)
    with pytest.raises(Conflict, match="is running"):
        start(runtime, *arms, name="another")
    with runtime.writing() as session, pytest.raises(sa.exc.IntegrityError):
        session.execute(
            sa.insert(Experiment).values(
                public_id=row.public_id.__class__(int=1),
                name="by the back door",
                is_running=True,
                started_at=NOW,
                control_generation="a",
                challenger_generation="b",
                control_settings={},
                challenger_settings={},
                is_pinned=True,
                alpha=0.05,
                margin=0.1,
            )
        )
    stop(runtime, Decision.UNDECIDED)
    with pytest.raises(Conflict, match="another name"):
        start(runtime, *arms)
    start(runtime, *arms, name="another")
    with runtime.reading() as session:
        assert [one.is_running for one in experiments(session)].count(True) == 1


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": " "}, "name"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"margin": 0.5}, "margin"),
        ({"challenger": "000009-0123456789abcdef"}, "challenger"),
        ({"challenger": "../../etc"}, "challenger"),
        ({"challenger": "same"}, "challenger"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    runtime: Runtime, groups: Groups, wrong: dict[str, object], field: str
):
    control = train(runtime).generation
    other = train(runtime).generation
    values = {"control": control, "challenger": other, **wrong}
    if wrong.get("challenger") == "same":
        values["challenger"] = control
    with pytest.raises(InvalidInput) as refused:
        start(runtime, **values)
    assert refused.value.field == field
    assert runtime.live_model.registry.arms() is None


def test_a_stopped_experiment_leaves_the_live_model(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_rivals(runtime, groups)
    reader.ask()
    ended = stop(runtime, Decision.UNDECIDED)
    made = reader.ask(limit=2)
    assert (made.model.experiment, made.model.generation) == (None, row.control_generation)
    assert (ended.is_running, ended.stopped_at, ended.decision) == (
        None,
        SOON + DAY,
        Decision.UNDECIDED,
    )
    with pytest.raises(NotFound):
        stop(runtime, Decision.UNDECIDED)


def test_the_winner_is_adopted_only_if_there_is_one(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_rivals(runtime, groups)
    for none in (Decision.UNDECIDED, Decision.NO_DIFFERENCE):
        with pytest.raises(Conflict, match="Neither"):
            stop(runtime, none, adopt=True)
    assert reader.ask().model.experiment == row.name
    assert stop(runtime, Decision.CHALLENGER, adopt=True).adopted is Arm.CHALLENGER
    made = reader.ask(limit=2)
    assert made.model.generation == row.challenger_generation
    assert set(ids([item.paper for item in made.items])) == set(ids(groups["batteries"][1:]))


# ---- Training ------------------------------------------------------------------------------------


def rebuild(runtime: Runtime, **values: object) -> rebuilding.Rebuilt:
    registry = runtime.live_model.registry
    clock = iter(range(1_000)).__next__
    return rebuilding.rebuild(runtime.sessions, registry, now=SOON, clock=clock, **values)


def start_recipe(runtime: Runtime, **settings: object) -> Experiment:
    made = rebuild(runtime, challenger=settings)
    assert made.challenger is not None
    return start(runtime, made.generation, made.challenger, is_pinned=False)


def test_each_training_makes_both_arms_anew(runtime: Runtime, groups: Groups):
    row = start_recipe(runtime, term_weight=5.0)
    assert (row.control_settings, row.challenger_settings) == ({}, {"term_weight": 5.0})
    made = rebuild(runtime)
    registry = runtime.live_model.registry
    arms = registry.arms()
    assert arms is not None
    assert (arms.control, arms.challenger) == (made.generation, made.challenger)
    assert arms.control == registry.current()
    assert made.challenger not in {None, row.challenger_generation}
    assert registry.config_of(arms.challenger).term_weight == 5.0
    assert settings_of(registry.config_of(arms.control)) == {}
    stop(runtime, Decision.UNDECIDED)
    assert rebuild(runtime).challenger is None
    assert registry.arms() is None


def test_settings_that_can_make_no_difference_are_told(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    def hint(**settings: object) -> str:
        row = start_recipe(runtime, **settings)
        told = report(runtime).hint
        stop(runtime, Decision.UNDECIDED)
        with runtime.writing() as session:
            session.get_one(Experiment, row.id).name = str(settings)
            session.commit()
        return told or ""

    assert "the same model in both arms" in hint(factors=300), "12 papers fill 6 factors"
    assert "neighbours, term_weight: this is about what others read" in hint(
        term_weight=5.0, neighbours=10
    )
    assert hint(slope=0.2, term_weight=5.0) == ""
    Visitor(runtime, make_person(runtime, "Bob")).save(groups["tides"][1])
    assert hint(term_weight=4.0) == ""


def test_trainings_take_the_settings_that_were_adopted(runtime: Runtime, groups: Groups):
    start_recipe(runtime, term_weight=5.0)
    stop(runtime, Decision.CHALLENGER, adopt=True)
    registry = runtime.live_model.registry

    def settings() -> dict[str, object]:
        return dict(settings_of(registry.config_of(rebuild(runtime).generation)))

    assert settings() == {"term_weight": 5.0}
    made = rebuild(runtime, challenger={"alpha": 10.0})
    assert made.challenger is not None
    assert dict(settings_of(registry.config_of(made.challenger))) == {
        "term_weight": 5.0,
        "alpha": 10.0,
    }
    for is_changed in (True, False):
        with runtime.writing() as session:
            assert forget_adopted(session) is is_changed
            session.commit()
    assert settings() == {}


def at_share(share: float, act: Callable[[], object]) -> Callable[[str, float], None]:
    """Progress of a training in the midst of which something else happens, once."""
    left = [act]

    def progress(_stage: str, done: float) -> None:
        if left and done >= share:
            left.pop()()

    return progress


def live_settings(runtime: Runtime) -> dict[str, object]:
    registry = runtime.live_model.registry
    current = registry.current()
    assert current is not None
    return dict(settings_of(registry.config_of(current)))


@pytest.mark.parametrize("share", [0.01, 0.51], ids=["control", "challenger"])
def test_a_training_does_not_undo_an_adoption_in_its_midst(
    runtime: Runtime, groups: Groups, share: float
):
    start_recipe(runtime, term_weight=5.0)
    adopt = at_share(share, lambda: stop(runtime, Decision.CHALLENGER, adopt=True))
    made = rebuild(runtime, progress=adopt)
    registry = runtime.live_model.registry
    assert live_settings(runtime) == {"term_weight": 5.0}
    assert (registry.current(), made.challenger) == (made.generation, None), "it began again"
    assert registry.arms() is None


def test_a_winner_is_adopted_as_the_training_before_made_it(runtime: Runtime, groups: Groups):
    start_recipe(runtime, term_weight=5.0)
    made = rebuild(runtime)
    stop(runtime, Decision.CHALLENGER, adopt=True)
    registry = runtime.live_model.registry
    assert (registry.current(), registry.arms()) == (made.challenger, None)


@pytest.mark.parametrize("share", [0.01, 0.51], ids=["control", "challenger"])
def test_arms_are_not_put_back_after_a_stop(
    runtime: Runtime, reader: Visitor, groups: Groups, share: float
):
    start_recipe(runtime, term_weight=5.0)
    made = rebuild(runtime, progress=at_share(share, lambda: stop(runtime, Decision.UNDECIDED)))
    registry = runtime.live_model.registry
    assert (registry.arms(), made.challenger) == (None, None)
    assert registry.current() == made.generation
    assert reader.ask().model.experiment is None


def test_an_experiment_that_begins_during_a_training_keeps_its_control(
    runtime: Runtime, groups: Groups
):
    """The training began without it, and makes both arms anew before anything else answers."""
    rows: list[Experiment] = []

    def begin() -> None:
        if not rows:
            rows.append(start_recipe(runtime, term_weight=5.0))

    made = rebuild(runtime, progress=at_share(0.01, begin))
    registry = runtime.live_model.registry
    arms = registry.arms()
    assert arms is not None
    assert (arms.control, arms.challenger) == (made.generation, made.challenger)
    assert arms.control != rows[0].control_generation
    assert registry.current() == arms.control


def test_the_control_answers_although_a_training_ended_before_the_start(
    runtime: Runtime, groups: Groups
):
    registry = runtime.live_model.registry
    control = rebuild(runtime, challenger={"term_weight": 5.0})
    later = rebuild(runtime)
    assert registry.current() == later.generation
    row = start(runtime, control.generation, str(control.challenger), is_pinned=False)
    assert registry.current() == row.control_generation


def test_settings_that_are_forgotten_during_a_training_do_not_come_back(
    runtime: Runtime, groups: Groups
):
    start_recipe(runtime, term_weight=5.0)
    stop(runtime, Decision.CHALLENGER, adopt=True)

    def revert() -> None:
        with runtime.writing() as session:
            forget_adopted(session)
            session.commit()

    rebuild(runtime, progress=at_share(0.01, revert))
    assert live_settings(runtime) == {}


@pytest.mark.parametrize("adopt", [False, True])
def test_a_stop_that_was_cut_off_is_harmless_and_made_good_by_a_training(
    runtime: Runtime, reader: Visitor, groups: Groups, adopt: bool
):
    row = start_recipe(runtime, term_weight=5.0)
    registry = runtime.live_model.registry
    with runtime.writing() as session:  # and nothing follows it
        stop_experiment(session, registry, Decision.CHALLENGER, adopt=adopt, now=SOON + DAY)
        session.commit()
    assert registry.current() == row.control_generation
    assert reader.ask().model.experiment is None
    rebuild(runtime)
    assert live_settings(runtime) == ({"term_weight": 5.0} if adopt else {})
    assert registry.arms() is None


def test_a_decision_on_one_experiment_does_not_stop_the_next(runtime: Runtime, groups: Groups):
    first = start_recipe(runtime, term_weight=5.0)
    stop(runtime, Decision.UNDECIDED)
    made = rebuild(runtime, challenger={"term_weight": 4.0})
    start(runtime, made.generation, str(made.challenger), is_pinned=False, name="the next")
    registry = runtime.live_model.registry
    with runtime.writing() as session, pytest.raises(Conflict, match="Another experiment"):
        stop_experiment(
            session,
            registry,
            Decision.CHALLENGER,
            adopt=True,
            now=SOON + DAY,
            judged=first.public_id,
        )
    with runtime.reading() as session:
        assert experiments(session)[0].is_running


def test_a_stop_that_is_not_committed_leaves_everything(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    row = start_recipe(runtime, term_weight=5.0)
    registry = runtime.live_model.registry
    before = registry.arms()
    with runtime.writing() as session:
        stop_experiment(session, registry, Decision.CHALLENGER, adopt=True, now=SOON + DAY)
    assert (registry.arms(), registry.current()) == (before, row.control_generation)
    with runtime.reading() as session:
        assert experiments(session)[0].is_running


def test_a_late_end_of_a_stop_does_not_undo_a_training(runtime: Runtime, groups: Groups):
    start_recipe(runtime, term_weight=5.0)
    registry = runtime.live_model.registry
    with runtime.writing() as session:
        stop_experiment(session, registry, Decision.CHALLENGER, adopt=True, now=SOON + DAY)
        session.commit()
    made = rebuild(runtime)
    with runtime.writing() as session:
        settle(session, registry)
    assert registry.current() == made.generation


def test_nothing_is_stopped_while_generations_are_swapped(runtime: Runtime, groups: Groups):
    if runtime.sessions.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time, whatever it writes")
    start_rivals(runtime, groups)
    registry = runtime.live_model.registry
    with runtime.writing() as swapping, runtime.writing() as stopping:
        held_plan(swapping)
        stopping.execute(sa.text("SET LOCAL lock_timeout = '50ms'"))
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            stop_experiment(stopping, registry, Decision.UNDECIDED, adopt=False, now=SOON)


def test_a_winner_that_is_damaged_is_not_adopted(runtime: Runtime, groups: Groups):
    row = start_recipe(runtime, term_weight=5.0)
    damage(runtime, row.challenger_generation)
    with pytest.raises(Conflict, match="cannot be adopted"):
        stop(runtime, Decision.CHALLENGER, adopt=True)
    assert runtime.live_model.registry.current() == row.control_generation


def test_pinned_arms_outlive_trainings(runtime: Runtime, reader: Visitor, groups: Groups):
    row = start_rivals(runtime, groups)
    for _ in range(rebuilding.KEPT_GENERATIONS + 2):
        latest = train(runtime).generation
    assert runtime.live_model.registry.current() == latest
    made = reader.ask(limit=4)
    assert made.model.generation == row.control_generation
    assert {item.generation for item in made.items} == {
        row.control_generation,
        row.challenger_generation,
    }


def test_a_challenger_that_is_not_fit_leaves_the_arms_as_they_were(
    runtime: Runtime, groups: Groups, monkeypatch: pytest.MonkeyPatch
):
    start_recipe(runtime, term_weight=5.0)
    before = runtime.live_model.registry.arms()
    real = rebuilding.train

    def spoiled(data, config, **options):
        model = real(data, config, **options)
        if config.term_weight == 5.0:
            model.people[:] = np.nan
        return model

    monkeypatch.setattr(rebuilding, "train", spoiled)
    for _ in range(rebuilding.KEPT_GENERATIONS + 2):
        with pytest.raises(ModelRefused):
            rebuild(runtime)
    assert runtime.live_model.registry.arms() == before
    folder = runtime.settings.models_folder
    kept = [path for path in folder.iterdir() if path.is_dir() and path.name[0].isdigit()]
    at_most = rebuilding.KEPT_GENERATIONS + 2  # and the two arms
    assert len(kept) <= at_most, "what a refused training made does not pile up"


@pytest.mark.parametrize(
    "word", ["factors=many", "factors=0", "factors=-1", "nothing=1", "factors", "threads=4",
             "alpha=nan", "alpha=inf", "factors=1.5", "diversity=1"]
)  # fmt: skip
def test_settings_that_cannot_be_are_named(word: str):
    with pytest.raises(InvalidInput) as refused:
        parse_settings([word])
    assert refused.value.field == "settings"
    assert parse_settings(["factors=128", "term_weight=2"]) == {"factors": 128, "term_weight": 2.0}


# ---- The report ----------------------------------------------------------------------------------


def visitors(runtime: Runtime, groups: Groups, n: int) -> list[Visitor]:
    made = [Visitor(runtime, make_person(runtime, f"Visitor{number}")) for number in range(n)]
    for one in made:
        one.save(groups["tides"][0])
    return made


def test_who_saves_what_the_challenger_proposes_lets_it_win(runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    for one in visitors(runtime, groups, 15):
        one.take(one.visit(limit=4), groups["batteries"][1], groups["batteries"][2])
    during = report(runtime, now=SOON)
    assert (during.decision, during.saves.days_not_over, during.saves.wins) == ("undecided", 15, 0)
    after = report(runtime)
    assert (after.decision, after.decided_on) == (Decision.CHALLENGER, SOON.date())
    assert (after.saves.wins, after.saves.losses, after.saves.ties) == (15, 0, 0)
    assert (after.n_slates, after.n_people, after.saves.estimate) == (15, 15, 1.0)
    assert after.saves.e_value > 20
    assert after.saves.low > 0.5
    assert "challenger wins" in after.in_words
    by_arm = {of: sum(p.saves for p in after.places if p.of == of) for of in Arm}
    assert by_arm == {Arm.CONTROL: 0, Arm.CHALLENGER: 30}
    assert sum(place.impressions for place in after.places) == 60


def test_a_person_has_one_voice_a_day(runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    (one,) = visitors(runtime, groups, 1)
    first, second = one.visit(limit=4), one.visit(limit=4)
    one.take(first, groups["batteries"][1], groups["tides"][1])
    one.take(second, groups["batteries"][2])
    assert (report(runtime).saves.wins, report(runtime).saves.losses) == (1, 0)
    one.take(second, groups["tides"][2])
    assert (report(runtime).saves.wins, report(runtime).saves.ties) == (0, 1)


def test_a_later_day_is_another_voice_and_saving_again_is_none(runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    (one,) = visitors(runtime, groups, 1)
    slate = one.visit(limit=4)
    one.take(slate, groups["batteries"][1])
    one.take(slate, groups["tides"][1], now=SOON + DAY)
    for _ in range(2):
        one.look(slate, groups["tides"][1], now=SOON + DAY)
    said = report(runtime, now=SOON + 2 * DAY)
    assert (said.saves.wins, said.saves.losses) == (1, 1)
    assert (said.opens.wins, said.opens.losses) == (0, 1)
    assert said.decision is Decision.UNDECIDED, "opens decide nothing"
    assert sum(place.opens for place in said.places) == 1


def test_a_report_of_nothing_says_so(runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    said = report(runtime)
    assert (said.n_slates, said.saves.estimate, said.saves.e_value) == (0, None, 1.0)
    assert (said.saves.low, said.saves.high, said.places) == (0.0, 1.0, ())
    assert "Keep watching" in said.in_words


def test_what_was_decided_at_the_stop_stays(runtime: Runtime, groups: Groups):
    start_rivals(runtime, groups)
    (one,) = visitors(runtime, groups, 1)
    slate = one.visit(limit=4)
    one.take(slate, groups["batteries"][1])
    stop(runtime, Decision.UNDECIDED)
    one.take(slate, groups["tides"][1], now=SOON + 5 * DAY)
    said = report(runtime, now=SOON + 9 * DAY)
    assert (said.decision, said.saves.wins, said.saves.losses) == (Decision.UNDECIDED, 1, 0)


def test_the_use_of_slates_is_counted_by_generation_and_position(
    runtime: Runtime, reader: Visitor, groups: Groups
):
    untrained = reader.visit(limit=2)
    generation = train(runtime).generation
    made = reader.visit(limit=3)
    reader.look(made, made.items[0].paper)
    reader.look(made, made.items[0].paper)
    reader.take(made, made.items[0].paper, made.items[2].paper)
    with runtime.reading() as session:
        use = use_of_slates(session, since=SOON)
        assert use_of_slates(session, since=SOON + DAY) == ()
    counts = {(p.of, p.position): (p.impressions, p.opens, p.saves, p.explored) for p in use}
    assert untrained.model.generation is None
    assert counts == {
        (None, 1): (1, 0, 0, 0),
        (None, 2): (1, 0, 0, 0),
        (generation, 1): (1, 1, 1, 0),
        (generation, 2): (1, 0, 0, 0),
        (generation, 3): (1, 0, 1, 0),
    }


def test_no_experiment_is_in_the_use_of_slates(runtime: Runtime, reader: Visitor, groups: Groups):
    start_rivals(runtime, groups)
    reader.visit(limit=4)
    with runtime.reading() as session:
        assert use_of_slates(session, since=NOW) == ()


def test_an_e_value_beyond_floats_is_a_number_still():
    from service.recommend.use_report import _preference

    said = _preference({SOON.date(): [1] * 5_000}, (SOON + DAY).date(), 0.05)
    assert math.isfinite(said.e_value)
