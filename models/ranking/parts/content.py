"""The content part: papers in the words of the person's own."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.content.profile import (
    content_shares,
    content_term_shares,
    profile_weights,
    score_content,
)
from models.ranking.model import Model
from models.ranking.part import Evidence, Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentScores:
    """``profile`` (k,) float32 are the weights of the person's papers ``rows`` (k,) in the
    profile."""

    model: Model
    rows: IntArray
    profile: FloatArray
    raw: FloatArray

    def shares(self, targets: IntArray) -> FloatArray:
        return content_shares(self.model.content, self.rows, self.profile, targets)

    def sums(self, belongs: FloatArray) -> Sums:
        words = self.model.content.weights
        profiles = words[self.rows].T @ (belongs * self.profile[:, None])
        return lambda targets: np.asarray(words[targets] @ profiles, np.float32)

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        return content_term_shares(self.model.content, self.rows, self.profile, targets)


def score(model: Model, evidence: Evidence) -> ContentScores:
    """The likeness of every paper to the person's profile (Rocchio)."""
    profile = profile_weights(evidence.confidence, dislike=model.config.dislike)
    return ContentScores(
        model=model,
        rows=evidence.rows,
        profile=profile,
        raw=score_content(model.content, evidence.rows, profile),
    )
