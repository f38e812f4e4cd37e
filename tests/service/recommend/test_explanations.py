"""Why a paper is recommended, in words, and what that may say of other people."""

from datetime import timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from service.db import UnscopedQuery, scope, scoped_to
from service.errors import InvalidInput, TemporarilyUnavailable
from service.recommend.explanations import explain_paper
from service.recommend.readers import FEWEST_READERS, readers_of_both
from service.recommend.reasons import with_compounds, words_in_common
from service.recommend.records import Deed, PaperExplanation, Reason, Standing, Wish
from service.recommend.wording import sentence_of
from service.runtime import Runtime
from service.tables import Bookmark, CatalogueState, FeedbackKind, Paper, ReadingStatus
from tests.doors.api.test_query_counts import counted
from tests.factories import make_papers, make_person
from tests.service.recommend.shelf import SOON, Groups, Reader, add_text, train


def explain(reader: Reader, paper: Paper, *, tried: int = 5, **wish: object) -> PaperExplanation:
    live = reader.runtime.live_model
    with scope(reader.runtime.reading(), reader.id) as session:
        wanted = Wish(**wish)
        return explain_paper(
            session, live, reader.id, paper, wanted, now=SOON, counterfactuals=tried
        )


def others(runtime: Runtime, n: int) -> list[Reader]:
    return [Reader(runtime, make_person(runtime, f"Reader{number}")) for number in range(n)]


# ---- The numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("is_trained", [False, True], ids=["untrained", "trained"])
def test_an_explanation_says_what_the_list_says(
    runtime: Runtime, reader: Reader, groups: Groups, is_trained: bool
):
    reader.save(groups["tides"][0], groups["parsing"][0])
    reader.rate(groups["batteries"][0], 1)
    if is_trained:
        train(runtime)
    made = reader.ask(limit=100, diversity=0.0)
    for item in made.items:
        found = explain(reader, item.paper)
        assert (found.score, found.rank, found.n_candidates) == (
            item.score,
            item.rank,
            len(made.items),
        )
        assert {part.name: part.amount for part in found.parts} == dict(item.parts)
        for reason, same in zip(
            item.because, [r for r in found.papers if r.amount > 0], strict=True
        ):
            assert reason.amount == pytest.approx(same.amount, abs=1e-5)
            said = reason.text.removeprefix("Because ").removesuffix(".").split("; ")
            assert all(clause in same.text for clause in said)
        assert found.model == made.model


def test_all_three_views_sum_to_the_score_however_little_is_shown(reader: Reader, groups: Groups):
    reader.save(*groups["tides"][:2], *groups["parsing"][:2])
    reader.rate(groups["batteries"][0], 2)
    for limit in (1, 3, 100):
        found = explain(reader, groups["tides"][2], limit=limit, tried=0)
        by_paper = sum(r.amount for r in found.papers) + found.other_papers + found.not_from_papers
        by_term = sum(t.amount for t in found.terms) + found.other_terms + found.not_from_words
        assert by_paper == pytest.approx(found.score, abs=1e-5)
        assert by_term == pytest.approx(found.score, abs=1e-5)
        assert (len(found.papers), found.n_papers) == (min(limit, 5), 5)
        assert len(found.terms) <= limit
    assert found.other_papers == pytest.approx(0, abs=1e-5), "at last all of them are shown"
    assert found.other_terms == pytest.approx(0, abs=1e-5)


def test_terms_are_words_of_the_paper_and_never_stems(reader: Reader, groups: Groups):
    reader.save(*groups["batteries"][:2])
    paper = groups["batteries"][2]
    found = explain(reader, paper)
    assert paper.abstract_text is not None
    assert all(term.term in paper.abstract_text for term in found.terms)
    assert {"impedance", "batteries"} <= {term.term for term in found.terms}
    assert "batteri" not in {term.term for term in found.terms}


def test_a_paper_of_ones_own_is_explained_and_said_to_be_in_no_list(reader: Reader, groups: Groups):
    saved, rated, dismissed, later = (groups[name][0] for name in groups)
    reader.save(saved)
    reader.rate(rated, 4)
    reader.dismiss(dismissed, FeedbackKind.NOT_MY_TOPIC)
    reader.dismiss(later, FeedbackKind.LATER, timedelta(days=3))
    for paper, standing, sentence in (
        (saved, Standing.IN_LIBRARY, "It is in your library, so no list recommends it"),
        (rated, Standing.RATED, "You rated it"),
        (dismissed, Standing.DISMISSED, "You dismissed it"),
        (later, Standing.LATER, "You put it aside for later"),
    ):
        found = explain(reader, paper)
        assert (found.standing, found.rank) == (standing, None)
        assert found.summary.startswith(sentence)
        assert all(reason.rank_without is None for reason in found.papers)
    itself = explain(reader, saved).papers[0]
    assert itself.text == "Because you saved this very paper."
    candidate = explain(reader, groups["tides"][1])
    assert candidate.standing is Standing.CANDIDATE
    assert candidate.summary.startswith(f"It ranks {candidate.rank} of 9 papers")


