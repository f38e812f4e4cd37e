"""The way out: papers for one person, each with its reasons.

Four stages: candidates, ranking, re-ranking, slate. The first says what may be shown at all; a
later one may drop or reorder but never add.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from models import FloatArray, IntArray
from models.config import Config
from models.feedback import History
from models.ranking.blend import Evidence, blend
from models.ranking.candidates import best, candidates
from models.ranking.explain import shared_terms, shares, term_shares
from models.ranking.explore import Explored, explore, most_drawn
from models.ranking.floors import Floors
from models.ranking.model import Model
from models.ranking.proportions import Portfolio, weighted
from models.ranking.rerank import diversified
from models.ranking.scoring import (
    NO_IDS,
    Ranking,
    evidence_of,
    place_by_score,
    rank_all,
    tie_break,
)
from models.ranking.twins import distinct_best, twins

POOL_FACTOR = 4
"""Re-ranking chooses among that many times the papers asked for ..."""
SMALLEST_POOL, LARGEST_POOL = 40, 400
"""... but never fewer or more than these."""
MOST_REASONS = 3
NOT_FROM_PAPERS = ("prior", "freshness", "recency", "centrality")
"""Parts of a score that say the same of a paper whoever asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is wanted.

    ``limit`` papers at most. ``allowed``: rank only these ids. ``exclude``: never these. ``seeds``:
    recommend around these papers instead of around what the person likes; dislikes still count.
    ``diversity`` 0 to 1. ``freshness`` 0 to 1: how much a recent paper gains, see
    ``ranking/scoring.py``. ``explain``: fill in ``because``. ``exploration`` 0 to 0.5: the share of
    the slate that goes to papers drawn from below it, so that their worth can be learned.
    ``interests``: how the person's interests are to count; seeds stand for all of them.
    """

    limit: int
    allowed: IntArray | None = None
    exclude: IntArray = field(default_factory=NO_IDS.copy)
    seeds: IntArray = field(default_factory=NO_IDS.copy)
    diversity: float = Config().diversity
    freshness: float = 0.0
    explain: bool = True
    exploration: float = 0.0
    interests: Portfolio | None = None

    @property
    def portfolio(self) -> Portfolio | None:
        """The interests, where they make a difference."""
        is_used = self.interests and self.interests.matters and len(self.seeds) == 0
        return self.interests if is_used else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """``amount`` of a score that is owed to the person's paper ``item_id``; ``terms`` are those
    that both papers have, the weightiest first."""

    item_id: int
    amount: float
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """A paper in a slate.

    ``rank`` is its place in the slate, from 1; ``score_rank`` its place by score among all
    candidates, before re-ranking. ``parts`` sum to ``score``, which is comparable within one slate
    only. ``because``: at most three of the person's papers, the largest positive shares.
    ``propensity``: the chance the paper had to be in this slate, of this model; ``explored``: it
    was drawn. ``interest``: the number of the interest it comes from, whose papers add most to the
    score; None where none of them adds anything. ``terms``: what each term of the paper adds to the
    score, as far as words account for it; None in a slate that was not to be explained or is not
    personal.
    """

    item_id: int
    rank: int
    score: float
    parts: Mapping[str, float]
    because: tuple[Contribution, ...]
    propensity: float
    explored: bool = False
    score_rank: int = 0
    interest: int | None = None
    terms: Mapping[str, float] | None = None

    @property
    def from_papers(self) -> float:
        """What of the score the person's papers account for."""
        return self.score - sum(self.parts.get(name, 0.0) for name in NOT_FROM_PAPERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slate:
    """The answer; ``n_candidates`` papers could have been in it."""

    items: tuple[Recommended, ...]
    strategy: Literal["personal", "cold_start"]
    n_candidates: int


def recommend(
    model: Model, history: History, request: Request, *, rng: np.random.Generator
) -> Slate:
    """The best papers for the person, none of which they know, in ``exclude`` or a seed, nor
    the twin of such a paper or of another in the slate.

    There are fewer than ``limit`` only if there are no more candidates. Same arguments, same
    generator state: same slate.
    """
    rows = open_rows(model, history, request)
    limit = max(0, request.limit)
    if len(rows) == 0 or limit == 0:
        return Slate(items=(), strategy="cold_start", n_candidates=len(rows))
    ranking = _ranked(model, evidence_for(model, history, request), request)
    met = np.concatenate([history.known_ids, request.exclude, request.seeds])
    pool = _pool(model, ranking.scores, rows, _pool_size(limit), met)
    chosen = diversified(
        model.content, pool, ranking.scores[pool], limit=limit, diversity=ranking.diversity
    )
    taken_for: Mapping[int, int] = {}
    if request.portfolio and ranking.blended:
        floors = Floors(model, request.portfolio, ranking.blended)
        met_rows = model.items.positions(met)
        places = floors.kept(chosen, rows, limit=limit, scores=ranking.scores, met=met_rows)
        places = floors.spare_last(places, most_drawn(request.exploration, len(places.rows)))
        chosen = places.rows
        taken_for = dict(zip(chosen.tolist(), places.units.tolist(), strict=True))
    pool = _with_proposals(model, pool, chosen)
    explored = explore(chosen, pool, request.exploration, rng=rng)
    return Slate(
        items=_explained(model, ranking, explored, rows, request, taken_for),
        strategy=ranking.strategy,
        n_candidates=len(rows),
    )


def leaders(model: Model, history: History, request: Request) -> IntArray:
    """The ids (≤ limit,) int64 of the highest scores, best first: before re-ranking, so that what
    differs between two of these lists is owed to what the person did, and not to chance."""
    rows = open_rows(model, history, request)
    ranking = _ranked(model, evidence_for(model, history, request), request)
    top = best(ranking.scores, rows, max(0, request.limit), tie_break(model))
    return model.item_ids[top]


def related(
    model: Model, item_id: int, *, limit: int, exclude: IntArray = NO_IDS
) -> tuple[tuple[int, float], ...]:
    """Papers like the given one with their scores, best first; none for an unknown paper.

    Papers that have nothing to do with it (score 0 or less) are left out, and so are its twins.
    """
    own = np.array([item_id], np.int64)
    evidence = evidence_of(model, History.empty(), own)
    if not evidence.is_positive:
        return ()
    scores = blend(model, evidence).taste
    rows = candidates(model.items, None, own, exclude)
    chosen = _pool(model, scores, rows, max(0, limit), np.concatenate([own, exclude]))
    return tuple(
        (int(model.item_ids[row]), float(scores[row])) for row in chosen if scores[row] > 0
    )


def rank_without(
    model: Model,
    history: History,
    request: Request,
    *,
    item_id: int,
    without: int,
    interests: Portfolio | None = None,
) -> int | None:
    """Where ``item_id`` would rank by score if the person had never met ``without``.

    Computed, not estimated: fold-in, scales and weights are done again. ``interests`` are those of
    somebody who never met it, those of the request if not given. The ranked papers are those of the
    request, so ``without`` itself does not reappear. None if ``item_id`` is no candidate.
    """
    rows = open_rows(model, history, request)
    target, known = model.items.look_up(np.array([item_id], np.int64))
    if not known[0] or target[0] not in rows:
        return None
    seeds = request.seeds[request.seeds != without]
    shorter = replace(request, seeds=seeds, interests=interests or request.interests)
    evidence = evidence_for(model, history.where(history.item_ids != without), shorter)
    scores = _ranked(model, evidence, shorter).scores
    return place_by_score(scores, rows, tie_break(model), int(target[0]))


def evidence_for(model: Model, history: History, request: Request) -> Evidence:
    """The evidence as the request wants it to count: with its seeds, or weighted by interests."""
    evidence = evidence_of(model, history, request.seeds)
    return weighted(model, evidence, request.portfolio) if request.portfolio else evidence


def open_rows(model: Model, history: History, request: Request) -> IntArray:
    """The candidates: rows (c,) int64 of the papers that may be recommended, ascending; none that
    the person knows, and none of an interest that is muted."""
    known = history.known_ids
    rows = candidates(model.items, request.allowed, known, request.exclude, request.seeds)
    if request.portfolio is None or not request.portfolio.mutes_any:
        return rows
    return rows[~request.portfolio.mutes(model, rows)]


def _ranked(model: Model, evidence: Evidence, request: Request) -> Ranking:
    return rank_all(model, evidence, diversity=request.diversity, freshness=request.freshness)


def _pool_size(limit: int) -> int:
    return max(limit, min(max(POOL_FACTOR * limit, SMALLEST_POOL), LARGEST_POOL))


def _pool(
    model: Model,
    scores: FloatArray,
    rows: IntArray,
    size: int,
    met_ids: IntArray,
) -> IntArray:
    """The ``size`` best of ``rows``, each work once and none of those that were met."""
    return distinct_best(
        model.content,
        model.title_keys,
        scores,
        rows,
        size,
        tie_break=tie_break(model),
        met=np.unique(model.items.positions(met_ids)),
    )


def _with_proposals(model: Model, pool: IntArray, chosen: IntArray) -> IntArray:
    """The pool with what interests proposed from outside, and without the twins of that: so every
    row of a slate is of the pool, and what is drawn from there is no twin of it."""
    new = np.setdiff1d(chosen, pool)
    if len(new) == 0:
        return pool
    copies = twins(model.content, model.title_keys, pool, new)[0]
    return np.concatenate([np.delete(pool, np.unique(copies)), new])


def _explained(
    model: Model,
    ranking: Ranking,
    slate: Explored,
    rows: IntArray,
    request: Request,
    taken_for: Mapping[int, int],
) -> tuple[Recommended, ...]:
    chosen = slate.rows
    reasons = _reasons(model, ranking, chosen) if request.explain else ((),) * len(chosen)
    terms = _terms(model, ranking, chosen) if request.explain else (None,) * len(chosen)
    interests = _interests(model, ranking, chosen, request, taken_for)
    prior = tie_break(model)
    return tuple(
        Recommended(
            item_id=int(model.item_ids[row]),
            rank=place + 1,
            score=sum(float(part[row]) for part in ranking.parts.values()),
            parts={name: float(part[row]) for name, part in ranking.parts.items()},
            because=reasons[place],
            propensity=float(slate.propensities[place]),
            explored=bool(slate.is_drawn[place]),
            score_rank=place_by_score(ranking.scores, rows, prior, int(row)),
            interest=interests[place],
            terms=terms[place],
        )
        for place, row in enumerate(chosen)
    )


def _interests(
    model: Model,
    ranking: Ranking,
    chosen: IntArray,
    request: Request,
    taken_for: Mapping[int, int],
) -> Sequence[int | None]:
    """The interest for whose share a row was taken, or whose papers add most to its score."""
    interests = request.interests
    if not interests or len(request.seeds) or not ranking.blended or not len(interests.weights):
        return [None] * len(chosen)
    units = Floors(model, interests, ranking.blended).origins(chosen).tolist()
    told = [taken_for.get(row, unit) for row, unit in zip(chosen.tolist(), units, strict=True)]
    return [None if unit < 0 else unit for unit in told]


def _reasons(
    model: Model, ranking: Ranking, chosen: IntArray
) -> tuple[tuple[Contribution, ...], ...]:
    if ranking.blended is None:
        return ((),) * len(chosen)
    own = ranking.blended.evidence.rows
    lines = shares(ranking.blended, chosen)
    return tuple(
        tuple(
            Contribution(
                item_id=int(model.item_ids[own[i]]),
                amount=float(line[i]),
                terms=shared_terms(model.content, int(row), int(own[i])),
            )
            for i in np.argsort(-line, kind="stable")[:MOST_REASONS]
            if line[i] > 0
        )
        for row, line in zip(chosen, lines, strict=True)
    )


def _terms(
    model: Model, ranking: Ranking, chosen: IntArray
) -> tuple[Mapping[str, float] | None, ...]:
    if ranking.blended is None:
        return (None,) * len(chosen)
    vocabulary = model.content.vocabulary
    lines = term_shares(ranking.blended, chosen, len(vocabulary))
    return tuple(
        {vocabulary[column]: float(amount) for column, amount in zip(columns, amounts, strict=True)}
        for columns, amounts in (
            (lines.indices[start:end], lines.data[start:end])
            for start, end in pairwise(lines.indptr)
        )
    )
