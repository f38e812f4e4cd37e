"""The way out: papers for one person, each with its reasons.

Four stages: candidates, ranking, re-ranking, slate. The first says what may be shown at all; a
later one may drop or reorder but never add.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from models import FloatArray, IntArray
from models.config import Config
from models.feedback import History, to_confidence
from models.ranking.blend import PARTS, Blend, Evidence, blend
from models.ranking.candidates import best, candidates
from models.ranking.explain import shares
from models.ranking.model import Model
from models.ranking.proportions import Portfolio, best_unmuted, proportional, weighted
from models.ranking.rerank import diversified

POOL_FACTOR = 4
"""Re-ranking chooses among that many times the papers asked for ..."""
SMALLEST_POOL, LARGEST_POOL = 40, 400
"""... but never fewer or more than these."""
MOST_REASONS = 3
COLD_START_DIVERSITY = 0.4
"""Without a taste to serve, a slate should show the breadth of the catalogue."""
COLD_START_DISLIKE = 1.0
"""What the likeness to disliked papers takes away, where recency and centrality give up to 1."""
NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is wanted.

    ``limit`` papers at most. ``allowed``: rank only these ids. ``exclude``: never these. ``seeds``:
    recommend around these papers instead of around what the person likes; dislikes still count.
    ``diversity`` 0 to 1. ``explain``: fill in ``because``. ``exploration``: the chance that the
    last place goes to a paper drawn from just below the slate, so that its worth can be learned.
    ``interests``: how the person's interests are to count; seeds stand for all of them.
    """

    limit: int
    allowed: IntArray | None = None
    exclude: IntArray = field(default_factory=NO_IDS.copy)
    seeds: IntArray = field(default_factory=NO_IDS.copy)
    diversity: float = Config().diversity
    explain: bool = True
    exploration: float = 0.0
    interests: Portfolio | None = None

    @property
    def portfolio(self) -> Portfolio | None:
        """The interests, where they make a difference."""
        is_used = self.interests and not self.interests.is_plain and len(self.seeds) == 0
        return self.interests if is_used else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """``amount`` of a score that is owed to the person's paper ``item_id``."""

    item_id: int
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """A paper in a slate.

    ``rank`` is its place in the slate, from 1; ``score_rank`` its place by score among all
    candidates, before re-ranking. ``parts`` sum to ``score``, which is comparable within one slate
    only. ``because``: at most three of the person's papers, the largest positive shares.
    ``propensity``: the chance the paper had to be in this slate. ``interest``: the number of the
    interest it comes from, None for one that is near to none of them.
    """

    item_id: int
    rank: int
    score: float
    parts: Mapping[str, float]
    because: tuple[Contribution, ...]
    propensity: float
    score_rank: int = 0
    interest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slate:
    """The answer; ``n_candidates`` papers could have been in it."""

    items: tuple[Recommended, ...]
    strategy: Literal["personal", "cold_start"]
    n_candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranking:
    """Scores (m,) of one strategy; ``blended`` is None where nothing personal is in them."""

    strategy: Literal["personal", "cold_start"]
    scores: FloatArray
    parts: Mapping[str, FloatArray]
    diversity: float
    blended: Blend | None = None


def recommend(
    model: Model, history: History, request: Request, *, rng: np.random.Generator
) -> Slate:
    """The best papers for the person, none of which is in the history, in ``exclude`` or a seed.

    There are fewer than ``limit`` only if there are no more candidates. Same arguments, same
    generator state: same slate.
    """
    rows = candidates(
        model.items, request.allowed, history.item_ids, request.exclude, request.seeds
    )
    limit = max(0, request.limit)
    if len(rows) == 0 or limit == 0:
        return Slate(items=(), strategy="cold_start", n_candidates=len(rows))
    ranking = _rank(model, _evidence(model, history, request), request)
    pool = _pool(model, ranking, rows, request)
    chosen = diversified(
        model.content, pool, ranking.scores[pool], limit=limit, diversity=ranking.diversity
    )
    if request.portfolio and ranking.blended:
        chosen = proportional(model, request.portfolio, ranking.blended, chosen, rows, limit=limit)
    chosen, propensities = _explore(chosen, pool, request.exploration, rng)
    return Slate(
        items=_explained(model, ranking, chosen, propensities, rows, request),
        strategy=ranking.strategy,
        n_candidates=len(rows),
    )


