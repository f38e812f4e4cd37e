"""The scores of several parts made one.

Each part is first divided by the mean of the person's own top 20 (scores of different scales are
never added as they are), then weighted by how much is known of the paper and of the
community. Everything stays linear in the person's papers, so that a score can be taken apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models import FloatArray, IntArray
from models.ranking.model import Model
from models.ranking.part import Evidence, Part, PartScores
from models.ranking.parts import collaborative, content, neighbours

__all__ = ["PARTS", "Blend", "Evidence", "blend", "part_weights", "scale_of"]

TOP = 20
COLLABORATIVE, NEIGHBOURS, CONTENT = 1.0, 0.35, 0.2
"""By hand from a small grid on up to 500 people of each validation split, where nDCG@20 is flat
around them (warm .158 to .160). Less of the neighbours for short lists was tried and brought
nothing (people with 1 save: -.004, standard error .003; with 3: +.001, .002)."""
CONTENT_OF_UNKNOWN = 0.3
"""Content gets so much more for a paper nobody keeps."""
KNOWN_AT = 3.0
"""A paper kept by that many people is half known."""
ALONE = 0.1
"""The share of its weight that the factor model has when nobody trained it but texts: .3 ranked
relatives in lists of abstracts lower, CiteULike cannot say (it has thousands of people) ..."""
COMMUNITY = 30.0
"""... and half-way to the whole weight it is with that many people."""


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

    def part(self, name: str, rows: IntArray) -> FloatArray:
        """One part of the scores of the given papers, (k,) float32; the parts sum to the score."""
        return np.asarray(self.parts[name].raw[rows] * self.gains[name][rows], np.float32)


def blend(model: Model, evidence: Evidence) -> Blend:
    """Scores of every paper, the person's own included, by one pass over the catalogue."""
    parts = {name: part.score(model, evidence) for name, part in PARTS.items()}
    others = np.ones(len(model.items), np.bool_)
    others[evidence.rows] = False
    weights = part_weights(model)
    gains = {
        name: weights[name] / scale_of(parts[name].raw[others], part.smallest_scale)
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


def part_weights(model: Model) -> Mapping[str, FloatArray]:
    """The weight of each part for each paper, (m,) float32."""
    return {name: part.weight(model) for name, part in PARTS.items()}


def _weigh_collaborative(model: Model) -> FloatArray:
    trust = ALONE + (1 - ALONE) * model.n_people / (model.n_people + COMMUNITY)
    return np.full(len(model.items), COLLABORATIVE * trust, np.float32)


def _weigh_neighbours(model: Model) -> FloatArray:
    return np.full(len(model.items), NEIGHBOURS, np.float32)


def _weigh_content(model: Model) -> FloatArray:
    known = model.people / (model.people + np.float32(KNOWN_AT))
    return (CONTENT + CONTENT_OF_UNKNOWN * (1 - known)).astype(np.float32)


PARTS: Mapping[str, Part] = {
    "collaborative": Part(
        score=collaborative.score, weight=_weigh_collaborative, smallest_scale=0.05
    ),
    "neighbours": Part(score=neighbours.score, weight=_weigh_neighbours, smallest_scale=0.02),
    "content": Part(score=content.score, weight=_weigh_content, smallest_scale=0.03),
}
"""The parts by name, in the order in which they are added."""