def test_without_the_paper_that_brought_it_a_paper_ranks_lower(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], groups["parsing"][0])
    found = explain(reader, groups["parsing"][1])
    brought = next(r for r in found.papers if r.paper.id == groups["parsing"][0].id)
    assert found.rank is not None
    assert brought.rank_without is not None
    assert brought.rank_without > found.rank
    said = f"Without that paper it would rank {brought.rank_without} instead of {found.rank}."
    assert brought.text.endswith(said)


def test_a_dislike_is_explained_by_what_would_be_without_it(reader: Reader, groups: Groups):
    reader.save(groups["batteries"][0])
    reader.dismiss(groups["tides"][0], FeedbackKind.NOT_MY_TOPIC)
    found = explain(reader, groups["tides"][1])
    against = next(r for r in found.papers if r.paper.id == groups["tides"][0].id)
    assert against.amount < 0
    assert against.rank_without is not None
    assert found.rank is not None
    assert against.rank_without < found.rank
    assert against.text.startswith("Against it: you dismissed “")
    assert "Without your dislike of it it would rank" not in against.text
    assert f"without your dislike it would rank {against.rank_without}" in against.text.lower()


def test_who_has_done_nothing_is_told_of_recency_and_centrality(reader: Reader, groups: Groups):
    found = explain(reader, groups["tides"][0])
    assert found.strategy == "cold_start"
    assert found.papers == ()
    assert found.terms == ()
    assert found.not_from_papers == pytest.approx(found.score)
    assert "how recent it is" in found.summary
    assert "central" in found.summary


def test_tag_and_seeds_are_those_of_the_list(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], tags=("Water",))
    reader.save(groups["parsing"][0])
    seed = groups["batteries"][0]
    for wish in ({"tag": "water"}, {"seeds": (seed.public_id,)}):
        top = reader.ask(diversity=0.0, **wish).items[0]
        found = explain(reader, top.paper, **wish)
        assert (found.rank, found.score) == (1, top.score)
        assert found.n_papers == 1
    assert found.papers[0].deeds == (Deed.NAMED,)
    assert found.papers[0].text.startswith("Because you named “")
    assert explain(reader, seed, seeds=(seed.public_id,)).standing is Standing.SEED
    for wish in ({"tag": "none"}, {"seeds": (uuid4(),)}):
        with pytest.raises(InvalidInput):
            explain(reader, seed, **wish)


def test_tag_and_seeds_together_are_gone_by_together(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], tags=("water",))
    reader.save(groups["parsing"][0])
    named = groups["batteries"][0]
    found = explain(reader, groups["tides"][1], tag="water", seeds=(named.public_id,))
    assert {reason.paper.id for reason in found.papers} == {groups["tides"][0].id, named.id}


def test_a_paper_that_the_model_has_not_read_is_explained_later(
    runtime: Runtime, reader: Reader, groups: Groups
):
    reader.ask()
    unread = add_text(runtime, "A paper about kites.")
    with runtime.writing() as session:
        state = session.scalars(sa.select(CatalogueState)).one()
        state.catalogue_version -= 1
        session.commit()
    with pytest.raises(TemporarilyUnavailable):
        explain(reader, unread)


# ---- The words ---------------------------------------------------------------------------------


def test_a_reason_says_what_you_did_with_that_paper(
    runtime: Runtime, reader: Reader, groups: Groups
):
    tides, parsing, batteries = (groups[name] for name in ("tides", "parsing", "batteries"))
    reader.save(tides[0], parsing[0])
    reader.rate(tides[0], 5)
    with scope(runtime.writing(), reader.id) as session:
        bookmark = session.scalars(
            sa.select(Bookmark).where(Bookmark.paper_id == parsing[0].id)
        ).one()
        bookmark.status = ReadingStatus.READ
        session.commit()
    reader.save(batteries[0])
    reader.rate(batteries[0], 1)
    found = {r.paper.id: r for r in explain(reader, tides[1], tried=0).papers}
    rated, finished, bad = (found[some[0].id] for some in (tides, parsing, batteries))
    assert (rated.deeds, rated.stars) == ((Deed.RATED, Deed.SAVED), 5)
    assert rated.text.startswith(
        f"Because you rated “{tides[0].display_title}” 5 stars; both speak of "
    )
    assert finished.deeds == (Deed.FINISHED, Deed.SAVED)
    assert f"you finished “{parsing[0].display_title}”" in finished.text
    assert bad.text.startswith(f"Against it: you rated “{batteries[0].display_title}” 1 star")


