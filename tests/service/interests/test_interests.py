"""Interests through the database: what a person sets for them outlives saves and trainings."""

from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from models.ranking import interest_groups
from service.catalogue.actions import add_paper
from service.catalogue.records import NewPaper
from service.db import scope
from service.errors import Conflict, InvalidInput, NotFound, PreconditionFailed
from service.interests.actions import change_interest, merge_interest, undo_merge
from service.interests.records import InterestChange
from service.library.actions import remove_bookmark
from service.recommend.effect import basis, effect_since
from service.recommend.explanations import explain_paper
from service.recommend.interests import (
    papers_page,
    read_interests,
    remember_interests,
    summaries,
    summary_of,
)
from service.recommend.records import InterestSummary, PaperExplanation, Standing, Wish
from service.runtime import Runtime
from service.tables import Bookmark, FeedbackKind, Interest, Paper, PaperSource
from tests.factories import NOW, Person
from tests.models.topics import TOPICS, documents
from tests.service.recommend.shelf import SOON, Reader, train

Shelf = dict[str, list[Paper]]


@pytest.fixture
def shelf(runtime: Runtime) -> Shelf:
    """Forty papers on each of three topics."""
    texts, _ = documents(each=40)
    with runtime.writing() as session:
        papers = [
            add_paper(
                session, NewPaper(source=PaperSource.PERSON, abstract=text, year=2026), now=NOW
            )[0]
            for text in texts
        ]
        session.commit()
    return {topic: papers[40 * n : 40 * n + 40] for n, topic in enumerate(TOPICS)}


class Interested(Reader):
    """A reader who looks at their interests, as the doors do."""

    def interests(self) -> list[InterestSummary]:
        with scope(self.runtime.reading(), self.id) as session:
            mine = read_interests(session, self.runtime.live_model, self.id, now=SOON)
            if mine.still_fit:
                return summaries(session, mine)
        with scope(self.runtime.writing(), self.id) as session:
            remember_interests(session, self.runtime.live_model, self.id, now=SOON)
            session.commit()
        return self.interests()

    def about(self, topic: str) -> InterestSummary:
        words = set(TOPICS[topic].split())
        return next(one for one in self.interests() if set(one.terms[:2]) <= words)

    def change(self, interest: InterestSummary, **change: object) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            made = InterestChange(**change)
            change_interest(session, self.id, interest.id, made, expected_version=None)
            session.commit()

    def merge(self, interest: InterestSummary, into: InterestSummary) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            merge_interest(session, self.id, interest.id, into.id)
            remember_interests(session, self.runtime.live_model, self.id, now=SOON)
            session.commit()

    def split(self, interest_id: UUID) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            undo_merge(session, self.id, interest_id, expected_version=None)
            session.commit()

    def unsave_all(self, papers: list[Paper]) -> None:
        with scope(self.runtime.writing(), self.id) as session:
            wanted = sa.select(Bookmark.public_id).where(
                Bookmark.paper_id.in_([paper.id for paper in papers])
            )
            for bookmark_id in session.scalars(wanted).all():
                remove_bookmark(session, self.id, bookmark_id, expected_version=None, now=SOON)
            session.commit()


@pytest.fixture
def reader(runtime: Runtime, shelf: Shelf, alice: Person) -> Interested:
    """Twenty papers about tides and ten about parsing are saved; nothing is trained yet."""
    made = Interested(runtime, alice)
    made.save(*shelf["tides"][:20], *shelf["parsing"][:10])
    return made


def topics(shelf: Shelf, papers: list[Paper]) -> list[str]:
    return [next(t for t, own in shelf.items() if p.id in {x.id for x in own}) for p in papers]


def recommended(shelf: Shelf, reader: Interested, **wish: object) -> list[str]:
    return topics(shelf, [item.paper for item in reader.ask(limit=20, **wish).items])


def test_the_library_shows_as_interests_with_names(reader: Interested, shelf: Shelf):
    tides, parsing = reader.interests()
    assert [tides.n_papers, parsing.n_papers] == [20, 10]
    assert [tides.share, parsing.share] == pytest.approx([2 / 3, 1 / 3], abs=0.01)
    assert tides.name == tides.derived_name == ", ".join(tides.terms[:3])
    assert set(tides.terms[:3]) <= set(TOPICS["tides"].split()), "words, not stems"
    assert topics(shelf, list(parsing.papers)) == ["parsing"] * 3


def test_an_interest_shows_the_version_that_was_saved(
    reader: Interested, shelf: Shelf, runtime: Runtime
):
    """Others of the work have come before, and have an abstract too."""
    before, saved = shelf["parsing"][30], shelf["parsing"][31]
    reader.save(saved)
    with runtime.writing() as session:
        session.get_one(Paper, saved.id).work_id = before.work_id
        session.commit()
    _, parsing = reader.interests()
    with scope(runtime.reading(), reader.id) as session:
        mine = read_interests(session, runtime.live_model, reader.id, now=SOON)
        page = papers_page(session, mine, parsing.id, after=0, limit=100)
        shown = {paper.id for _, paper in page}
    assert saved.id in shown
    assert before.id not in shown