def related(
    model: Model, item_id: int, *, limit: int, exclude: IntArray = NO_IDS
) -> tuple[tuple[int, float], ...]:
    """Papers like the given one with their scores, best first; none for an unknown paper.

    Papers that have nothing to do with it (score 0 or less) are left out.
    """
    own = np.array([item_id], np.int64)
    evidence = evidence_of(model, History.empty(), own)
    if not evidence.is_positive:
        return ()
    scores = blend(model, evidence).scores
    rows = candidates(model.items, None, own, exclude)
    chosen = best(scores, rows, max(0, limit), _prior(model))
    return tuple(
        (int(model.item_ids[row]), float(scores[row])) for row in chosen if scores[row] > 0
    )


def rank_without(
    model: Model, history: History, request: Request, *, item_id: int, without: int
) -> int | None:
    """Where ``item_id`` would rank by score if the person had never met ``without``.

    Computed, not estimated: fold-in, scales and weights are done again. The ranked papers are those
    of the request, so ``without`` itself does not reappear. None if ``item_id`` is no candidate.
    """
    rows = candidates(
        model.items, request.allowed, history.item_ids, request.exclude, request.seeds
    )
    target, known = model.items.look_up(np.array([item_id], np.int64))
    if not known[0] or target[0] not in rows:
        return None
    shorter = replace(request, seeds=request.seeds[request.seeds != without])
    evidence = _evidence(model, _leave_out(history, without), shorter)
    scores = _rank(model, evidence, shorter).scores
    return _score_rank(scores, rows, _prior(model), int(target[0]))


def evidence_of(model: Model, history: History, seeds: IntArray = NO_IDS) -> Evidence:
    """The papers of the history that say something and are in the model.

    With seeds these are what the person likes now, one bookmark each; of the history only the
    dislikes remain.
    """
    confidence = to_confidence(history)
    seeds = np.unique(np.asarray(seeds, np.int64))
    if len(seeds):
        confidence = np.minimum(confidence, 0)
    ids = np.concatenate([seeds, history.item_ids])
    signed = np.concatenate([np.ones(len(seeds), np.float32), confidence])
    positions, known = model.items.look_up(ids)
    kept = np.flatnonzero(known & (signed != 0))
    _, first = np.unique(positions[kept], return_index=True)
    chosen = kept[first]
    return Evidence(rows=positions[chosen], confidence=signed[chosen])


def _rank(model: Model, evidence: Evidence, request: Request) -> _Ranking:
    if evidence.is_positive:
        blended = blend(model, evidence)
        if np.any(blended.scores != 0):
            rows = np.arange(len(model.items))
            return _Ranking(
                strategy="personal",
                scores=blended.scores,
                parts={name: blended.part(name, rows) for name in PARTS},
                diversity=request.diversity,
                blended=blended,
            )
    return _rank_cold(model, evidence, request)


def _rank_cold(model: Model, evidence: Evidence, request: Request) -> _Ranking:
    dislikes = evidence.confidence < 0
    away = np.zeros(len(model.items), np.float32)
    if dislikes.any():
        disliked = Evidence(rows=evidence.rows[dislikes], confidence=evidence.confidence[dislikes])
        away = _likeness_to(model, disliked)
    nothing = np.zeros(len(model.items), np.float32)
    parts = {
        "collaborative": nothing,
        "neighbours": nothing,
        "content": -np.float32(COLD_START_DISLIKE) * away,
        "recency": np.asarray(model.recency, np.float32),
        "centrality": np.asarray(model.centrality, np.float32),
    }
    return _Ranking(
        strategy="cold_start",
        scores=parts["content"] + parts["recency"] + parts["centrality"],
        parts=parts,
        diversity=max(request.diversity, COLD_START_DIVERSITY),
    )


def _likeness_to(model: Model, disliked: Evidence) -> FloatArray:
    """Likeness to the nearest disliked paper relative to the largest, (m,) float32."""
    mirrored = Evidence(rows=disliked.rows, confidence=-disliked.confidence)
    scores = np.maximum(blend(model, mirrored).scores, 0)
    others = np.delete(scores, disliked.rows)
    top = float(others.max()) if len(others) else 0.0
    return np.minimum(scores / max(top, 1e-9), 1).astype(np.float32)


