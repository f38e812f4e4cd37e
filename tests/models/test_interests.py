"""Interests: groups in a library, their names, their identity, and their share of a slate."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.explaining import explain
from models.feedback import History
from models.ranking.blend import Evidence, blend
from models.ranking.explain import shares, sums
from models.ranking.floors import Floors
from models.ranking.interest_groups import adjusted_rand
from models.ranking.interest_identity import ANCHORS, anchors_of, contained, matched, overlap
from models.ranking.interest_names import distinctive_terms, readable
from models.ranking.interests import SAMPLE, Interests, Known, find_interests
from models.ranking.model import Model
from models.ranking.proportions import (
    LEAST_DAMPED,
    Portfolio,
    damping,
    weighted,
)
from models.recommending import Request, Slate, leaders, recommend
from models.training import train
from tests.models.papers import history_of, training_set
from tests.models.topics import (
    COMMON,
    QUICK,
    TOPICS,
    as_found,
    documents,
    ids_about,
    library,
    topic_of,
    topical_model,
)

NINETY_TEN = library(tides=27, parsing=3)


@pytest.fixture(scope="module")
def trained() -> Model:
    """By one person with 90 % of one topic and 10 % of another."""
    return topical_model(likes=History.of_saved(NINETY_TEN))


@pytest.fixture(scope="module")
def untrained() -> Model:
    """The same texts, which nobody trained on."""
    texts, ids = documents()
    nothing = train(training_set([], ids=np.zeros(0, np.int64)))
    none = np.full(len(ids), np.nan, np.float32)
    return nothing.extend(ids, texts, none, np.zeros(len(ids), np.float32))


@pytest.fixture(params=["trained", "untrained"])
def model(request: pytest.FixtureRequest) -> Model:
    found: Model = request.getfixturevalue(request.param)
    return found


def slate(model: Model, liked: np.ndarray, *, history: History | None = None, **asked) -> Slate:
    request = Request(limit=20, **asked)
    history = history or History.of_saved(liked)
    return recommend(model, history, request, rng=np.random.default_rng(0))


def topics_of(made: Slate) -> list[str]:
    return [topic_of(item.item_id) for item in made.items]


# ---- Groups ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "papers",
    [
        {"tides": 40},
        {"tides": 20, "batteries": 20},
        {"tides": 20, "parsing": 10, "batteries": 10},
        {"tides": 27, "parsing": 3},
    ],
    ids=str,
)
def test_the_groups_are_the_topics(model: Model, papers: dict[str, int]):
    found = find_interests(model, library(**papers))
    topics = [{topic_of(one) for one in found.members(g).tolist()} for g in range(found.n_groups)]
    assert sorted(topics, key=str) == sorted(({topic} for topic in papers), key=str)
    sizes = np.bincount(found.groups)
    assert sizes.tolist() == sorted(sizes, reverse=True)


def test_the_same_library_in_any_order_has_the_same_interests(model: Model):
    liked = library(tides=20, parsing=10)
    one, other = find_interests(model, liked), find_interests(model, np.flip(liked))
    assert one.groups.tolist() == other.groups.tolist()
    assert one.likeness.tolist() == other.likeness.tolist()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_few_papers_are_one_interest(model: Model, n: int):
    liked = library(tides=20, batteries=20)[:: 40 // n][:n]
    assert find_interests(model, liked).n_groups == 1


def test_no_papers_are_no_interest(model: Model):
    for liked in (np.zeros(0, np.int64), np.array([7])):
        found = find_interests(model, liked)
        assert (found.n_groups, len(found.item_ids)) == (0, 0)
        made = slate(model, liked, interests=as_found(found))
        assert {item.interest for item in made.items} == {None}


@pytest.mark.parametrize("text", ["", "the same paper about estuaries and tides", "深度学习"])
def test_papers_that_are_all_alike_are_one_interest(text: str):
    model = train(training_set([text] * 30))
    found = find_interests(model, np.arange(100, 120))
    assert found.n_groups == 1
    assert len(slate(model, found.item_ids, interests=as_found(found)).items) == 10


def test_what_words_mean_is_worked_out_once_a_model(trained: Model):
    found = trained.meanings
    assert trained.meanings is found
    assert not found.flags.writeable
    new = np.array([90_001], np.int64)
    grown = trained.extend(new, ["tidal " * 40], np.array([2026.0]), np.array([0.0]))
    assert grown.meanings.shape == found.shape
    assert np.abs(grown.meanings - found).max() > 0, "the catalogue has another middle now"


def test_a_large_library_is_grouped_by_a_sample():
    texts, ids = documents(each=400)
    model = train(training_set(texts, ids=np.arange(len(ids))))
    found = find_interests(model, np.arange(1200))
    assert len(found.item_ids) > SAMPLE
    assert adjusted_rand(found.groups, np.arange(1200) // 400) == 1


@given(st.lists(st.integers(0, 3), min_size=2, max_size=40))
def test_agreement_does_not_depend_on_the_names_of_the_groups(groups: list[int]):
    one = np.array(groups)
    assert adjusted_rand(one, 3 - one) == pytest.approx(1)


# ---- What was found before ---------------------------------------------------------------------


def held(*papers: np.ndarray, is_set: bool = True) -> list[Known]:
    return [Known(item_ids=one, is_set=is_set) for one in papers]


def test_what_a_person_has_set_is_held_together(model: Model):
    """Here two halves of one topic: nothing that any new grouping would find."""
    liked = library(tides=20, parsing=10)
    halves = held(liked[:10], liked[10:20])
    found = find_interests(model, liked, halves)
    assert [found.members(g).size for g in range(3)] == [10, 10, 10]
    assert sorted(found.known.tolist()) == [-1, 0, 1]
    for group, place in enumerate(found.known.tolist()):
        if place >= 0:
            assert set(found.members(group)) == set(halves[place].item_ids)
    loose = find_interests(model, liked, held(liked[:10], liked[10:20], is_set=False))
    assert loose.n_groups == 2, "unless nobody cares"


def test_an_interest_that_lies_apart_stays_though_it_would_not_be_found(model: Model):
    grown = library(tides=9, parsing=3)
    before = held(ids_about("tides", 9), ids_about("parsing", 3), is_set=False)
    found = find_interests(model, grown, before)
    assert found.known.tolist() == [0, 1]
    assert np.bincount(found.groups).tolist() == [9, 3]


def test_what_is_set_swallows_no_neighbour(model: Model):
    liked = library(tides=20)
    known = [*held(liked[:5]), *held(liked[5:], is_set=False)]
    assert find_interests(model, liked, known).known.tolist() == [1, 0]


def test_new_papers_join_what_is_held_or_are_something_new(model: Model):
    before = held(ids_about("tides", 12), ids_about("parsing", 4))
    found = find_interests(model, library(tides=15, parsing=6, batteries=9), before)
    assert found.known.tolist() == [0, -1, 1]
    topics = [{topic_of(one) for one in found.members(g).tolist()} for g in range(3)]
    assert topics == [{"tides"}, {"batteries"}, {"parsing"}]


def test_what_turns_out_to_be_two_topics_is_cut(model: Model):
    liked = library(tides=20, parsing=10)
    found = find_interests(model, liked, held(liked))
    assert found.known.tolist() == [0, -1]
    assert np.bincount(found.groups).tolist() == [20, 10]


# ---- Names -------------------------------------------------------------------------------------


def test_names_are_the_words_of_the_topic_as_they_are_written(model: Model):
    parts = [library(tides=20), library(parsing=20)]
    texts, _ = documents()
    tides, parsing = distinctive_terms(model, parts, most=10)
    assert {"estuari", "salin"} & set(tides)
    assert not set(tides) & set(parsing)
    shown = readable(tides, texts, most=3)
    assert len(shown) == 3
    assert all(any(word in text.split() for text in texts) for word in shown)


def test_names_are_what_most_of_the_papers_have_and_few_others():
    rng = np.random.default_rng(0)
    others = [" ".join([*rng.choice(COMMON.split(), 6), "tide"]) for _ in range(200)]
    own = ["tabular tree data across sample", "tabular rows model across sample", "tabular field"]
    model = train(training_set([*own, *others], ids=np.arange(203)), QUICK)
    (terms,) = distinctive_terms(model, [np.arange(3)], most=5)
    assert terms[0] == "tabular"
    assert "across" not in terms


def test_two_papers_without_a_word_in_common_have_a_name_all_the_same():
    rng = np.random.default_rng(0)
    others = [" ".join(rng.choice(COMMON.split(), 6)) for _ in range(50)]
    model = train(training_set(["tidal moats", "kelp lanterns", *others], ids=np.arange(52)), QUICK)
    (terms,) = distinctive_terms(model, [np.arange(2)], most=3)
    assert len(terms) == 3


def test_a_compound_is_named_once():
    texts = ["Low-rank adapters of E2LoRA", "low-rank updates", "E2LoRA and low-rank adapters"]
    terms = ["low", "lowrank", "rank", "e2lora", "nowher", "adapt"]
    assert readable(terms, texts, most=5) == ("low-rank", "E2LoRA", "adapters")


# ---- Identity ----------------------------------------------------------------------------------

few_ids = st.sets(st.integers(0, 400), max_size=150).map(lambda ids: np.array(sorted(ids), int))


@given(few_ids, few_ids)
@settings(deadline=None)
def test_the_overlap_of_small_sets_is_exact(one: np.ndarray, other: np.ndarray):
    union = len(np.union1d(one, other))
    if union <= ANCHORS:
        expected = len(np.intersect1d(one, other)) / max(1, union)
        assert overlap(anchors_of(one), anchors_of(other)) == pytest.approx(expected)


def test_the_overlap_of_large_sets_is_estimated():
    one, other = anchors_of(np.arange(90_000)), anchors_of(np.arange(30_000, 120_000))
    assert overlap(one, other) == pytest.approx(0.5, abs=0.15)
    assert contained(one, other) == pytest.approx(2 / 3, abs=0.2)
    assert contained(anchors_of(np.arange(50)), one) > 0.9 or len(one) == ANCHORS


def test_each_group_is_at_most_one_known_interest():
    known = [np.arange(0, 20), np.arange(50, 60)]
    groups = [np.arange(50, 65), np.arange(2, 25), np.arange(200, 220)]
    assert matched(known, groups) == [1, 0, None]
    assert matched([], groups) == [None] * 3


# ---- Slates ------------------------------------------------------------------------------------


def test_a_tenth_of_the_library_has_two_places_of_twenty(model: Model):
    found = find_interests(model, NINETY_TEN)
    made = slate(model, NINETY_TEN, interests=as_found(found))
    assert topics_of(made).count("parsing") == 2
    assert len({item.item_id for item in made.items}) == 20
    assert [item.interest for item in made.items] == [
        int(topic == "parsing") for topic in topics_of(made)
    ]
    for item in made.items:
        assert sum(item.parts.values()) == pytest.approx(item.score, abs=1e-5)


@pytest.mark.parametrize("others", [1, 2, 4])
@pytest.mark.parametrize("minority", [2, 3, 4])
def test_a_tenth_is_not_missed_however_few_papers_it_is(minority: int, others: int):
    """Two papers of twenty are no interest that can be told from chance, and yet in the slate;
    whatever else the person reads."""
    texts, ids = documents(140)
    liked = np.concatenate([np.arange(1000, 1000 + 9 * minority), np.arange(2000, 2000 + minority)])
    taken = history_of(*liked.tolist())
    data = training_set(texts, ids=ids, history=taken)
    model = train(data, QUICK, seed=others)
    found = find_interests(model, liked)
    made = slate(model, liked, interests=as_found(found))
    assert topics_of(made).count("parsing") >= 1
    assert len(made.items) == len({item.item_id for item in made.items}) == 20


def test_without_the_shares_the_minority_is_lost(trained: Model):
    assert topics_of(slate(trained, NINETY_TEN)).count("parsing") < 2


def test_one_interest_gets_exactly_the_plain_list(model: Model):
    liked = library(tides=30)
    found = find_interests(model, liked)
    plain = slate(model, liked)
    for weight in (1.0, 3.0):
        made = slate(model, liked, interests=as_found(found, [weight]))
        assert [one.item_id for one in made.items] == [one.item_id for one in plain.items]
        assert [one.score for one in made.items] == [one.score for one in plain.items]


@pytest.mark.parametrize("muted", [0, 1])
def test_nothing_of_a_muted_interest_is_recommended(model: Model, muted: int):
    found = find_interests(model, NINETY_TEN)
    weights = [1.0, 1.0]
    weights[muted] = 0
    made = slate(model, NINETY_TEN, interests=as_found(found, weights))
    assert made.strategy == "personal"
    assert ["tides", "parsing"][muted] not in topics_of(made)
    own = set(found.members(muted).tolist())
    assert not own & {reason.item_id for item in made.items for reason in item.because}


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_list_too_short_for_any_share_goes_by_score(model: Model, limit: int):
    found = find_interests(model, library(tides=12, parsing=12, batteries=12))
    liked = History.of_saved(found.item_ids)
    request = Request(limit=limit, interests=as_found(found, [1.0] * found.n_groups))
    made = recommend(model, liked, request, rng=np.random.default_rng(0))
    assert len(made.items) == limit


@pytest.mark.parametrize("n_allowed", [5, 12, 30])
def test_muting_does_not_shorten_a_list_that_could_be_full(model: Model, n_allowed: int):
    found = find_interests(model, NINETY_TEN)
    new = np.setdiff1d(model.item_ids, NINETY_TEN)
    allowed = new[np.linspace(0, len(new) - 1, n_allowed).astype(int)]
    portfolio = as_found(found, [0, 1])
    loud = allowed[~portfolio.mutes(model, model.items.positions(allowed))]
    made = slate(model, NINETY_TEN, interests=portfolio, allowed=allowed)
    assert made.n_candidates == len(loud)
    assert len(made.items) == min(20, len(loud))


def test_who_mutes_everything_gets_what_is_new_to_them(model: Model):
    found = find_interests(model, NINETY_TEN)
    made = slate(model, NINETY_TEN, interests=as_found(found, [0, 0]))
    assert made.strategy == "cold_start"
    assert set(topics_of(made)) == {"batteries"}


def test_more_weight_is_more_places(model: Model):
    found = find_interests(model, library(tides=20, parsing=10))
    counts = [
        topics_of(slate(model, found.item_ids, interests=as_found(found, [1, weight]))).count(
            "parsing"
        )
        for weight in (0.25, 1, 4)
    ]
    assert counts == sorted(counts)
    assert counts[2] > counts[0]


def test_only_the_proportions_of_the_weights_matter(model: Model):
    found = find_interests(model, NINETY_TEN)
    rows = model.items.positions(found.item_ids)
    evidence = Evidence(rows=rows, confidence=np.ones(len(rows), np.float32))
    one, other = (weighted(model, evidence, as_found(found, w)) for w in ([1, 2], [2, 4]))
    np.testing.assert_allclose(one.confidence, other.confidence, rtol=1e-5)
    assert one.confidence.sum() == pytest.approx(30, rel=1e-5)


def test_two_groups_can_be_one_interest(model: Model):
    found = find_interests(model, NINETY_TEN)
    merged = Portfolio(found=found, unit_of=np.zeros(2, np.int64), weights=np.ones(1, np.float32))
    made, plain = slate(model, NINETY_TEN, interests=merged), slate(model, NINETY_TEN)
    scores = {one.item_id: one.score for one in plain.items}
    kept = [one for one in made.items if one.item_id in scores]
    assert [one.score for one in kept] == [scores[one.item_id] for one in kept]
    assert topics_of(made).count("parsing") >= 1, "merged, and still not to be missed"
    assert {one.interest for one in made.items} == {0}


def test_seeds_stand_for_all_interests(model: Model):
    found = find_interests(model, NINETY_TEN)
    seeds = found.members(1)
    muted = as_found(found, [1, 0])
    made = slate(model, NINETY_TEN, interests=muted, seeds=seeds)
    assert topics_of(made)[:10] == ["parsing"] * 10
    assert {one.interest for one in made.items} == {None}


def test_a_recommendation_comes_from_the_interest_that_adds_most(trained: Model):
    liked = library(tides=12, parsing=8)
    portfolio = as_found(find_interests(trained, liked))
    rows = trained.items.positions(liked)
    blended = blend(trained, Evidence(rows=rows, confidence=np.ones(20, np.float32)))
    targets = np.arange(40, 170)
    each = shares(blended, targets)
    of_tides, of_parsing = each[:, :12].sum(axis=1), each[:, 12:].sum(axis=1)
    np.testing.assert_allclose(of_tides + of_parsing, blended.scores[targets], atol=1e-4)
    expected = np.where(np.maximum(of_tides, of_parsing) > 0, of_parsing > of_tides, -1)
    assert Floors(trained, portfolio, blended).origins(targets).tolist() == expected.tolist()


def test_what_groups_add_is_the_sum_of_their_papers_shares(trained: Model):
    rows = trained.items.positions(library(tides=12, parsing=8))
    confidence = np.ones(20, np.float32)
    confidence[[3, 15]] = -0.5
    blended = blend(trained, Evidence(rows=rows, confidence=confidence))
    belongs = np.random.default_rng(0).integers(0, 2, (20, 3)).astype(np.float32)
    targets = np.arange(30, 170)
    expected = shares(blended, targets) @ belongs
    np.testing.assert_allclose(sums(blended, belongs)(targets), expected, atol=1e-4)
    assert np.abs(expected).max() > 0.1


def test_titles_beside_abstracts_fill_the_share_too():
    """What is like three abstracts is a title of four words, and thousands are like the others."""
    texts, liked = titles_beside_abstracts()
    model = train(training_set(texts, ids=np.arange(len(texts))), QUICK)
    found = find_interests(model, liked, held(liked[:9], liked[9:]))
    unit_of = np.array([int(found.members(g)[0] >= 9) for g in range(found.n_groups)])
    for weight, limit in ((1.0, 20), (4.0, 20), (1.0, 100), (4.0, 100)):
        portfolio = Portfolio(
            found=found,
            unit_of=unit_of,
            weights=np.array([1, weight], np.float32),
        )
        request = Request(limit=limit, interests=portfolio)
        made = recommend(model, History.of_saved(liked), request, rng=np.random.default_rng(0))
        share = 3 * weight / (9 + 3 * weight)
        assert [one.interest for one in made.items].count(1) >= int(share * limit)
        assert None not in [one.interest for one in made.items]


def titles_beside_abstracts() -> tuple[list[str], np.ndarray]:
    """Nine abstracts on tides, three on parsing, then 600 titles and what is liked of it."""
    rng = np.random.default_rng(0)
    tides, parsing, common = (
        words.split() for words in (TOPICS["tides"], TOPICS["parsing"], COMMON)
    )

    def text(words: list[str], n: int, n_common: int) -> str:
        drawn = [*rng.choice(words, n), *rng.choice(common, n_common)]
        return " ".join(rng.permutation(drawn))

    abstracts = [text(tides, 40, 30) for _ in range(9)] + [text(parsing, 20, 60) for _ in range(3)]
    titles = [text(tides, 3, 2) for _ in range(500)] + [text(parsing, 1, 4) for _ in range(100)]
    return [*abstracts, *titles], np.arange(12)


# ---- Not my topic ------------------------------------------------------------------------------


def dismissing(found: Interests, dismissed: np.ndarray) -> History:
    ids = [*found.item_ids.tolist(), *dismissed.tolist()]
    is_new = np.arange(len(ids)) >= len(found.item_ids)
    return history_of(*ids, saved=~is_new, dismissed=is_new)


def test_a_dismissal_weakens_the_interest_it_belongs_to(model: Model):
    found = find_interests(model, library(tides=20, parsing=10))
    unit_of = np.arange(2)
    none = damping(model, found, unit_of, 2, History.of_saved(found.item_ids))
    assert none.tolist() == [1, 1]
    for n, expected in ((1, 0.8), (2, 0.64), (30, LEAST_DAMPED)):
        history = dismissing(found, ids_about("parsing", n, start=20))
        assert damping(model, found, unit_of, 2, history) == pytest.approx([1, expected])


def test_a_dismissal_of_something_else_weakens_nothing(model: Model):
    found = find_interests(model, library(tides=20, parsing=10))
    history = dismissing(found, ids_about("batteries", 5))
    assert damping(model, found, np.arange(2), 2, history).tolist() == [1, 1]


# ---- Together with the other rules of a slate --------------------------------------------------


def test_a_shared_slate_says_the_exact_chances_of_what_is_drawn(model: Model):
    found = find_interests(model, NINETY_TEN)
    request = Request(limit=20, interests=as_found(found), exploration=0.13)
    seen: dict[int, int] = {}
    said: dict[int, float] = {}
    rng = np.random.default_rng(5)
    rounds = 400
    for _ in range(rounds):
        made = recommend(model, History.of_saved(NINETY_TEN), request, rng=rng)
        assert len({item.item_id for item in made.items}) == 20
        for item in made.items:
            seen[item.item_id] = seen.get(item.item_id, 0) + 1
            assert said.setdefault(item.item_id, item.propensity) == item.propensity
    for item_id, n in seen.items():
        deviation = np.sqrt(said[item_id] * (1 - said[item_id]) / rounds)
        assert n / rounds == pytest.approx(said[item_id], abs=5 * deviation + 1e-9)


def test_what_is_kept_of_an_explored_slate_keeps_the_shares(model: Model):
    portfolio = as_found(find_interests(model, NINETY_TEN))
    request = Request(limit=20, interests=portfolio, exploration=0.3)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        made = recommend(model, History.of_saved(NINETY_TEN), request, rng=rng)
        kept = [topic_of(item.item_id) for item in made.items if not item.explored]
        assert len(kept) == 14
        assert kept.count("parsing") == 1, "a tenth of 14"


def test_an_explanation_with_interests_says_what_the_list_says(model: Model):
    found = find_interests(model, NINETY_TEN)
    portfolio = as_found(found, [1.0, 3.0])
    history = History.of_saved(NINETY_TEN)
    request = Request(limit=20, interests=portfolio, freshness=0.5)
    for item in slate(model, NINETY_TEN, interests=portfolio, freshness=0.5).items:
        told = explain(model, history, request, item.item_id, counterfactuals=0)
        assert told is not None
        assert (told.score, told.rank) == (item.score, item.score_rank)
        assert told.parts[-1].name == "freshness"


def test_a_paper_of_a_muted_interest_is_no_candidate(model: Model):
    portfolio = as_found(find_interests(model, NINETY_TEN), [1.0, 0.0])
    request = Request(limit=20, interests=portfolio)
    new = int(ids_about("parsing", 1, start=30)[0])
    told = explain(model, History.of_saved(NINETY_TEN), request, new)
    assert told is not None
    assert (told.is_muted, told.rank) == (True, None)
    assert new not in leaders(model, History.of_saved(NINETY_TEN), replace(request, limit=500))
