"""Why a score is what it is: three ways to take it apart, each exact."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from models.explaining import Explanation, explain
from models.feedback import History
from models.ranking.blend import PARTS, blend
from models.ranking.explain import shared_terms, shares, term_shares
from models.ranking.model import Model
from models.ranking.scoring import evidence_of
from models.recommending import Request
from models.training import train
from tests.models.papers import IDS, PAPERS, ask, history_of, saved, training_set

EVERYTHING = Request(limit=100)


@pytest.fixture(scope="module")
def busy() -> Model:
    """The invented papers and forty people, so that every part has something to say."""
    rng = np.random.default_rng(3)
    user_ids = np.repeat(np.arange(40), 6)
    items = np.concatenate([rng.choice(list(IDS.values()), 6, replace=False) for _ in range(40)])
    return train(
        training_set(list(PAPERS.values()), user_ids=user_ids, history=History.of_saved(items))
    )


def test_parts_sum_to_the_score(busy):
    for history in (saved("moat", "atlas"), History.empty(), history_of(IDS["moat"], ratings=1)):
        for item in ask(busy, history, 20).items:
            assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)
            assert set(PARTS) <= set(item.parts)


def test_every_part_speaks(busy):
    top = ask(busy, saved("moat", "atlas", "keel"), 20).items
    assert all(any(item.parts[name] > 0 for item in top) for name in PARTS)


@cache
def some_model(number: int) -> Model:
    """A model of a random part of the papers, of which some have no text and the last have come
    after the training; with nobody, one or many people, who like some and dislike some."""
    rng = np.random.default_rng(number)
    n_people = (0, 1, 7, 40)[number % 4]
    texts = [text if rng.random() > 0.1 else "" for text in rng.permutation(list(PAPERS.values()))]
    n_trained = int(rng.integers(3, len(texts)))
    items = np.concatenate(
        [100 + rng.choice(n_trained, 3, replace=False) for _ in range(n_people)] or [[]]
    )
    history = history_of(*items.astype(int), ratings=rng.integers(0, 6, len(items)))
    people = np.repeat(np.arange(n_people), 3)
    known = training_set(texts[:n_trained], user_ids=people, history=history)
    new = np.arange(100 + n_trained, 100 + len(texts))
    nothing = np.zeros(len(new), np.float32)
    return train(known, seed=number).extend(new, texts[n_trained:], nothing, nothing)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Of papers 100 to 123: saved, opened, rated and dismissed."""
    ids = draw(st.lists(st.integers(100, 123), max_size=24, unique=True))
    n = len(ids)
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    return history_of(
        *ids,
        saved=draw(flags),
        dismissed=draw(flags),
        low_quality=draw(flags),
        more_like_this=draw(flags),
        finished=draw(flags),
        ratings=draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)),
        opens=draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)),
        age_days=draw(st.lists(st.floats(0, 5000), min_size=n, max_size=n)),
    )


@settings(max_examples=150, deadline=None)
@given(number=st.integers(0, 11), history=histories(), item=st.integers(100, 123))
def test_each_of_the_three_views_sums_to_the_score(number: int, history: History, item: int):
    model = some_model(number)
    found = explain(model, history, EVERYTHING, item, counterfactuals=0)
    assert found is not None
    evidence = evidence_of(model, history)
    scale = 1e-5 * max(1.0, float(np.abs(blend(model, evidence).scores).max()))
    assert sum(part.amount for part in found.parts) == pytest.approx(found.score, abs=scale)
    by_paper = sum(paper.amount for paper in found.papers)
    assert by_paper + found.not_from_papers == pytest.approx(found.score, abs=scale)
    for part in found.parts:
        assert part.raw * part.gain == pytest.approx(part.amount, abs=scale)
    if found.strategy == "personal":
        assert len(found.papers) == len(evidence.rows), "all of them, not only the largest"
    rest = sum(p.amount for p in found.parts if p.name in {"prior", "recency", "centrality"})
    assert found.not_from_papers == pytest.approx(rest, abs=scale)