def test_feedback_is_told_by_its_kind(reader: Reader, groups: Groups):
    more, low, seen = (groups[name][0] for name in groups if name != "outliers")
    reader.dismiss(more, FeedbackKind.MORE_LIKE_THIS)
    reader.dismiss(low, FeedbackKind.LOW_QUALITY)
    reader.dismiss(seen, FeedbackKind.SEEN)
    told = {r.paper.id: r for r in explain(reader, groups["outliers"][0], tried=0).papers}
    liked, disliked = told[more.id], told[low.id]
    assert told.keys() == {more.id, low.id}, "to have seen a paper says nothing of taste"
    assert (liked.deeds, liked.is_liked) == ((Deed.MORE_LIKE_THIS,), True)
    assert f"you asked for more like “{more.display_title}”" in liked.text
    assert (disliked.deeds, disliked.is_liked) == ((Deed.LOW_QUALITY,), False)
    assert disliked.text.startswith(f"Against it: you called “{low.display_title}” low quality")
    for paper, standing, sentence in (
        (more, Standing.MORE_LIKE_THIS, "You asked for more like it"),
        (low, Standing.LOW_QUALITY, "You called it low quality"),
        (seen, Standing.SEEN, "You said that you have seen it"),
    ):
        found = explain(reader, paper, tried=0)
        assert (found.standing, found.rank) == (standing, None)
        assert found.summary.startswith(sentence)


def test_an_opening_keeps_a_paper_out_for_a_month(reader: Reader, groups: Groups):
    paper = groups["tides"][1]
    reader.save(groups["tides"][0])
    reader.open(paper)
    assert explain(reader, paper, tried=0).standing is Standing.OPENED
    reader.open(groups["tides"][2], now=SOON - timedelta(days=31))
    assert explain(reader, groups["tides"][2], tried=0).standing is Standing.CANDIDATE


def test_freshness_and_left_out_tags_are_those_of_the_list(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], tags=("water",))
    reader.save(groups["parsing"][0])
    wish = {"freshness": 0.7, "exclude_tags": ("water",)}
    top = reader.ask(diversity=0.0, **wish).items[0]
    found = explain(reader, top.paper, tried=0, **wish)
    assert (found.rank, found.score, found.n_papers) == (1, top.score, 1)
    assert {part.name: part.amount for part in found.parts} == dict(top.parts)
    assert found.not_from_papers == pytest.approx(top.parts["freshness"], abs=1e-5)
    assert explain(reader, groups["tides"][0], **wish).standing is Standing.IN_LIBRARY


def test_a_reason_in_a_list_says_the_same(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0])
    reader.rate(groups["tides"][0], 4)
    (reason,) = reader.ask().items[0].because
    assert (reason.deeds, reason.stars) == ((Deed.RATED, Deed.SAVED), 4)
    assert len(reason.terms) == 3
    assert reason.text == (
        f"Because you rated “{groups['tides'][0].display_title}” 4 stars; "
        f"both speak of {reason.terms[0]}, {reason.terms[1]} and {reason.terms[2]}."
    )


def test_a_list_that_is_not_explained_adds_up_all_the_same(reader: Reader, groups: Groups):
    reader.save(groups["tides"][0], groups["parsing"][0])
    plain = reader.ask(explain=False)
    assert all(item.because == () for item in plain.items)
    assert [item.others for item in plain.items] == [item.score for item in plain.items]
    assert [item.score for item in plain.items] == [item.score for item in reader.ask().items]


@pytest.mark.parametrize(
    ("terms", "texts", "words"),
    [
        (["lora", "feder"], ("LoRA, federated", "Federated LoRA"), ("LoRA", "federated")),
        (["rank", "lowrank", "low"], ("low-rank", "Low-rank"), ("low-rank",)),
        (
            ["finetun", "fine", "tune", "graph"],
            ("fine-tuning graphs", ""),
            ("fine-tuning", "graphs"),
        ),
        (
            ["rank", "a1", "b2", "c3", "lowrank"],
            ("a1 b2 c3 low-rank", ""),
            ("low-rank", "a1", "b2"),
        ),
        (["模型", "gone"], ("大模型", "模型"), ("模型",)),
        (["a1", "b2", "c3", "d4"], ("a1 b2 c3 d4", ""), ("a1", "b2", "c3")),
    ],
)
def test_words_in_common_are_few_and_written_out(
    terms: list[str], texts: tuple[str, str], words: tuple[str, ...]
):
    assert words_in_common(terms, *texts) == words


