"""From words to what people make of papers: what each term foretells of a paper that has it."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import AnyIntArray, FloatArray
from models.interactions import unit_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class TermMap:
    """``terms`` (t,) int64 ascending are columns of the vocabulary, ``rows`` (t, f) float32 what
    each of them foretells of the f numbers of a paper, given the paper's term vector at length 1.
    """

    terms: AnyIntArray
    rows: FloatArray

    @staticmethod
    def empty(width: int) -> "TermMap":
        """A map that knows no term."""
        return TermMap(terms=np.zeros(0, np.int64), rows=np.zeros((0, width), np.float32))

    def foretold(self, term_weights: sp.csr_matrix) -> FloatArray:
        """The numbers (k, f) float32 of k papers by their term weights (k, v) CSR."""
        return np.asarray(unit_rows(term_weights[:, self.terms]) @ self.rows, np.float32)

    def shares(self, term_weights: sp.csr_matrix, person: FloatArray) -> sp.csr_matrix:
        """What each word of k papers gives in the eyes of a ``person`` (f,) float32.

        ``term_weights`` (k, v) CSR; the answer is (k, v) CSR float32, by column of the vocabulary,
        and its rows sum to ``foretold(term_weights) @ person``.
        """
        words = unit_rows(term_weights[:, self.terms])
        amounts = np.asarray(words.data * (self.rows @ person)[words.indices], np.float32)
        columns = self.terms[words.indices]
        return sp.csr_matrix((amounts, columns, words.indptr), shape=term_weights.shape)
