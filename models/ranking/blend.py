"""Three scores made one.

Each part is first divided by the mean of the person's own top 20 (scores of different scales are
never added as they are), then weighted by how much is known of the paper and of the
community. Everything stays linear in the person's papers, so that a score can be taken apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models import FloatArray, IntArray
from models.collaborative.fold_in import normal_matrix, solve_normal
from models.collaborative.neighbours import score_neighbours
from models.content.profile import profile_weights, score_content
from models.ranking.model import Model

PARTS = ("collaborative", "neighbours", "content")
TOP = 20
SMALLEST_SCALE: Mapping[str, float] = {
    "collaborative": 0.05,
    "neighbours": 0.02,
    "content": 0.03,
}
"""Weaker tops than these are not blown up to 1: a person whose papers resemble nothing gets low
scores, not confident ones."""
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
class Evidence:
    """The person's papers in a model: ``rows`` (k,) int64, signed ``confidence`` (k,) float32."""

    rows: IntArray
    confidence: FloatArray

    @property
    def is_positive(self) -> bool:
        """Whether anything is liked."""
        return bool(np.any(self.confidence > 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """Scores of all m papers for one person and what they are made of.

    ``raw`` has each part (m,) on its own scale, ``gains`` what it is multiplied with (m,);
    ``scores`` (m,) float32 is the sum of the products. ``normal`` (f, f) is the matrix of the
    fold-in, ``profile`` (k,) the weights of the person's papers in the content profile.
    """

    evidence: Evidence
    raw: Mapping[str, FloatArray]
    gains: Mapping[str, FloatArray]
    scores: FloatArray
    normal: FloatArray
    profile: FloatArray

    def part(self, name: str, rows: IntArray) -> FloatArray:
        """One part of the scores of the given papers, (k,) float32; the parts sum to the score."""
        return np.asarray(self.raw[name][rows] * self.gains[name][rows], np.float32)


def blend(model: Model, evidence: Evidence) -> Blend:
    """Scores of every paper, the person's own included, by one pass over the catalogue."""
    collaborative, normal = _score_collaborative(model, evidence)
    profile = profile_weights(evidence.confidence, dislike=model.config.dislike)
    raw = {
        "collaborative": collaborative,
        "neighbours": score_neighbours(model.neighbours, evidence.rows, evidence.confidence),
        "content": score_content(model.content, evidence.rows, profile),
    }
    others = np.ones(len(model.items), np.bool_)
    others[evidence.rows] = False
    weights = part_weights(model)
    gains = {
        name: weights[name] / scale_of(raw[name][others], SMALLEST_SCALE[name]) for name in PARTS
    }
    scores = np.zeros(len(model.items), np.float32)
    for name in PARTS:
        scores += raw[name] * gains[name]
    return Blend(
        evidence=evidence, raw=raw, gains=gains, scores=scores, normal=normal, profile=profile
    )


def scale_of(scores: FloatArray, smallest: float) -> np.float32:
    """|mean of the top 20|, at least ``smallest``; of all if there are fewer."""
    top = np.partition(scores, -TOP)[-TOP:] if len(scores) > TOP else scores
    mean = float(np.abs(top.mean(dtype=np.float64))) if len(top) else 0.0
    return np.float32(max(mean, smallest))


def part_weights(model: Model) -> Mapping[str, FloatArray]:
    """The weight of each part for each paper, (m,) float32."""
    known = model.people / (model.people + np.float32(KNOWN_AT))
    trust = ALONE + (1 - ALONE) * model.n_people / (model.n_people + COMMUNITY)
    return {
        "collaborative": np.full(len(known), COLLABORATIVE * trust, np.float32),
        "neighbours": np.full(len(known), NEIGHBOURS, np.float32),
        "content": (CONTENT + CONTENT_OF_UNKNOWN * (1 - known)).astype(np.float32),
    }


def _score_collaborative(model: Model, evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    config, factors = model.config, model.factors
    seen = factors.items[evidence.rows]
    confidence = evidence.confidence * np.float32(config.alpha)
    normal = normal_matrix(seen, factors.gram, confidence, regularization=config.regularization)
    person = solve_normal(normal, np.maximum(confidence, 0) @ seen)
    return np.asarray(factors.items @ person, np.float32), normal
