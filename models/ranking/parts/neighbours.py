"""The neighbour part: papers kept by the people who kept the person's own."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.neighbours import neighbour_shares, score_neighbours
from models.interactions import empty_csr
from models.ranking.model import Model
from models.ranking.part import Evidence, Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourScores:
    model: Model
    evidence: Evidence
    raw: FloatArray

    def shares(self, targets: IntArray) -> FloatArray:
        rows, confidence = self.evidence.rows, self.evidence.confidence
        return neighbour_shares(self.model.neighbours, rows, confidence, targets)

    def sums(self, belongs: FloatArray) -> Sums:
        near = self.model.neighbours[self.evidence.rows].T.tocsr()
        weights = belongs * self.evidence.confidence[:, None]
        return lambda targets: np.asarray(near[targets] @ weights, np.float32)

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        return empty_csr(len(targets), len(self.model.content.vocabulary))


def score(model: Model, evidence: Evidence) -> NeighbourScores:
    """Σⱼ cⱼ · s(j, i): see :func:`score_neighbours`."""
    return NeighbourScores(
        model=model,
        evidence=evidence,
        raw=score_neighbours(model.neighbours, evidence.rows, evidence.confidence),
    )