def test_looking_twice_writes_once(reader: Interested, runtime: Runtime):
    first = reader.interests()
    with scope(runtime.reading(), reader.id) as session:
        assert read_interests(session, runtime.live_model, reader.id, now=SOON).still_fit
        assert len(session.scalars(sa.select(Interest)).all()) == 2
    assert [one.id for one in reader.interests()] == [one.id for one in first]


def test_settings_outlive_five_saves_and_a_training(
    reader: Interested, shelf: Shelf, runtime: Runtime
):
    tides, parsing = reader.interests()
    reader.change(parsing, renamed=True, name="Grammar", weight=2.0)
    reader.save(*shelf["parsing"][10:13], *shelf["tides"][20:22])
    train(runtime)
    after = {one.id: one for one in reader.interests()}
    assert set(after) == {tides.id, parsing.id}
    assert (after[parsing.id].name, after[parsing.id].weight) == ("Grammar", 2.0)
    assert (after[parsing.id].n_papers, after[tides.id].n_papers) == (13, 22)
    reader.change(parsing, renamed=True, name=None)
    assert reader.about("parsing").name == reader.about("parsing").derived_name


def test_what_is_set_outlives_a_training_that_finds_no_groups(
    reader: Interested, shelf: Shelf, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
):
    tides, parsing = reader.interests()
    reader.change(parsing, renamed=True, name="Grammar", muted=True)
    reader.change(tides, weight=4.0)
    monkeypatch.setattr(
        interest_groups, "LEAST_STABILITY", 2.0
    )  # no grouping is good enough any more
    train(runtime)
    after = {one.id: one for one in reader.interests()}
    assert {one.id: one.n_papers for one in after.values()} == {tides.id: 20, parsing.id: 10}
    assert (after[parsing.id].name, after[parsing.id].muted) == ("Grammar", True)
    assert after[tides.id].weight == 4
    assert "parsing" not in recommended(shelf, reader)


def test_a_muted_interest_is_gone_from_the_very_next_answer(reader: Interested, shelf: Shelf):
    parsing = reader.about("parsing")
    assert "parsing" in recommended(shelf, reader)
    reader.change(parsing, muted=True)
    assert "parsing" not in recommended(shelf, reader)
    assert reader.about("parsing").share == 0
    reader.change(parsing, muted=False)
    assert "parsing" in recommended(shelf, reader)


def test_a_recommendation_names_its_interest(reader: Interested, shelf: Shelf):
    names = {one.id: one.name for one in reader.interests()}
    made = reader.ask(limit=20)
    for item, topic in zip(made.items, topics(shelf, [i.paper for i in made.items]), strict=True):
        assert item.interest is not None
        assert item.interest.name == names[item.interest.id]
        assert item.interest.id == reader.about(topic).id


def test_one_interest_can_be_asked_for_even_muted(reader: Interested, shelf: Shelf):
    parsing = reader.about("parsing")
    reader.change(parsing, muted=True)
    assert recommended(shelf, reader, interest=parsing.id) == ["parsing"] * 20
    with pytest.raises(InvalidInput) as refused:
        reader.ask(interest=uuid4())
    assert refused.value.field == "interest"


def test_merged_interests_stay_merged(reader: Interested, shelf: Shelf, runtime: Runtime):
    tides, parsing = reader.interests()
    reader.merge(parsing, into=tides)
    (both,) = reader.interests()
    assert (both.id, both.n_papers, both.share) == (tides.id, 30, pytest.approx(1))
    assert [one.id for one in both.merged] == [parsing.id]
    reader.save(*shelf["parsing"][10:14])
    train(runtime)
    (both,) = reader.interests()
    assert (both.id, both.n_papers) == (tides.id, 34)
    reader.split(parsing.id)
    assert {one.id: one.n_papers for one in reader.interests()} == {tides.id: 20, parsing.id: 14}


def test_a_merged_interest_is_shown_with_what_it_is_a_part_of(reader: Interested, runtime: Runtime):
    tides, parsing = reader.interests()
    reader.merge(parsing, into=tides)
    with scope(runtime.reading(), reader.id) as session:
        mine = read_interests(session, runtime.live_model, reader.id, now=SOON)
        shown = summary_of(session, mine, parsing.id)
    assert (shown.merged_into, shown.n_papers, shown.share) == (tides.id, 10, 0)
    with pytest.raises(Conflict):
        reader.change(parsing, muted=True)


def test_what_can_not_be_merged_is_refused(reader: Interested):
    tides, parsing = reader.interests()
    with pytest.raises(InvalidInput):
        reader.merge(tides, into=tides)
    with pytest.raises(NotFound):
        reader.split(tides.id)
    reader.merge(parsing, into=tides)
    reader.merge(parsing, into=tides)
    with pytest.raises(InvalidInput):
        reader.merge(tides, into=parsing)