@pytest.mark.parametrize(
    ("text", "terms", "told"),
    [
        (
            "Low-rank adaptation (LoRA) is low-rank.",
            {"lora": 3.0, "lowrank": 2.0, "low": 1.5, "rank": 1.0},
            {"lowrank": 4.5, "lora": 3.0},
        ),
        ("modal, cross-modal", {"modal": 2.0, "crossmod": 1.0}, {"crossmod": 3.0}),
        ("Learning, learning: meta-learning", {"learn": 2.0}, {"learn": 2.0}),
        (
            "Learning, learning: meta-learning",
            {"learn": 2.0, "metalearn": 1.0, "meta": 0.5},
            {"learn": 2.0, "metalearn": 1.5},
        ),
    ],
)
def test_a_compound_is_one_term_with_its_parts(
    text: str, terms: dict[str, float], told: dict[str, float]
):
    assert with_compounds(list(terms.items()), text) == list(told.items())


def test_what_lifts_others_more_is_no_because():
    one = Reason(
        paper=Paper(display_title="X"),
        amount=0.2,
        deeds=(Deed.RATED,),
        stars=5,
        is_liked=True,
        terms=("plasticity", "retention"),
        readers=None,
        rank_without=65,
    )
    assert sentence_of(one, is_itself=False, rank=94) == (
        "That you rated “X” 5 stars lifts other papers more than this one; both speak of "
        "plasticity and retention. Without that paper it would rank 65 instead of 94."
    )
    assert sentence_of(one, is_itself=False, rank=3).startswith("Because you rated “X” 5 stars;")


# ---- Other people ------------------------------------------------------------------------------


def test_readers_are_counted_from_three_on_and_never_oneself(
    runtime: Runtime, reader: Reader, groups: Groups
):
    mine, target = groups["tides"][:2]
    reader.save(mine)
    for number, other in enumerate(others(runtime, 4), 1):
        other.save(mine, target)
        (reason,) = explain(reader, target, tried=0).papers
        (listed,) = next(i for i in reader.ask().items if i.paper.id == target.id).because
        assert reason.readers == listed.readers == (number if number >= FEWEST_READERS else None)
        said = f"; {number} readers who saved it also saved this."
        assert reason.text.endswith(said) == (number >= FEWEST_READERS)
    reader.save(target)
    (itself, of_mine) = sorted(
        explain(reader, target, tried=0).papers, key=lambda r: r.paper.id != target.id
    )
    assert of_mine.readers == 4, "one's own save adds nothing"
    assert itself.readers is None, "a paper has no readers in common with itself"


def test_two_readers_and_oneself_are_still_two(runtime: Runtime, reader: Reader, groups: Groups):
    mine, target = groups["tides"][:2]
    reader.save(mine, target)
    for other in others(runtime, 2):
        other.save(mine, target)
    assert all(reason.readers is None for reason in explain(reader, target).papers)


def test_only_those_who_keep_both_are_counted(runtime: Runtime, reader: Reader, groups: Groups):
    mine, target, third = groups["tides"]
    reader.save(mine)
    crowd = others(runtime, 6)
    for other in crowd[:3]:
        other.save(mine, third)
    for other in crowd[3:]:
        other.save(target)
        other.rate(mine, 5)
        other.dismiss(third, FeedbackKind.SEEN)
    assert [reason.readers for reason in explain(reader, target).papers] == [None]
    assert [reason.readers for reason in explain(reader, third).papers] == [3]


def test_any_paper_of_a_work_counts_once_for_each_person(runtime: Runtime, reader: Reader):
    one, twin, other = make_papers(runtime, 3)
    with runtime.writing() as session:
        session.get_one(Paper, twin.id).work_id = one.work_id
        session.commit()
    for number, person in enumerate(others(runtime, 3)):
        person.save(*((one, twin) if number == 0 else (one,) if number == 1 else (twin,)))
        person.save(other)
    with scope(runtime.reading(), reader.id) as session:
        found = readers_of_both(session, [(other.work_id, one.work_id)], but=reader.id)
        assert found == {(other.work_id, one.work_id): 3}
        assert scoped_to(session) == reader.id, "the session is one's own again"
        assert session.scalars(sa.select(Bookmark)).all() == []
    with runtime.reading() as session, pytest.raises(UnscopedQuery):
        session.scalars(sa.select(Bookmark)).all()


def test_only_the_pairs_that_are_asked_for_are_counted(runtime: Runtime, reader: Reader):
    papers = make_papers(runtime, 4)
    a, b, c, d = (paper.work_id for paper in papers)
    for person in others(runtime, 3):
        person.save(*papers)
    with scope(runtime.reading(), reader.id) as session:
        with counted(runtime) as statements:
            found = readers_of_both(session, [(a, b), (c, d), (d, a), (a, a)], but=reader.id)
        assert found == {(a, b): 3, (c, d): 3, (d, a): 3}
        assert len([one for one in statements if "bookmark" in one]) == 1
        assert readers_of_both(session, [], but=reader.id) == {}
        assert readers_of_both(session, [(a, a)], but=reader.id) == {}
