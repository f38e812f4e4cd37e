"""TF-IDF of texts of very different length: abstracts beside bare titles.

Two things differ from the textbook. *Document frequencies* of titles and of abstracts are kept
apart, because a word such as "task" stands in half of all abstracts and in few titles: counted
together, thousands of titles would make the commonest words of abstracts look rare. *Lengths* are
normalised with a pivot (Singhal, Buckley & Mitra, "Pivoted Document Length Normalization", SIGIR
1996) that is the length of abstracts, so that a title that shares one word with an abstract is not
taken for its twin. Both are recomputed as papers arrive, so the order of arrival does not matter.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.content.analyzer import terms_of
from models.interactions import empty_csr, unit_rows

FULL_TEXT_TERMS = 30
"""A text of that many terms is an abstract; titles have 4 to 10, titles with keywords up to 20."""
PRIOR_TITLES = 10.0
"""Titles have the say of that many abstracts about how common a term is. Small, since titles choose
their words differently; enough to help while there are only a few dozen abstracts."""
TF_SLOPE = 1.5
"""tf = 1 + TF_SLOPE · ln(count): what a paper is about outweighs what it mentions."""
IDF_POWER = 1.5
"""Of the logarithm. Both, like PRIOR_TITLES, were chosen to bring relatives together in two lists
of 19 abstracts; the tests on those lists are therefore no independent evidence. It has a price: on
CiteULike-t (500 people, validation) content alone has nDCG@20 .071 warm and .263 cold, against .077
and .268 with 1 and 1; the blend .160 and .290 against .160 and .296."""
SMALLEST_LENGTH = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class TermIndex:
    """The papers as term vectors; m papers, v terms.

    ``vocabulary`` v strings, the column names; ``columns`` the way back. ``weights`` (m, v) CSR
    float32, the normalised vectors: their dot products are likenesses, about 0 to 1. ``idf`` (v,)
    and ``lengths`` (m,) float32: a weight is tf · idf / length. ``n_terms`` (m,) int64: how many
    terms the text has. ``in_full`` and ``in_short`` (v,) int64: how many abstracts and how many
    short texts have the term.
    """

    vocabulary: Sequence[str]
    columns: dict[str, int]
    weights: sp.csr_matrix
    idf: FloatArray
    lengths: FloatArray
    n_terms: IntArray
    in_full: IntArray
    in_short: IntArray

    @property
    def n_items(self) -> int:
        return len(self.lengths)


def index_texts(documents: Sequence[str], *, slope: float) -> TermIndex:
    """The term vectors of plain texts, none of which need be in any language; "" is a zero row."""
    return extend_index(_nothing(), documents, slope=slope)


def extend_index(
    index: TermIndex, documents: Sequence[str], *, slope: float, rows: IntArray | None = None
) -> TermIndex:
    """A new index with the texts at the given ``rows`` (k,) int64, each row once.

    A row below ``n_items`` gets its text replaced, the others continue the index without a gap;
    None: all texts are new. Rows and columns that were there keep their numbers; a term that no
    text has any more keeps its column, without weight. Weights of all rows are brought up to date
    with the new document frequencies.
    """
    k, n = len(documents), index.n_items
    rows = np.arange(n, n + k) if rows is None else rows
    columns = dict(index.columns)
    counts, k_terms = _count(documents, columns)
    tf, n_terms = _widened(_tf_of(index), len(columns)), index.n_terms
    gone = rows[rows < n]
    left_full, left_short = _document_frequencies(tf[gone], n_terms[gone])
    came_full, came_short = _document_frequencies(counts, k_terms)
    in_full = _padded(index.in_full, len(columns)) - left_full + came_full
    in_short = _padded(index.in_short, len(columns)) - left_short + came_short
    tf = _placed(sp.vstack([tf, counts], format="csr", dtype=np.float32), n, rows)
    n_terms = np.concatenate([n_terms, k_terms])[_sources(n, rows)]
    idf = _idf(in_full, in_short, n_terms)
    weights, lengths = _weighted(tf, idf, n_terms, slope)
    return TermIndex(
        vocabulary=list(columns),
        columns=columns,
        weights=weights,
        idf=idf,
        lengths=lengths,
        n_terms=n_terms,
        in_full=in_full,
        in_short=in_short,
    )


def _sources(n: int, rows: IntArray) -> IntArray:
    """Where in [old rows, texts] each row comes from."""
    sources = np.arange(max(n, int(rows.max(initial=-1)) + 1))
    sources[rows] = n + np.arange(len(rows))
    return sources


def _placed(stacked: sp.csr_matrix, n: int, rows: IntArray) -> sp.csr_matrix:
    sources = _sources(n, rows)
    if len(sources) == stacked.shape[0] and np.all(sources == np.arange(len(sources))):
        return stacked  # nothing is replaced: no need of another copy
    return sp.csr_matrix(stacked[sources])


def textbook_weights(index: TermIndex) -> sp.csr_matrix:
    """The same texts as everybody weighs them, (m, v) CSR float32: tf = 1 + ln(count), idf =
    1 + ln((1 + m) / (1 + df)), rows of length 1 (Salton & Buckley 1988, as scikit-learn's
    ``TfidfVectorizer(sublinear_tf=True)`` has it). What the weights here have to beat."""
    tf = _tf_of(index)
    tf.data = 1 + (tf.data - 1) / TF_SLOPE
    df = index.in_full + index.in_short
    idf = (1 + np.log((1 + index.n_items) / (1 + df))).astype(np.float32)
    return unit_rows(sp.csr_matrix(tf @ sp.diags_array(idf), dtype=np.float32))


def _nothing() -> TermIndex:
    floats, ints = np.zeros(0, np.float32), np.zeros(0, np.int64)
    return TermIndex(
        vocabulary=[],
        columns={},
        weights=empty_csr(0, 0),
        idf=floats,
        lengths=floats,
        n_terms=ints,
        in_full=ints,
        in_short=ints,
    )


def _count(documents: Sequence[str], columns: dict[str, int]) -> tuple[sp.csr_matrix, IntArray]:
    """(k, v) CSR of 1 + TF_SLOPE · ln(count), and the (k,) lengths; ``columns`` grows."""
    indices: list[int] = []
    counts: list[int] = []
    ends = [0]
    n_terms = np.zeros(len(documents), np.int64)
    for row, document in enumerate(documents):
        found = Counter(terms_of(document))
        indices += [columns.setdefault(term, len(columns)) for term in found]
        counts += found.values()
        ends.append(len(indices))
        n_terms[row] = found.total()
    tf = (1 + TF_SLOPE * np.log(np.array(counts, np.float64))).astype(np.float32)
    matrix = sp.csr_matrix(
        (tf, np.array(indices, np.int32), np.array(ends, np.int32)),
        shape=(len(documents), len(columns)),
    )
    matrix.sort_indices()
    return matrix, n_terms


def _tf_of(index: TermIndex) -> sp.csr_matrix:
    weights = index.weights
    rows = np.repeat(index.lengths, np.diff(weights.indptr))
    tf = weights.data * rows / index.idf[weights.indices]
    return sp.csr_matrix((tf, weights.indices, weights.indptr), shape=weights.shape)


def _widened(matrix: sp.csr_matrix, n_columns: int) -> sp.csr_matrix:
    return sp.csr_matrix(
        (matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], n_columns)
    )


def _padded(counts: IntArray, n: int) -> IntArray:
    return np.pad(counts, (0, n - len(counts)))


def _document_frequencies(tf: sp.csr_matrix, n_terms: IntArray) -> tuple[IntArray, IntArray]:
    """In how many of the abstracts and in how many of the short texts each term is, (v,) each."""
    is_full = n_terms >= FULL_TEXT_TERMS
    return _n_texts(tf[is_full]), _n_texts(tf[~is_full])


def _n_texts(tf: sp.csr_matrix) -> IntArray:
    return np.bincount(tf.indices, minlength=tf.shape[1]).astype(np.int64)


def _idf(in_full: IntArray, in_short: IntArray, n_terms: IntArray) -> FloatArray:
    """ln(1 + 1/p)^IDF_POWER (v,), where p is the share of abstracts that have the term.

    The share among titles, times how much longer abstracts are, serves as prior.
    """
    full = n_terms >= FULL_TEXT_TERMS
    n_full, n_short = int(full.sum()), int((~full).sum())
    if n_full == 0:
        share = (in_short + 0.5) / (n_short + 1)
    else:
        longer = n_terms[full].mean() / max(1.0, n_terms[~full].mean() if n_short else 1.0)
        expected = np.minimum(1.0, in_short / max(1, n_short) * longer)
        prior = min(PRIOR_TITLES, n_short)
        share = (in_full + prior * expected + 0.5) / (n_full + prior + 1)
    return (np.log1p(1 / share) ** IDF_POWER).astype(np.float32)


def _weighted(
    tf: sp.csr_matrix, idf: FloatArray, n_terms: IntArray, slope: float
) -> tuple[sp.csr_matrix, FloatArray]:
    """tf · idf / length, where length = (1 - slope) · pivot + slope · ‖tf · idf‖."""
    n_stored = np.diff(tf.indptr)
    values = tf.data * idf[tf.indices]
    rows = np.repeat(np.arange(tf.shape[0]), n_stored)
    norms = np.sqrt(np.bincount(rows, weights=values**2, minlength=tf.shape[0]))
    full = n_terms >= FULL_TEXT_TERMS
    some = full if full.any() else n_terms > 0
    pivot = float(norms[some].mean()) if some.any() else 1.0
    lengths = np.maximum((1 - slope) * pivot + slope * norms, SMALLEST_LENGTH).astype(np.float32)
    weights = (values / np.repeat(lengths, n_stored)).astype(np.float32)
    return sp.csr_matrix((weights, tf.indices, tf.indptr), shape=tf.shape), lengths