def test_an_emptied_interest_comes_back_with_its_settings(reader: Interested, shelf: Shelf):
    parsing = reader.about("parsing")
    reader.change(parsing, renamed=True, name="Grammar")
    reader.unsave_all(shelf["parsing"])
    assert [one.id == parsing.id for one in reader.interests()] == [False]
    reader.save(*shelf["parsing"][:8])
    assert reader.about("parsing").name == "Grammar"
    assert reader.about("parsing").id == parsing.id


def test_not_my_topic_takes_from_the_interest_until_it_is_undone(
    reader: Interested, shelf: Shelf, runtime: Runtime
):
    before = reader.about("parsing").share
    for paper in shelf["parsing"][30:33]:
        reader.dismiss(paper, FeedbackKind.NOT_MY_TOPIC)
    assert reader.about("parsing").share < 0.7 * before
    reader.undo()
    assert reader.about("parsing").share == pytest.approx(before)


def test_a_change_of_an_old_version_is_refused(reader: Interested, runtime: Runtime):
    parsing = reader.about("parsing")
    reader.change(parsing, weight=2.0)
    with (
        scope(runtime.writing(), reader.id) as session,
        pytest.raises(PreconditionFailed),
    ):
        change_interest(
            session, reader.id, parsing.id, InterestChange(weight=3.0), expected_version=1
        )


def test_settings_are_no_change_of_the_library(reader: Interested, shelf: Shelf):
    version = reader.ask().library_version
    reader.change(reader.about("parsing"), muted=True)
    assert reader.ask().library_version == version


def test_interests_are_known_by_a_bounded_number_of_papers(
    reader: Interested, shelf: Shelf, runtime: Runtime
):
    reader.interests()
    with scope(runtime.reading(), reader.id) as session:
        rows = session.scalars(sa.select(Interest)).all()
    assert sorted(len(row.anchors) for row in rows) == [10, 20]


def told(reader: Interested, paper: Paper, *, tried: int = 0, **wish: object) -> PaperExplanation:
    live = reader.runtime.live_model
    with scope(reader.runtime.reading(), reader.id) as session:
        return explain_paper(
            session, live, reader.id, paper, Wish(**wish), now=SOON, counterfactuals=tried
        )


def test_an_explanation_counts_interests_as_the_list_does(reader: Interested, shelf: Shelf):
    parsing = reader.about("parsing")
    reader.change(parsing, weight=3.0)
    for wish in ({}, {"interest": parsing.id}):
        made = reader.ask(limit=3, diversity=0.0, **wish)
        for item in made.items:
            found = told(reader, item.paper, **wish)
            assert found.score == item.score
            assert {part.name: part.amount for part in found.parts} == dict(item.parts)
    reader.change(parsing, muted=True)
    found = told(reader, shelf["parsing"][30])
    assert (found.standing, found.rank) == (Standing.MUTED, None)
    assert found.summary.startswith("It belongs to an interest that you muted")
    assert "-0.00" not in found.summary
    assert "nothing that counts" not in found.summary
    assert told(reader, shelf["tides"][30]).standing is Standing.CANDIDATE


def test_a_dismissal_in_a_muted_interest_changes_nothing(
    reader: Interested, shelf: Shelf, runtime: Runtime
):
    reader.change(reader.about("parsing"), muted=True)
    with scope(runtime.reading(), reader.id) as session:
        before = basis(session, reader.id, now=SOON)
    reader.dismiss(shelf["parsing"][30], FeedbackKind.SEEN)
    with scope(runtime.reading(), reader.id) as session:
        effect = effect_since(session, runtime.live_model, reader.id, before, now=SOON)
    assert effect.changed_of_top_50 == 0


def list_without(reader: Interested, paper: Paper) -> list[int]:
    """All that would be recommended to who never met the paper, but for the paper, by score."""
    return reader.order(limit=120, diversity=0.0, exclude=(paper.public_id,))


def test_without_a_dismissal_its_interest_has_its_weight_back(reader: Interested, shelf: Shelf):
    reader.interests()
    tried = shelf["tides"][20]
    reader.dismiss(tried, FeedbackKind.NOT_MY_TOPIC)
    before = reader.order(limit=120, diversity=0.0)
    ranks = {}
    for paper in (shelf["tides"][30], shelf["parsing"][30], shelf["batteries"][30]):
        found = told(reader, paper, tried=5)
        assert found.rank == before.index(paper.id) + 1
        (against,) = (reason for reason in found.papers if reason.paper.id == tried.id)
        ranks[paper.id] = against.rank_without
    reader.undo()
    after = list_without(reader, tried)
    assert ranks == {key: after.index(key) + 1 for key in ranks}


def test_without_a_liked_paper_the_interests_are_those_of_the_others(
    reader: Interested, shelf: Shelf
):
    reader.unsave_all([*shelf["tides"][4:20], *shelf["parsing"][4:10]])
    reader.change(reader.about("tides"), weight=3.0)
    target, gone = shelf["parsing"][30], shelf["tides"][0]
    found = told(reader, target, tried=8)
    (brought,) = (reason for reason in found.papers if reason.paper.id == gone.id)
    reader.unsave_all([gone])
    assert brought.rank_without == list_without(reader, gone).index(target.id) + 1
