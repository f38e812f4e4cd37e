"""What an interest proposes to have its share of a slate."""

from dataclasses import replace

import numpy as np
import pytest

from models.explaining import explain
from models.feedback import History
from models.ranking.interests import find_interests
from models.ranking.model import Model
from models.recommending import Request, Slate, leaders, recommend
from tests.models.papers import history_of
from tests.models.topics import as_found, library, topic_of, topical_model

LIKED = library(tides=27, parsing=3)
HISTORY = History.of_saved(LIKED)


@pytest.fixture(scope="module")
def model() -> Model:
    """By one person with 90 % of one topic and 10 % of another."""
    return topical_model(likes=HISTORY)


def wanted(model: Model, limit: int, **asked: object) -> Request:
    portfolio = as_found(find_interests(model, LIKED))
    return Request(limit=limit, interests=portfolio, **asked)


def made(model: Model, request: Request, *, history: History = HISTORY, seed: int = 0) -> Slate:
    return recommend(model, history, request, rng=np.random.default_rng(seed))


def about(topic: str, slate: Slate) -> list[int]:
    return [item.item_id for item in slate.items if topic_of(item.item_id) == topic]


def of_one_title(model: Model, *item_ids: int) -> Model:
    """The model with these papers for versions of one work."""
    keys = model.title_keys.copy()
    keys[model.items.positions(np.array(item_ids))] = (7, 0)
    return replace(model, title_keys=keys)


def test_no_two_proposals_are_twins(model: Model):
    of_parsing = about("parsing", made(model, wanted(model, 20)))
    joined = of_one_title(model, *of_parsing)
    for seed in range(20):
        slate = made(joined, wanted(joined, 20, exploration=0.5), seed=seed)
        assert len(set(of_parsing) & {item.item_id for item in slate.items}) <= 1
    slate = made(joined, wanted(joined, 20))
    assert len(about("parsing", slate)) == 2, "another takes the place of the twin"


def test_what_is_drawn_is_no_twin_of_a_proposal(model: Model):
    request = wanted(model, 12)
    (proposed,) = about("parsing", made(model, request))
    pool = leaders(model, HISTORY, replace(request, limit=48)).tolist()
    assert proposed not in pool, "it comes from outside of what is drawn from"
    drawn = pool[-1]
    joined = of_one_title(model, proposed, drawn)
    for seed in range(200):
        slate = made(joined, replace(request, exploration=1 / 6), seed=seed)
        found = [item.item_id for item in slate.items]
        assert proposed in found[:10], "ten places are kept, and one of them is its interest's"
        assert drawn not in found


@pytest.mark.parametrize("kind", ["saved", "dismissed", "excluded"])
def test_a_proposal_is_no_twin_of_what_one_knows(model: Model, kind: str):
    request = wanted(model, 10)
    (proposed,) = about("parsing", made(model, request))
    other = int(library(batteries=1)[0])
    history = HISTORY
    if kind == "saved":
        other = int(LIKED[0])
    elif kind == "dismissed":
        is_new = np.arange(len(LIKED) + 1) == len(LIKED)
        history = history_of(*LIKED, other, saved=~is_new, dismissed=is_new)
    else:
        request = replace(request, exclude=np.array([other]))
    assert about("parsing", made(model, request, history=history)) == [proposed]
    joined = of_one_title(model, proposed, other)
    (instead,) = about("parsing", made(joined, request, history=history))
    assert instead != proposed


@pytest.mark.parametrize("limit", [10, 20])
def test_a_proposal_gains_from_what_else_is_asked_for(model: Model, limit: int):
    years = np.random.default_rng(1).integers(2000, 2027, len(model.items))
    dated = replace(model, published_year=years.astype(np.float32)).with_prior()
    fresh = wanted(dated, limit, freshness=0.5)
    slate = made(dated, fresh)
    worth, plain = {}, {}
    by_score = {item.item_id for item in made(dated, replace(fresh, interests=None)).items}
    for item_id in set(library(parsing=60).tolist()) - set(LIKED.tolist()) - by_score:
        told = explain(dated, HISTORY, fresh, item_id, counterfactuals=0)
        assert told is not None
        owed = {"tides": 0.0, "parsing": 0.0}
        for paper in told.papers:
            owed[topic_of(paper.item_id)] += paper.amount
        if owed["parsing"] > owed["tides"]:
            without = told.score - next(x.amount for x in told.parts if x.name == "freshness")
            plain[item_id] = owed["parsing"]
            worth[item_id] = owed["parsing"] * told.score / without
    n = limit // 10
    assert set(about("parsing", slate)) == set(largest(worth, n))
    assert set(largest(worth, n)) != set(largest(plain, n)), "the year is what decides"


def largest(amounts: dict[int, float], n: int) -> list[int]:
    return sorted(amounts, key=lambda item_id: -amounts[item_id])[:n]
