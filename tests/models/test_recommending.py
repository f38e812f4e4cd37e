"""What a person gets, and what nobody ever gets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.feedback import History
from models.ranking.model import Model
from models.recommending import Request, leaders, rank_without, related
from models.training import train
from tests.models.papers import (
    IDS,
    NAMES,
    PAPERS,
    ask,
    history_of,
    ids_of,
    names_of,
    saved,
    small_model,
    titles,
    training_set,
)

INVENTED = np.array(list(IDS.values()))
MUST_FIND = [
    ("moat", ["ebb"], 1),
    ("ebb", ["moat"], 1),
    ("quilt", ["delta"], 1),
    ("delta", ["quilt"], 1),
    ("braid", ["chord"], 3),
    ("ledger", ["strata"], 3),
    ("mycel", ["atlas", "rhizome"], 5),
    ("atlas", ["mycel", "rhizome"], 5),
    ("abacus", ["cipher", "grist"], 2),
    ("grist", ["cipher", "abacus"], 2),
]


@pytest.mark.parametrize(("liked", "relatives", "within"), MUST_FIND)
def test_one_saved_paper_brings_its_relatives(model, liked, relatives, within):
    assert set(relatives) <= set(names_of(ask(model, saved(liked), within)))


@pytest.mark.parametrize(("liked", "relatives", "within"), MUST_FIND)
def test_a_thousand_titles_change_nothing_about_it(crowded, liked, relatives, within):
    slate = ask(crowded, saved(liked), within, allowed=INVENTED)
    assert set(relatives) <= set(names_of(slate))


def test_bare_titles_do_not_crowd_out_papers_with_abstracts(crowded):
    slate = ask(crowded, saved("mycel"), 5)
    assert ids_of(slate)[0] == IDS["rhizome"]
    assert sum(item_id in NAMES for item_id in ids_of(slate)) >= 3


def test_papers_imported_after_training_are_recommended_at_once():
    old = train(training_set(titles(1000), ids=np.arange(5000, 6000)))
    undated = np.full(len(PAPERS), np.nan, np.float32)
    new = old.extend(INVENTED, list(PAPERS.values()), undated, np.zeros(len(PAPERS), np.float32))
    assert len(old.item_ids) == 1000
    assert ids_of(ask(new, saved("moat"), 1)) == [IDS["ebb"]]
    assert ids_of(ask(new, saved("quilt"), 1)) == [IDS["delta"]]


def test_extending_by_nothing_changes_nothing(model):
    nothing = np.zeros(0, np.float32)
    assert model.extend(np.zeros(0, np.int64), [], nothing, nothing) is model


def extended(model: Model, texts: dict[int, str]) -> Model:
    k = len(texts)
    ids = np.array(list(texts), np.int64)
    return model.extend(ids, list(texts.values()), np.full(k, 2020, np.float32), np.zeros(k))


def assert_same_but_for_columns(one: Model, other: Model) -> None:
    """The same model, whatever numbers the terms have got and whichever are in no text."""
    assert one.item_ids.tolist() == other.item_ids.tolist()
    columns = [other.content.columns[term] for term in other.content.vocabulary]
    same = [one.content.columns[term] for term in other.content.vocabulary]
    close = {"rtol": 1e-3, "atol": 1e-5}
    for name in ("in_full", "in_short", "idf"):
        mine, theirs = getattr(one.content, name)[same], getattr(other.content, name)[columns]
        np.testing.assert_allclose(mine, theirs, **close)
    weights = one.content.weights.toarray()
    np.testing.assert_allclose(weights[:, same], other.content.weights.toarray(), **close)
    assert weights.sum() == pytest.approx(other.content.weights.sum(), rel=1e-4)
    for name in ("items", "gram"):
        mine, theirs = getattr(one.factors, name), getattr(other.factors, name)
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-3)
    for name in ("people", "published_year", "added_days", "recency", "centrality"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), **close)


@given(texts=st.lists(st.sampled_from([*PAPERS.values(), *titles(5), ""]), min_size=2, max_size=4))
@settings(max_examples=25, deadline=None)
def test_a_text_that_is_replaced_might_as_well_have_been_the_first(crowded, texts):
    changed = crowded
    for text in texts:
        changed = extended(changed, {9: text})
    assert_same_but_for_columns(changed, extended(crowded, {9: texts[-1]}))


def test_new_and_replaced_texts_come_in_one_go(crowded):
    texts = {9: PAPERS["ebb"], 5: PAPERS["moat"]}
    changed = extended(extended(crowded, {9: "quantum sonnet"}), texts)
    assert_same_but_for_columns(changed, extended(crowded, texts))
    assert 9 in leaders(changed, history_of(5), Request(limit=3)), "a slate shows its twin alone"


def test_a_paper_that_people_keep_stays_where_they_put_it():
    ids = list(IDS.values())
    data = training_set(
        ["", *list(PAPERS.values())[1:]],
        user_ids=np.repeat(np.arange(4), 3),
        history=history_of(*[IDS["moat"], IDS["keel"], IDS["prism"]] * 4),
    )
    kept = train(data)
    told = extended(kept, {IDS["moat"]: PAPERS["moat"]})
    row = ids.index(IDS["moat"])
    np.testing.assert_array_equal(told.factors.items[row], kept.factors.items[row])
    assert np.any(told.factors.items[row] != 0)
    assert (kept.content.weights[row].nnz, told.content.weights[row].nnz > 20) == (0, True)


def test_a_new_paper_said_twice_is_taken_once(model):
    two = np.zeros(2, np.float32)
    assert len(model.extend(np.array([9, 9]), ["a", "b"], two, two).item_ids) == len(PAPERS) + 1


def test_dismissing_a_paper_removes_it_at_once(model):
    before = ask(model, saved("mycel"), 5)
    top = ids_of(before)[0]
    history = history_of(IDS["mycel"], top, saved=[True, False], dismissed=[False, True])
    assert top not in ids_of(ask(model, history, 23))


def test_one_star_lowers_the_near_neighbours(model):
    def place(history: History) -> int:
        return names_of(ask(model, history, 23, diversity=0.0)).index("rhizome")

    liked = history_of(IDS["abacus"], IDS["mycel"])
    disliked = history_of(IDS["abacus"], IDS["mycel"], ratings=[0, 1])
    assert place(disliked) > place(liked)


def test_somebody_with_only_dislikes_is_led_away_from_them(model):
    history = history_of(IDS["mycel"], IDS["atlas"], saved=False, dismissed=True)
    slate = ask(model, history, 22)
    assert slate.strategy == "cold_start"
    assert names_of(slate).index("rhizome") > 15


def test_nobody_knows_anything_gets_recent_papers_first():
    data = training_set(["an old graph study", "a new graph study", "an undated graph study"])
    years = np.array([2010, 2026, np.nan], np.float32)
    days = np.array([0, 0, 400], np.float32)
    dated = train(
        type(data)(
            user_ids=data.user_ids,
            history=data.history,
            item_ids=data.item_ids,
            documents=data.documents,
            published_year=years,
            added_days=days,
        )
    )
    slate = ask(dated, History.empty())
    assert (slate.strategy, ids_of(slate)[0]) == ("cold_start", 101)


def test_evidence_without_any_words_or_people_is_a_cold_start():
    empty = train(training_set(["", "graph networks", ""]))
    slate = ask(empty, history_of(100))
    assert slate.strategy == "cold_start"
    assert len(slate.items) == 2


def test_outliers_are_not_filled_up_with_confident_scores(model):
    def top_score(name: str) -> float:
        return ask(model, saved(name), 1).items[0].score

    related_tops = [top_score(name) for name in ("moat", "quilt", "braid", "mycel", "abacus")]
    assert max(top_score(name) for name in ("keel", "sieve", "helix")) < min(related_tops)


def test_a_paper_without_any_overlap_gets_no_score():
    data = [*PAPERS.values(), "violin sonnet census"]
    slate = ask(train(training_set(data)), saved("moat"), 24)
    stranger = next(item for item in slate.items if item.item_id == 100 + len(PAPERS))
    assert abs(stranger.score) < 0.05 * slate.items[0].score


def test_seeds_replace_what_the_person_likes(model):
    slate = ask(model, saved("mycel"), 2, seeds=np.array([IDS["abacus"]]))
    assert set(names_of(slate)) == {"cipher", "grist"}


def test_only_allowed_papers_are_ranked(model):
    allowed = np.array([IDS["keel"], IDS["sieve"], 987654321])
    slate = ask(model, saved("moat"), 10, allowed=allowed)
    assert set(names_of(slate)) == {"keel", "sieve"}
    assert slate.n_candidates == 2


def test_a_filter_does_not_change_scores(model):
    free = {item.item_id: item.score for item in ask(model, saved("moat"), 23).items}
    few = ask(model, saved("moat"), 3, allowed=np.array([IDS["vigil"], IDS["ebb"]]))
    assert {item.item_id: item.score for item in few.items}.items() <= free.items()


def test_more_diversity_means_fewer_papers_of_one_kind(model):
    graphs = {"atlas", "rhizome", "mycel"}
    history = saved("mycel", "abacus")
    alike = names_of(ask(model, history, 4, diversity=0.0))
    mixed = names_of(ask(model, history, 4, diversity=0.9))
    assert len(graphs & set(mixed)) <= len(graphs & set(alike))
    assert mixed[0] == alike[0]


def test_the_same_question_has_the_same_answer(model):
    assert ask(model, saved("moat")) == ask(small_model(), saved("moat"))


def test_related_papers(model):
    found = related(model, IDS["moat"], limit=3)
    assert found[0][0] == IDS["ebb"]
    assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)
    assert IDS["ebb"] not in dict(
        related(model, IDS["moat"], limit=3, exclude=np.array([IDS["ebb"]]))
    )
    assert related(model, 987654321, limit=3) == ()
    assert related(model, IDS["moat"], limit=0) == ()


def test_what_a_rank_would_be_without_a_paper(model):
    history = saved("mycel", "abacus")
    request = Request(limit=10)
    with_it = next(i for i in ask(model, history, 22).items if i.item_id == IDS["rhizome"])
    without = rank_without(model, history, request, item_id=IDS["rhizome"], without=IDS["mycel"])
    assert without is not None
    assert without > with_it.score_rank
    same = rank_without(model, history, request, item_id=IDS["rhizome"], without=12345)
    assert same == with_it.score_rank
    gone = rank_without(model, history, request, item_id=IDS["mycel"], without=IDS["abacus"])
    assert gone is None


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([*IDS.values(), 1, 2]),
            st.booleans(),
            st.booleans(),
            st.integers(0, 5),
            st.integers(0, 5),
        ),
        unique_by=lambda row: row[0],
        max_size=26,
    ),
    exclude=st.lists(st.sampled_from([*IDS.values(), 3])),
    seeds=st.lists(st.sampled_from([*IDS.values(), 4]), max_size=3),
    limit=st.integers(-1, 30),
    diversity=st.floats(-1, 2),
)
def test_never_what_must_never_be(model, rows, exclude, seeds, limit, diversity):
    columns = list(zip(*rows, strict=True)) or [()] * 5
    history = history_of(
        *columns[0],
        saved=list(columns[1]),
        dismissed=list(columns[2]),
        ratings=list(columns[3]),
        opens=list(columns[4]),
    )
    slate = ask(
        model,
        history,
        limit,
        exclude=np.array(exclude, np.int64),
        seeds=np.array(seeds, np.int64),
        diversity=diversity,
    )
    shut = {*columns[0], *exclude, *seeds}
    candidates = set(IDS.values()) - shut
    found = ids_of(slate)
    assert len(found) == len(set(found)) == min(max(0, limit), len(candidates))
    assert set(found) <= candidates
    assert [item.rank for item in slate.items] == list(range(1, len(found) + 1))
    assert np.all(np.isfinite([item.score for item in slate.items]))


def test_what_was_opened_long_ago_may_come_back_and_does_not_bring_itself(model):
    def order(age: float) -> list[int]:
        opened = history_of(IDS["mycel"], IDS["moat"], saved=[True, False], opens=1, age_days=age)
        return ids_of(ask(model, opened, 24, diversity=0.0))

    assert IDS["moat"] not in order(1)
    assert IDS["moat"] in order(31)
    assert order(31)[0] in (IDS["atlas"], IDS["rhizome"])
    assert order(31) == ids_of(
        ask(model, history_of(IDS["mycel"], opens=1, age_days=31), 24, diversity=0.0)
    )


def test_more_like_this_brings_the_neighbours_and_not_itself(model):
    history = history_of(IDS["mycel"], saved=False, more_like_this=True)
    slate = ask(model, history, 23)
    assert slate.strategy == "personal"
    assert set(names_of(slate)[:2]) == {"atlas", "rhizome"}
    assert "mycel" not in names_of(slate)


def test_leaders_are_the_highest_scores_before_any_re_ranking(model):
    history = saved("mycel", "quilt")
    request = Request(limit=7, diversity=0.9, exploration=1.0)
    best = sorted(ask(model, history, 30).items, key=lambda item: item.score_rank)
    assert leaders(model, history, request).tolist() == [item.item_id for item in best[:7]]