def words_by_hand(model: Model, history: History, item: int) -> np.ndarray:
    """What each term (v,) adds to the score of a paper, by the formulas of the three parts that
    read words, on whole matrices."""
    evidence = evidence_of(model, history)
    row, own, config = item - 100, evidence.rows, model.config
    weights = model.content.weights.toarray().astype(np.float64)
    liked, disliked = np.maximum(evidence.confidence, 0), np.maximum(-evidence.confidence, 0)
    profile = liked @ weights[own] / liked.sum()
    profile -= config.dislike * (disliked @ weights[own]) / max(liked.sum(), disliked.sum())
    items, factors = model.factors.items.astype(np.float64), model.factors
    normal = items.T @ items + config.regularization * np.eye(items.shape[1])
    for place, trust in zip(own, config.alpha * np.abs(evidence.confidence), strict=True):
        normal += (trust - 1) * np.outer(items[place], items[place])
    person = np.linalg.solve(normal, config.alpha * (liked @ items[own]))
    known = weights[row, factors.terms]
    gains = {name: float(gain[row]) for name, gain in blend(model, evidence).gains.items()}
    amounts = gains["content"] * profile * weights[row]
    length = max(float(np.linalg.norm(known)), 1e-12)
    amounts[factors.terms] += (
        gains["collaborative"] * known / length * (factors.term_map.rows @ person)
    )
    similarity = model.similarity
    embedded, taste = similarity.term_map, liked @ similarity.items[own] / np.sqrt(liked.sum())
    known = weights[row, embedded.terms]
    length = max(float(np.linalg.norm(known)), 1e-12)
    amounts[embedded.terms] += gains["similarity"] * known / length * (embedded.rows @ taste)
    return amounts


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 11), history=histories(), item=st.integers(100, 123))
def test_the_shares_of_the_words_are_those_computed_by_hand(
    number: int, history: History, item: int
):
    model = some_model(number)
    found = explain(model, history, EVERYTHING, item, counterfactuals=0)
    assert found is not None
    assume(found.strategy == "personal")
    expected = words_by_hand(model, history, item)
    scale = 1e-4 * max(1.0, float(np.abs(blend(model, evidence_of(model, history)).scores).max()))
    told = np.zeros_like(expected)
    for term in found.terms:
        told[model.content.columns[term.term]] = term.amount
    np.testing.assert_allclose(told, expected, atol=scale)
    rest = found.score - float(expected.sum())
    assert found.not_from_words == pytest.approx(rest, abs=10 * scale)


@pytest.mark.parametrize("history", [saved("moat", "atlas"), History.empty()])
def test_freshness_is_a_part_that_no_paper_and_no_word_accounts_for(busy: Model, history: History):
    model = replace(busy, published_year=np.linspace(2000, 2026, len(busy.items))).with_prior()
    plain = explain(model, history, EVERYTHING, IDS["ebb"], counterfactuals=0)
    found = explain(
        model, history, replace(EVERYTHING, freshness=0.5), IDS["ebb"], counterfactuals=0
    )
    assert plain is not None
    assert found is not None
    (fresh,) = (part for part in found.parts if part.name == "freshness")
    assert (fresh.raw, fresh.gain) == (fresh.amount, 1.0)
    assert fresh.amount > 0
    assert (found.papers, found.terms) == (plain.papers, plain.terms)
    for rest, before in (
        (found.not_from_papers, plain.not_from_papers),
        (found.not_from_words, plain.not_from_words),
    ):
        assert rest == pytest.approx(before + fresh.amount, abs=1e-5)
    (listed,) = (
        item for item in ask(model, history, 100, freshness=0.5).items if item.item_id == IDS["ebb"]
    )
    assert (listed.score, listed.score_rank) == (found.score, found.rank)


