"""The similarity part: papers whose learned likeness to the person's own is large.

Disliked papers say nothing here: that two papers are never kept together is no likeness, and to
dislike the one no reason to want the other.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.item_similarity import person_weights
from models.ranking.model import Model
from models.ranking.part import Evidence, Sums


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityScores:
    """``weights`` (k,) float32 are those of the person's papers ``rows`` (k,) in ``person`` (d,),
    the person's own embedding."""

    model: Model
    rows: IntArray
    weights: FloatArray
    person: FloatArray
    raw: FloatArray

    def shares(self, targets: IntArray) -> FloatArray:
        items = self.model.similarity.items
        return np.asarray((items[targets] @ items[self.rows].T) * self.weights, np.float32)

    def sums(self, belongs: FloatArray) -> Sums:
        items = self.model.similarity.items
        people = items[self.rows].T @ (belongs * self.weights[:, None])
        return lambda targets: np.asarray(items[targets] @ people, np.float32)

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        """What the words of a target give; the rest is owed to who keeps it."""
        weights = self.model.content.weights[targets]
        return self.model.similarity.term_map.shares(weights, self.person)


def score(model: Model, evidence: Evidence) -> SimilarityScores:
    """Σⱼ cⱼ · eⱼᵀeᵢ / √Σc; one pass over the embeddings."""
    items = model.similarity.items
    weights = person_weights(np.maximum(evidence.confidence, 0))
    person = np.asarray(weights @ items[evidence.rows], np.float32)
    return SimilarityScores(
        model=model,
        rows=evidence.rows,
        weights=weights,
        person=person,
        raw=np.asarray(items @ person, np.float32),
    )
