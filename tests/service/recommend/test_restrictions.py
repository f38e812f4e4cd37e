"""Which papers a wish leaves, what is said of names that are not there, and of empty answers."""

from datetime import date, timedelta

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from service.db import scope
from service.errors import InvalidInput
from service.library.keeping import keep
from service.library.records import Kept
from service.recommend.records import Wish
from service.recommend.restrictions import earliest_year, near_names
from service.recommend.serve import log_slate, recommend
from service.runtime import Runtime
from service.tables import FeedbackKind, Impression, Paper
from tests.factories import NOW, Person, make_paper, make_papers
from tests.service.recommend.shelf import GROUPS, SOON, Reader, add_listing, add_text, ids, train


@pytest.fixture
def reader(runtime: Runtime, alice: Person) -> Reader:
    return Reader(runtime, alice)


def asked(reader: Reader, **wish: object) -> set[int]:
    return set(reader.order(limit=100, **wish))


def refused(reader: Reader, **wish: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        reader.ask(**wish)
    return caught.value


def test_papers_of_one_venue_or_of_several(runtime: Runtime, reader: Reader):
    papers = {name: make_paper(runtime, venue=name).id for name in ("ICML", "École d'Été", "KDD")}
    make_paper(runtime, venue=None)
    assert asked(reader, venues=("icml",)) == {papers["ICML"]}
    assert asked(reader, venues=("École d'Été",)) == {papers["École d'Été"]}
    assert asked(reader, venues=("KDD", "Icml")) == {papers["KDD"], papers["ICML"]}


def test_years_and_days_with_the_precision_there_is(runtime: Runtime, reader: Reader):
    papers = {year: make_paper(runtime, year=year).id for year in (2023, 2024, 2025, None)}
    assert asked(reader, year_to=2024) == {papers[2023], papers[2024]}
    assert asked(reader, year_from=2024, year_to=2024) == {papers[2024]}
    assert asked(reader, published_after=date(2024, 6, 30)) == {papers[2024], papers[2025]}
    assert asked(reader, published_after=date(2024, 12, 31)) == {papers[2025]}
    wrong = refused(reader, year_from=2025, year_to=2024)
    assert (wrong.field, str(wrong)) == ("year_to", "year_to=2024 is before year_from=2025.")


@given(st.dates())
def test_a_year_that_is_over_is_left_out(day: date):
    year = earliest_year(day)
    assert year == (day + timedelta(days=1)).year if day < date.max else year == day.year


def test_a_name_that_is_not_there_is_answered_with_names_that_are(runtime: Runtime, reader: Reader):
    for venue in ("ICML 2026", "ICML 2025", "NeurIPS 2025"):
        make_paper(runtime, venue=venue)
    add_listing(runtime)
    error = refused(reader, venues=("ICML 2026", "ICLM 2026"))
    assert error.field == "venue"
    assert "ICLM 2026" in str(error)
    assert "Did you mean ICML 2026 or" in str(error)
    error = refused(reader, list_name="icml 2026")
    assert (error.field, str(error)) == (
        "list_name",
        "No paper has the listing icml 2026. Did you mean ICML 2026 Papers?",
    )
    assert "Did you mean" not in str(refused(reader, venues=("Zoology Letters",)))


def test_near_names():
    known = ["NeurIPS", "ICML 2026", "ICML", "ICLR", "Journal of Machine Learning Research"]
    assert near_names("icml 26", known)[:1] == ["ICML"]
    assert near_names("NIPS", known)[:1] == ["NeurIPS"]
    assert near_names("machine learning", known) == ["Journal of Machine Learning Research"]
    assert near_names("xyzzy", known) == []
    assert len(near_names("icml", [f"ICML {year}" for year in range(1990, 2026)])) == 3


def test_an_empty_answer_says_what_was_asked_or_what_is_known(runtime: Runtime, reader: Reader):
    old, _ = make_paper(runtime, venue="ICML", year=2001), make_paper(runtime, venue="KDD")
    nothing = reader.ask(venues=("ICML",), year_from=2020)
    assert nothing.items == ()
    assert "no paper in the catalogue fits the request (venue, year_from)" in nothing.explanation
    reader.save(old)
    known = reader.ask(venues=("ICML",))
    assert known.items == ()
    assert "you know the one paper that fits the request (venue)" in known.explanation


def test_the_version_that_fits_is_shown(runtime: Runtime, reader: Reader):
    preprint = make_paper(runtime, venue="arXiv", year=2024)
    published = make_paper(runtime, venue="ICML", year=2025)
    with runtime.writing() as session:
        session.get_one(Paper, published.id).work_id = preprint.work_id
        session.commit()
    assert asked(reader, venues=("ICML",)) == {published.id}
    assert asked(reader, year_to=2024) == {preprint.id}
    assert asked(reader, venues=("arXiv",), year_from=2025) == set(), "no version is both"
    assert len(asked(reader)) == 1


def test_papers_can_be_left_out_for_once(runtime: Runtime, reader: Reader):
    first, *others = make_papers(runtime, 4)
    assert asked(reader, exclude=(first.public_id,)) == set(ids(others))
    assert asked(reader) == set(ids([first, *others]))


def test_tags_can_be_left_out_of_ones_taste(runtime: Runtime, reader: Reader):
    groups = add_listing(runtime)
    reader.save(groups["tides"][0], tags=("Hobby",))
    reader.save(groups["parsing"][0])
    found = reader.order(exclude_tags=("hobby",))
    assert set(found[:2]) == set(ids(groups["parsing"][1:]))
    assert groups["tides"][0].id not in asked(reader, exclude_tags=("hobby",)), "it is known still"
    assert refused(reader, exclude_tags=("none",)).field == "exclude_tag"
    reader.dismiss(groups["parsing"][0], FeedbackKind.SEEN)
    assert reader.ask(exclude_tags=("hobby",)).items


def test_ones_taste_can_be_that_of_a_collection(runtime: Runtime, reader: Reader):
    groups = add_listing(runtime)
    reader.save(groups["tides"][0], groups["parsing"][0], groups["batteries"][0])
    with scope(runtime.writing(), reader.id) as session:
        for group, path in (("tides", ("Thesis", "Seas")), ("parsing", ("Words/Texts",))):
            kept = Kept(collections=(path,))
            keep(session, reader.id, groups[group][0], kept, now=SOON)
        session.commit()
    for wanted in ("thesis", "Thesis/Seas", "Thesis/"):
        found = reader.order(collection=wanted)
        assert set(found[:2]) == set(ids(groups["tides"][1:])), wanted
    assert set(reader.order(collection="words/texts")[:2]) == set(ids(groups["parsing"][1:]))
    made = reader.ask(collection="Thesis")
    assert made.explanation.startswith("Chosen by your papers in this collection")
    error = refused(reader, collection="Thesis/Sea")
    assert (error.field, str(error)) == (
        "collection",
        "You have no collection Thesis/Sea. Did you mean Thesis/Seas?",
    )


def test_a_collection_of_somebody_else_is_not_there(runtime: Runtime, reader: Reader, bob: Person):
    paper = make_paper(runtime)
    with scope(runtime.writing(), bob.id) as session:
        keep(session, bob.id, paper, Kept(collections=(("Thesis",),)), now=SOON)
        session.commit()
    assert refused(reader, collection="Thesis").field == "collection"


# ---- What came while the list was made ---------------------------------------------------------


def test_papers_that_this_reader_cannot_see_yet_take_no_places(
    runtime: Runtime, reader: Reader, alice: Person
):
    """Another reader lets the model grow while this one still reads its snapshot."""
    groups = add_listing(runtime)
    reader.save(groups["tides"][0])
    with scope(runtime.reading(), alice.id) as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(Paper))  # it begins here
        texts = GROUPS["tides"]
        newer = [add_text(runtime, f"{texts[1]} Again, {n}.") for n in range(30)]
        assert set(reader.order(limit=20)) & set(ids(newer)), "others get them at once"
        made = recommend(
            session,
            runtime.live_model,
            alice.id,
            Wish(limit=3),
            now=SOON,
            rng=np.random.default_rng(0),
        )
        assert len(made.items) == 3