@settings(max_examples=60, deadline=None)
@given(number=st.integers(0, 11), history=histories())
def test_the_shares_of_each_part_sum_to_its_own_scores(number: int, history: History):
    model = some_model(number)
    blended = blend(model, evidence_of(model, history))
    targets = np.arange(len(model.items))
    for name, part in blended.parts.items():
        scale = 1e-5 * max(1.0, float(np.abs(part.raw).max()))
        summed = part.shares(targets).sum(axis=1)
        owed = np.zeros_like(part.raw) if name == "prior" else part.raw
        np.testing.assert_allclose(summed, owed, atol=scale, err_msg=name)
    total = shares(blended, targets)
    scale = 1e-5 * max(1.0, float(np.abs(blended.scores).max()))
    np.testing.assert_allclose(total.sum(axis=1), blended.taste, atol=scale)


def test_words_account_for_all_of_a_paper_that_nobody_has_read(busy: Model):
    year, days = np.full(1, np.nan, np.float32), np.zeros(1, np.float32)
    text = PAPERS["moat"].replace("Moat", "Dyke")
    model = busy.extend(np.array([900]), [text], year, days)
    blended = blend(model, evidence_of(model, saved("ebb", "keel")))
    row = model.items.positions(np.array([900]))
    words = term_shares(blended, row, len(model.content.vocabulary)).sum()
    assert words == pytest.approx(float(blended.taste[row[0]]), abs=1e-5)


def test_readers_are_what_is_left_of_a_paper_that_people_read(busy: Model):
    found = explain(busy, saved("atlas", "moat", "keel", "ebb"), EVERYTHING, IDS["tidal"])
    readers = next(part.amount for part in found.parts if part.name == "neighbours")
    assert abs(found.not_from_words) > 1e-3
    assert readers != 0
    assert not {term.term for term in found.terms} - set(words_of(busy, "tidal"))


def words_of(model: Model, name: str) -> list[str]:
    row = model.content.weights[model.items.positions(np.array([IDS[name]]))]
    return [model.content.vocabulary[column] for column in row.indices]


def test_the_reason_for_a_relative_is_the_relative(busy):
    slate = ask(busy, saved("moat", "atlas", "abacus"), 10)
    ebb = next(item for item in slate.items if item.item_id == IDS["ebb"])
    assert ebb.because[0].item_id == IDS["moat"]
    assert len(ebb.because) <= 3
    assert all(reason.amount > 0 for reason in ebb.because)


def test_reasons_are_left_out_when_not_wanted(busy):
    assert all(not i.because for i in ask(busy, saved("moat"), 5, explain=False).items)


def test_reasons_name_liked_papers_only(busy):
    history = history_of(IDS["moat"], IDS["atlas"], ratings=[0, 1])
    reasons = {r.item_id for item in ask(busy, history, 20).items for r in item.because}
    assert reasons == {IDS["moat"]}


def test_shared_terms_are_of_both_and_the_weightiest_first(busy: Model):
    moat, ebb = busy.items.positions(np.array([IDS["moat"], IDS["ebb"]])).tolist()
    terms = shared_terms(busy.content, moat, ebb)
    assert set(terms) <= set(words_of(busy, "moat")) & set(words_of(busy, "ebb"))
    column = [busy.content.columns[term] for term in terms]
    weights = busy.content.weights[[moat, ebb]].toarray()[:, column].prod(axis=0)
    assert list(weights) == sorted(weights, reverse=True)
    assert {"harm", "refus"} & set(terms)


# ---- One paper explained -----------------------------------------------------------------------


def explained(model: Model, history: History, name: str, **more: object) -> Explanation:
    found = explain(model, history, EVERYTHING, IDS[name], **more)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "history",
    [
        saved("moat", "atlas", "keel"),
        history_of(IDS["moat"], IDS["atlas"], IDS["ferry"], ratings=[5, 1, 0]),
        history_of(IDS["moat"], ratings=1),
        History.empty(),
    ],
    ids=["likes", "likes and dislikes", "dislikes", "nothing"],
)
def test_an_explanation_has_the_numbers_of_the_list(busy: Model, history: History):
    slate = ask(busy, history, 20)
    for item in slate.items:
        found = explain(busy, history, Request(limit=20), item.item_id, counterfactuals=0)
        assert (found.score, found.rank, found.strategy, found.n_candidates) == (
            item.score,
            item.score_rank,
            slate.strategy,
            slate.n_candidates,
        )
        assert {part.name: part.amount for part in found.parts} == item.parts
        likes = [paper for paper in found.papers if paper.amount > 0][:3]
        assert [(one.item_id, one.terms) for one in likes] == [
            (one.item_id, one.terms) for one in item.because
        ]
        amounts = [one.amount for one in item.because]
        assert [one.amount for one in likes] == pytest.approx(amounts, abs=1e-5)


