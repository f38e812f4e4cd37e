"""The prior part: what is known of a paper whoever asks.

Papers that many people keep are kept by more. A paper that nobody keeps yet has had no chance to
be; the factors and neighbours rank it too low, and get that back here.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.interactions import empty_csr
from models.ranking.model import Model
from models.ranking.part import Evidence, Sums
from models.ranking.weights import OF_READERS, OF_UNREAD, density


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorScores:
    """No paper of the person's and no word has a share in it."""

    n_rows: int
    n_terms: int
    raw: FloatArray

    def shares(self, targets: IntArray) -> FloatArray:
        return np.zeros((len(targets), self.n_rows), np.float32)

    def sums(self, belongs: FloatArray) -> Sums:
        return lambda targets: np.zeros((len(targets), belongs.shape[1]), np.float32)

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        return empty_csr(len(targets), self.n_terms)


def score(model: Model, evidence: Evidence) -> PriorScores:
    """ln(1 + people) by what it is worth where people read so densely; that of no readers is
    another number."""
    of_readers, of_unread = (max(0.0, b + r * density(model)) for b, r in (OF_READERS, OF_UNREAD))
    raw = np.where(model.people > 0, of_readers * np.log1p(model.people), of_unread)
    return PriorScores(
        n_rows=len(evidence.rows),
        n_terms=len(model.content.vocabulary),
        raw=raw.astype(np.float32),
    )
