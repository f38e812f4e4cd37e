"""What a part of the blend is: one opinion on every paper, that can be taken apart.

To add a part, write a module in ``models/ranking/parts/`` whose scores keep to :class:`PartScores`,
and give it an entry in :data:`models.ranking.blend.PARTS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.ranking.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The person's papers in a model: ``rows`` (k,) int64, signed ``confidence`` (k,) float32."""

    rows: IntArray
    confidence: FloatArray

    @property
    def is_positive(self) -> bool:
        """Whether anything is liked."""
        return bool(np.any(self.confidence > 0))


Sums: TypeAlias = Callable[[IntArray], FloatArray]
"""Of target rows (t,) what each of g groups of the person's papers adds to them, (t, g) float32."""


class PartScores(Protocol):
    """One part's scores for one person, on the part's own scale.

    They are linear in the person's papers once these are given, and so are sums of shares.
    """

    @property
    def raw(self) -> FloatArray:
        """The score of every paper, (m,) float32."""

    def shares(self, targets: IntArray) -> FloatArray:
        """What each of the person's k papers adds to the target rows (t,): (t, k) float32, whose
        rows sum to ``raw[targets]``."""

    def sums(self, belongs: FloatArray) -> Sums:
        """For groups of the papers, ``belongs`` (k, g), what each adds to targets: the same as
        ``shares(targets) @ belongs``, without the shares, of which there are many."""

    def term_shares(self, targets: IntArray) -> sp.csr_matrix:
        """What each term of a target adds: (t, v) CSR float32, by column of the vocabulary.

        What is missing from ``raw[targets]`` does not come from words; all of it does, in a part
        that knows no words and returns an empty matrix.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How a part scores, and what its scores weigh in the blend.

    ``weight`` gives (m,) float32. Tops weaker than ``smallest_scale`` are not blown up to 1: a
    person whose papers resemble nothing gets low scores, not confident ones. None: no matter
    of the person's taste, on the scale of the blend as it is.
    """

    score: Callable[[Model, Evidence], PartScores]
    weight: Callable[[Model, Evidence], FloatArray]
    smallest_scale: float | None
