"""Scores of every paper for one person: by their taste or, while nothing speaks of one, without."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from models import FloatArray, IntArray
from models.feedback import History, to_confidence
from models.ranking.blend import PARTS, Blend, Evidence, blend
from models.ranking.cold_start import RECENCY_SHARE
from models.ranking.model import Model

COLD_START_DIVERSITY = 0.4
"""Without a taste to serve, a slate should show the breadth of the catalogue."""
COLD_START_DISLIKE = 1.0
"""What the likeness to disliked papers takes away, where recency and centrality give up to 1."""
NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Scores (m,) of one strategy; ``blended`` is None where nothing personal is in them."""

    strategy: Literal["personal", "cold_start"]
    scores: FloatArray
    parts: Mapping[str, FloatArray]
    diversity: float
    blended: Blend | None = None


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


def rank_all(
    model: Model, evidence: Evidence, *, diversity: float = 0.0, freshness: float = 0.0
) -> Ranking:
    """Scores of every paper, by the person's taste or, where nothing speaks of one, without it;
    with what ``freshness`` adds, see :func:`_freshened`. ``diversity``: what the list is to have.
    """
    return _freshened(model, _by_taste(model, evidence, diversity), freshness)


def _freshened(model: Model, ranking: Ranking, freshness: float) -> Ranking:
    """The ranking with one more part, ``freshness`` · recency · what the person's taste gives it.

    Recency is 1 for the newest year of the catalogue and halves every two years (see
    ``ranking/cold_start.py``), so that with ``freshness`` 1 the newest papers count double, and a
    paper that speaks to nothing of the person's gains nothing. 0 changes nothing.
    """
    share = np.float32(np.clip(freshness, 0.0, 1.0))
    if share == 0:
        return ranking
    recency = np.asarray(model.recency, np.float32) / np.float32(RECENCY_SHARE)
    owed = ranking.scores if ranking.blended is None else ranking.blended.taste
    part = share * recency * np.maximum(owed, 0)
    return replace(
        ranking, scores=ranking.scores + part, parts={**ranking.parts, "freshness": part}
    )


def _by_taste(model: Model, evidence: Evidence, diversity: float) -> Ranking:
    if evidence.is_positive:
        blended = blend(model, evidence)
        if np.any(blended.taste != 0):
            rows = np.arange(len(model.items))
            return Ranking(
                strategy="personal",
                scores=blended.scores,
                parts={name: blended.part(name, rows) for name in PARTS},
                diversity=diversity,
                blended=blended,
            )
    return _rank_cold(model, evidence, diversity)


def _rank_cold(model: Model, evidence: Evidence, diversity: float) -> Ranking:
    dislikes = evidence.confidence < 0
    away = np.zeros(len(model.items), np.float32)
    if dislikes.any():
        disliked = Evidence(rows=evidence.rows[dislikes], confidence=evidence.confidence[dislikes])
        away = _likeness_to(model, disliked)
    nothing = np.zeros(len(model.items), np.float32)
    parts = {
        **dict.fromkeys(PARTS, nothing),
        "content": nothing - np.float32(COLD_START_DISLIKE) * away,  # 0 and not -0
        "recency": np.asarray(model.recency, np.float32),
        "centrality": np.asarray(model.centrality, np.float32),
    }
    return Ranking(
        strategy="cold_start",
        scores=parts["content"] + parts["recency"] + parts["centrality"],
        parts=parts,
        diversity=max(diversity, COLD_START_DIVERSITY),
    )


def _likeness_to(model: Model, disliked: Evidence) -> FloatArray:
    """Likeness to the nearest disliked paper relative to the largest, (m,) float32."""
    mirrored = Evidence(rows=disliked.rows, confidence=-disliked.confidence)
    scores = np.maximum(blend(model, mirrored).taste, 0)
    others = np.delete(scores, disliked.rows)
    top = float(others.max()) if len(others) else 0.0
    return np.minimum(scores / max(top, 1e-9), 1).astype(np.float32)


def tie_break(model: Model) -> FloatArray:
    """Which of two papers of the same score comes first, (m,) float32."""
    return model.recency + model.centrality


def place_by_score(scores: FloatArray, rows: IntArray, prior: FloatArray, row: int) -> int:
    """The place of ``row`` in the order of :func:`best`, from 1."""
    values, own = scores[rows], scores[row]
    tied = (values == own) & (
        (prior[rows] > prior[row]) | ((prior[rows] == prior[row]) & (rows < row))
    )
    return int(np.count_nonzero((values > own) | tied)) + 1