# ---- Twins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
@pytest.mark.parametrize("kind", ["saved", "later", "not my topic"])
def test_the_unjoined_twin_of_a_known_paper_is_not_shown(
    runtime: Runtime, reader: Reader, kind: str, is_trained: bool
):
    add_listing(runtime)
    one, two, three = GROUPS["tides"]
    mine = add_text(runtime, f"{one} {two} {three}")
    by_text = add_text(runtime, f"{three} Moreover: {one} {two}")
    titled = make_paper(runtime, title="Tides of Shallow Waters", abstract=None)
    by_title = make_paper(runtime, title="Tides of shallow waters", abstract="On tides. " * 9)
    part_two = make_paper(runtime, title="Tides of shallow waters II", abstract=None)
    assert len({p.work_id for p in (mine, by_text, titled, by_title)}) == 4
    if is_trained:
        train(runtime)
    assert len(asked(reader) & {titled.id, by_title.id}) == 1
    for paper in (mine, titled):
        if kind == "saved":
            reader.save(paper)
        elif kind == "later":
            reader.dismiss(paper, FeedbackKind.LATER, timedelta(days=7))
        else:
            reader.dismiss(paper, FeedbackKind.NOT_MY_TOPIC)
    found = asked(reader)
    assert not found & {mine.id, by_text.id, titled.id, by_title.id}
    assert part_two.id in found


# ---- Exploration and freshness -----------------------------------------------------------------


def test_what_was_drawn_is_said_and_logged_with_its_chance(runtime: Runtime, reader: Reader):
    make_papers(runtime, 30)
    made = reader.ask(limit=8, exploration=0.25)
    assert [item.explored for item in made.items] == [False] * 6 + [True] * 2
    assert [item.propensity for item in made.items] == pytest.approx([1.0] * 6 + [2 / 24] * 2)
    with scope(runtime.writing(), reader.id) as session:
        log_slate(session, reader.id, made, now=SOON)
        session.commit()
    with scope(runtime.reading(), reader.id) as session:
        logged = session.scalars(sa.select(Impression.propensity).order_by(Impression.position))
        assert logged.all() == pytest.approx([item.propensity for item in made.items])


def test_freshness_lifts_new_papers_and_the_account_stays_exact(runtime: Runtime, reader: Reader):
    add_listing(runtime, year=2010, now=NOW)
    mine = add_text(runtime, "Tides and surge in estuaries from gauges.", year=2010)
    new = add_text(runtime, "Gauges and surge of tides near batteries and lithium.", year=2026)
    reader.save(mine)

    def place(freshness: float) -> int:
        made = reader.ask(limit=100, freshness=freshness)
        for item in made.items:
            shares = sum(reason.amount for reason in item.because) + item.others
            assert shares + item.parts.get("freshness", 0) == pytest.approx(item.score, abs=1e-5)
            assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)
        return ids([item.paper for item in made.items]).index(new.id)

    assert place(1.0) <= place(0.0)
    fresh = next(i for i in reader.ask(freshness=1.0).items if i.paper.id == new.id)
    assert fresh.parts["freshness"] == pytest.approx(fresh.score / 2, rel=1e-4)
