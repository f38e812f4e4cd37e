"""What a score is made of: the shares of the parts, times their gains.

The same score is split twice, by the person's papers and by the words of the recommended one. Both
are exact, since each part is linear in its papers, and in its terms as far as it knows any.
"""

import numpy as np
import scipy.sparse as sp

from models import AnyIntArray, FloatArray, IntArray
from models.content.tfidf import TermIndex
from models.interactions import empty_csr
from models.ranking.blend import Blend
from models.ranking.part import Sums

MOST_SHARED = 8
"""Terms that are named of a pair of papers: several may turn out to be the same words, as
"low-rank" and "rank" are, and three are shown."""


def shares(blended: Blend, targets: IntArray) -> FloatArray:
    """Shares (len(targets), k) float32 of the person's k papers; a row sums to the score."""
    total = np.zeros((len(targets), len(blended.evidence.rows)), np.float32)
    for name, part in blended.parts.items():
        total += part.shares(targets) * blended.gains[name][targets][:, None]
    return total


def sums(blended: Blend, belongs: FloatArray) -> Sums:
    """What groups of the person's papers, ``belongs`` (k, g), add to the scores of targets."""
    of_part = {name: part.sums(belongs) for name, part in blended.parts.items()}

    def added(targets: IntArray) -> FloatArray:
        total = np.zeros((len(targets), belongs.shape[1]), np.float32)
        for name, amounts in of_part.items():
            total += amounts(targets) * blended.gains[name][targets][:, None]
        return total

    return added


def term_shares(blended: Blend, targets: IntArray, n_terms: int) -> sp.csr_matrix:
    """Shares (len(targets), n_terms) CSR float32 of the targets' own terms.

    A row sums to the score less what does not come from words: readers in common.
    """
    total = empty_csr(len(targets), n_terms)
    for name, part in blended.parts.items():
        gains = sp.diags_array(blended.gains[name][targets])
        total = sp.csr_matrix(total + gains @ part.term_shares(targets))
    return total


def shared_terms(index: TermIndex, row: int, other: int) -> tuple[str, ...]:
    """At most MOST_SHARED terms that both papers have, by what they add to their likeness."""
    columns, weights = _terms_of_row(index, row)
    other_columns, other_weights = _terms_of_row(index, other)
    shared, here, there = np.intersect1d(
        columns, other_columns, assume_unique=True, return_indices=True
    )
    order = np.argsort(-weights[here] * other_weights[there], kind="stable")[:MOST_SHARED]
    return tuple(index.vocabulary[column] for column in shared[order])


def _terms_of_row(index: TermIndex, row: int) -> tuple[AnyIntArray, FloatArray]:
    matrix = index.weights
    cells = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[cells], np.asarray(matrix.data[cells], np.float32)
