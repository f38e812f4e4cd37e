"""The scores of several parts made one.

Each part is first divided by the mean of the person's own top 20 (scores of different scales are
never added as they are), then weighted by how much is known of the paper, of the person and of the
community. Everything stays linear in the person's papers, so that a score can be taken apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from models import FloatArray, IntArray
from models.ranking.model import Model
from models.ranking.part import Evidence, Part, PartScores
from models.ranking.parts import collaborative, content, neighbours, prior, similarity
from models.ranking.weights import community, weight_of

__all__ = ["PARTS", "Blend", "Evidence", "blend", "scale_of"]

TOP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Scores of all m papers for one person and what they are made of.

    ``parts`` has each part's scores on its own scale, ``gains`` what these are multiplied with
    (m,); ``scores`` (m,) float32 is the sum of the products.
    """

    evidence: Evidence
    parts: Mapping[str, PartScores]
    gains: Mapping[str, FloatArray]
    scores: FloatArray

    @property
    def raw(self) -> Mapping[str, FloatArray]:
        """Each part (m,) float32 on its own scale."""
        return {name: part.raw for name, part in self.parts.items()}

    @property
    def taste(self) -> FloatArray:
        """What the scores owe to the person's papers, (m,) float32: all but the prior."""
        total = np.zeros_like(self.scores)
        for name, part in PARTS.items():
            if part.smallest_scale is not None:
                total += self.parts[name].raw * self.gains[name]
        return total

    def part(self, name: str, rows: IntArray) -> FloatArray:
        """One part of the scores of the given papers, (k,) float32; the parts sum to the score."""
        amounts = self.parts[name].raw[rows] * self.gains[name][rows]
        return np.asarray(amounts + np.float32(0), np.float32)  # 0 and not -0


def blend(model: Model, evidence: Evidence) -> Blend:
    """Scores of every paper, the person's own included, by one pass over the catalogue."""
    parts = {name: part.score(model, evidence) for name, part in PARTS.items()}
    others = np.ones(len(model.items), np.bool_)
    others[evidence.rows] = False
    gains = {
        name: part.weight(model, evidence) / _scale(parts[name].raw[others], part)
        for name, part in PARTS.items()
    }
    scores = np.zeros(len(model.items), np.float32)
    for name in PARTS:
        scores += parts[name].raw * gains[name]
    return Blend(evidence=evidence, parts=parts, gains=gains, scores=scores)


def scale_of(scores: FloatArray, smallest: float) -> np.float32:
    """|mean of the top 20|, at least ``smallest``; of all if there are fewer."""
    top = np.partition(scores, -TOP)[-TOP:] if len(scores) > TOP else scores
    mean = float(np.abs(top.mean(dtype=np.float64))) if len(top) else 0.0
    return np.float32(max(mean, smallest))


def _scale(scores: FloatArray, part: Part) -> np.float32:
    return np.float32(1) if part.smallest_scale is None else scale_of(scores, part.smallest_scale)


def _weigh_others(name: str, model: Model, evidence: Evidence) -> FloatArray:
    """The weight of a part that goes by what others do, as far as that is to be trusted."""
    return weight_of(name, model, evidence) * np.float32(community(model))


def _weigh_prior(model: Model, _evidence: Evidence) -> FloatArray:
    return np.full(len(model.items), community(model), np.float32)


PARTS: Mapping[str, Part] = {
    "collaborative": Part(
        score=collaborative.score,
        weight=partial(_weigh_others, "collaborative"),
        smallest_scale=0.05,
    ),
    "similarity": Part(
        score=similarity.score, weight=partial(_weigh_others, "similarity"), smallest_scale=1.0
    ),
    "neighbours": Part(
        score=neighbours.score, weight=partial(_weigh_others, "neighbours"), smallest_scale=0.02
    ),
    "content": Part(score=content.score, weight=partial(weight_of, "content"), smallest_scale=0.03),
    "prior": Part(score=prior.score, weight=_weigh_prior, smallest_scale=None),
}
"""The parts by name, in the order in which they are added."""