def _evidence(model: Model, history: History, request: Request) -> Evidence:
    evidence = evidence_of(model, history, request.seeds)
    return weighted(model, evidence, request.portfolio) if request.portfolio else evidence


def _pool(model: Model, ranking: _Ranking, rows: IntArray, request: Request) -> IntArray:
    size, prior = _pool_size(max(0, request.limit)), _prior(model)
    if request.portfolio:
        return best_unmuted(model, request.portfolio, ranking.scores, rows, size, prior)
    return best(ranking.scores, rows, size, prior)


def _pool_size(limit: int) -> int:
    return max(limit, min(max(POOL_FACTOR * limit, SMALLEST_POOL), LARGEST_POOL))


def _prior(model: Model) -> FloatArray:
    return model.recency + model.centrality


def _explore(
    chosen: IntArray, pool: IntArray, chance: float, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """The slate, perhaps with another last paper, and how likely each was to be in it, (n,)."""
    propensities = np.ones(len(chosen), np.float32)
    rest = np.setdiff1d(pool, chosen)
    if chance <= 0 or len(rest) == 0:
        return chosen, propensities
    if rng.random() < chance:
        chosen = np.concatenate([chosen[:-1], rng.choice(rest, 1)])
        propensities[-1] = chance / len(rest)
    else:
        propensities[-1] = 1 - chance
    return chosen, propensities


def _explained(
    model: Model,
    ranking: _Ranking,
    chosen: IntArray,
    propensities: FloatArray,
    rows: IntArray,
    request: Request,
) -> tuple[Recommended, ...]:
    reasons = _reasons(model, ranking, chosen) if request.explain else ((),) * len(chosen)
    interests = _interests(model, ranking, chosen, request)
    prior = _prior(model)
    return tuple(
        Recommended(
            item_id=int(model.item_ids[row]),
            rank=place + 1,
            score=sum(float(part[row]) for part in ranking.parts.values()),
            parts={name: float(part[row]) for name, part in ranking.parts.items()},
            because=reasons[place],
            propensity=float(propensities[place]),
            score_rank=_score_rank(ranking.scores, rows, prior, int(row)),
            interest=interests[place],
        )
        for place, row in enumerate(chosen)
    )


def _interests(
    model: Model, ranking: _Ranking, chosen: IntArray, request: Request
) -> Sequence[int | None]:
    interests = request.interests
    if not interests or len(request.seeds) or not ranking.blended or not len(interests.weights):
        return [None] * len(chosen)
    return interests.belonging(model, chosen)


def _reasons(
    model: Model, ranking: _Ranking, chosen: IntArray
) -> tuple[tuple[Contribution, ...], ...]:
    if ranking.blended is None:
        return ((),) * len(chosen)
    own = model.item_ids[ranking.blended.evidence.rows]
    return tuple(_largest(own, line) for line in shares(model, ranking.blended, chosen))


def _largest(own: IntArray, amounts: FloatArray) -> tuple[Contribution, ...]:
    order = np.argsort(-amounts, kind="stable")[:MOST_REASONS]
    return tuple(
        Contribution(item_id=int(own[i]), amount=float(amounts[i])) for i in order if amounts[i] > 0
    )


def _score_rank(scores: FloatArray, rows: IntArray, prior: FloatArray, row: int) -> int:
    """The place of ``row`` in the order of :func:`best`, from 1."""
    values, own = scores[rows], scores[row]
    tied = (values == own) & (
        (prior[rows] > prior[row]) | ((prior[rows] == prior[row]) & (rows < row))
    )
    return int(np.count_nonzero((values > own) | tied)) + 1


def _leave_out(history: History, item_id: int) -> History:
    kept = history.item_ids != item_id
    return History(
        item_ids=history.item_ids[kept],
        saved=history.saved[kept],
        finished=history.finished[kept],
        dismissed=history.dismissed[kept],
        opens=history.opens[kept],
        ratings=history.ratings[kept],
        age_days=history.age_days[kept],
    )