def test_without_a_paper_the_rank_is_that_of_somebody_who_never_met_it(busy: Model):
    names = ("moat", "atlas", "keel", "tidal")
    found = explained(busy, saved(*names), "ebb")
    tried = {paper.item_id: paper.rank_without for paper in found.papers}
    for name in names:
        shorter = saved(*(other for other in names if other != name))
        gone = np.array([IDS[name]])
        slate = ask(busy, shorter, 100, exclude=gone, diversity=0.0)
        rank = next(i.score_rank for i in slate.items if i.item_id == IDS["ebb"])
        assert tried[IDS[name]] == rank
    assert tried[IDS["moat"]] > found.rank, "its relative is what brings it"


def test_only_the_largest_shares_are_tried_and_dislikes_among_them(busy: Model):
    likes, dislikes = list(IDS.values())[:8], list(IDS.values())[10:14]
    ratings = [5] * len(likes) + [1] * len(dislikes)
    history = history_of(*likes, *dislikes, ratings=ratings)
    found = explained(busy, history, "vigil", counterfactuals=5)
    tried = [paper for paper in found.papers if paper.rank_without is not None]
    assert [paper.is_liked for paper in tried].count(True) == 3
    assert [paper.is_liked for paper in tried].count(False) == 2
    largest = [paper for paper in found.papers if paper.is_liked][:3]
    assert [paper for paper in tried if paper.is_liked] == largest
    none = explained(busy, history, "vigil", counterfactuals=0)
    assert all(paper.rank_without is None for paper in none.papers)


def test_what_a_dislike_does_through_the_factors_shows_without_it(model: Model):
    history = history_of(IDS["atlas"], IDS["moat"], ratings=[5, 1])
    found = explained(model, history, "ebb")
    dislike = next(paper for paper in found.papers if paper.item_id == IDS["moat"])
    assert not dislike.is_liked
    assert dislike.amount < 0
    assert dislike.rank_without < found.rank


def test_a_dislike_has_a_share_when_nothing_is_liked(model: Model):
    history = history_of(IDS["moat"], IDS["keel"], ratings=1)
    found = explained(model, history, "ebb")
    assert found.strategy == "cold_start"
    assert [paper.item_id for paper in found.papers] == [IDS["moat"], IDS["keel"]]
    assert found.papers[0].amount < 0
    assert found.papers[0].rank_without < found.rank
    assert found.not_from_papers > 0, "recency and centrality"


def test_a_paper_that_one_has_is_explained_without_a_rank(busy: Model):
    found = explained(busy, saved("moat", "atlas"), "moat")
    assert found.rank is None
    assert found.score > 0
    assert found.papers[0].item_id == IDS["moat"], "most like itself"
    assert all(paper.rank_without is None for paper in found.papers)


def test_the_only_seed_is_not_left_out_for_trial(busy: Model):
    seed = np.array([IDS["moat"]])
    one = explain(busy, saved("keel"), Request(limit=5, seeds=seed), IDS["ebb"])
    assert [(p.item_id, p.rank_without) for p in one.papers] == [(IDS["moat"], None)]
    both = np.array([IDS["moat"], IDS["atlas"]])
    two = explain(busy, saved("keel"), Request(limit=5, seeds=both), IDS["ebb"])
    assert all(paper.rank_without for paper in two.papers)


def test_an_unknown_paper_has_no_explanation(busy: Model):
    assert explain(busy, saved("moat"), EVERYTHING, 7) is None
    assert explain(train(training_set([])), History.empty(), EVERYTHING, 7) is None
