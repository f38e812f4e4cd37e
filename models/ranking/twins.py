"""One piece of research in two rows: such twins are never shown together, nor beside one's own.

A catalogue joins the versions of a work when an identifier tells it to. What nothing told it of is
found here: two papers are twins if their abstracts have nearly the same words (cosine of the term
vectors at least ``SAME_TEXT``, both texts long enough to tell), or if they have the same title key.
Papers of one series with different numbers ("Part I", "Part II"; "GPT-2", "GPT-3") never are,
however alike they read.
"""

import numpy as np
import scipy.sparse as sp

from models import BoolArray, FloatArray, IntArray
from models.content.tfidf import FULL_TEXT_TERMS, TermIndex
from models.interactions import unit_rows
from models.ranking.candidates import best

SAME_TEXT = 0.9
"""High, since a paper that is wrongly taken for a twin is never seen. Among 10,241 titled papers of
machine learning conferences 11 pairs with different titles reach it, each the same work under a new
title, as are the 5 that reach .95 and the 16 that reach .8; related papers have about .3."""


def distinct_best(
    index: TermIndex,
    title_keys: IntArray,
    scores: FloatArray,
    rows: IntArray,
    limit: int,
    *,
    tie_break: FloatArray,
    met: IntArray,
) -> IntArray:
    """Like :func:`best`, but no row is the twin of a better one or of the rows ``met``.

    ``title_keys`` (m, 2) int64: see :class:`models.ranking.model.Model`. There are fewer than
    ``limit`` only if there are no more papers without a twin. Looks at ``limit`` rows at a time; a
    paper that has a twin takes all of them out of the rest at once, so that a catalogue of copies
    takes no longer than one of different papers.
    """
    rows = rows[~_has_title_of(title_keys, rows, met)]
    kept = np.zeros(0, np.int64)
    while len(kept) < limit and len(rows):
        chunk = best(scores, rows, limit, tie_break)
        others = np.concatenate([met, kept])
        new, copied = _first_ones(index, title_keys, chunk, others)
        kept = np.concatenate([kept, new])[:limit]
        rows = rows[~np.isin(rows, chunk)]
        if len(copied) and len(kept) < limit:
            rows = np.delete(rows, twins(index, title_keys, rows, copied)[0])
    return kept


def twins(
    index: TermIndex, title_keys: IntArray, left: IntArray, right: IntArray
) -> tuple[IntArray, IntArray]:
    """Pairs of places (in ``left``, in ``right``), each (p,) int64, of rows that are twins.

    A row is a twin of itself only if its text or title is long enough to tell.
    """
    by_text = _text_pairs(index, left, right)
    by_title = _title_pairs(title_keys, left, right)
    i, j = (np.concatenate(both) for both in zip(by_text, by_title, strict=True))
    first, second = title_keys[left[i]], title_keys[right[j]]
    numbered = (first[:, 0] != 0) & (first[:, 0] == second[:, 0]) & (first[:, 1] != second[:, 1])
    return i[~numbered], j[~numbered]


def _first_ones(
    index: TermIndex, title_keys: IntArray, chunk: IntArray, others: IntArray
) -> tuple[IntArray, IntArray]:
    """The rows of ``chunk`` without a twin among the others or before them, and who had one."""
    known, by = twins(index, title_keys, chunk, others)
    is_open = np.ones(len(chunk), np.bool_)
    is_open[known] = False
    copied = [others[np.unique(by)]]
    earlier, later = twins(index, title_keys, chunk, chunk)
    before = earlier < later
    order = np.argsort(earlier[before], kind="stable")
    for i, j in zip(earlier[before][order], later[before][order], strict=True):
        if is_open[i] and is_open[j]:
            is_open[j] = False
            copied.append(chunk[i : i + 1])
    return chunk[is_open], np.unique(np.concatenate(copied))


def _has_title_of(title_keys: IntArray, rows: IntArray, met: IntArray) -> BoolArray:
    wanted = _whole(title_keys[met])
    return np.isin(_whole(title_keys[rows]), wanted[wanted != 0])


def _title_pairs(
    title_keys: IntArray, left: IntArray, right: IntArray
) -> tuple[IntArray, IntArray]:
    """By looking up each left key among the sorted right ones."""
    first, second = _whole(title_keys[left]), _whole(title_keys[right])
    order = np.argsort(second, kind="stable")
    start = np.searchsorted(second[order], first, side="left")
    n = np.where(first != 0, np.searchsorted(second[order], first, side="right") - start, 0)
    i = np.repeat(np.arange(len(left)), n)
    within = np.arange(len(i)) - np.repeat(np.cumsum(n) - n, n)
    return i, order[np.repeat(start, n) + within].astype(np.int64)


def _whole(title_keys: IntArray) -> IntArray:
    """Series and number as one key (k,), 0 for no title."""
    both = title_keys[:, 0] ^ title_keys[:, 1]
    return np.where(title_keys[:, 0] == 0, 0, both)


def _text_pairs(index: TermIndex, left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    full_left = np.flatnonzero(index.n_terms[left] >= FULL_TEXT_TERMS)
    full_right = np.flatnonzero(index.n_terms[right] >= FULL_TEXT_TERMS)
    first = unit_rows(index.weights[left[full_left]])
    second = index.weights[right[full_right]]
    near = np.flatnonzero(_has_any(second, _heaviest(first)))
    cosines = (first @ unit_rows(second[near]).T).tocoo()
    same = cosines.data >= SAME_TEXT
    i, j = full_left[cosines.row[same]], full_right[near[cosines.col[same]]]
    return i.astype(np.int64), j.astype(np.int64)


def _heaviest(vectors: sp.csr_matrix) -> BoolArray:
    """Terms (v,) bool of which a vector must have one to reach ``SAME_TEXT`` with any of these.

    Of each row the largest terms until those that are left are shorter than ``SAME_TEXT``: they
    alone cannot give such a cosine (prefix filtering: Bayardo, Ma & Srikant, WWW 2007).
    """
    wanted = np.zeros(vectors.shape[1], np.bool_)
    for start, end in zip(vectors.indptr, vectors.indptr[1:], strict=False):
        order = np.argsort(-vectors.data[start:end], kind="stable")
        covered = np.cumsum(vectors.data[start:end][order].astype(np.float64) ** 2)
        n = int(np.searchsorted(covered, 1 - SAME_TEXT**2 + 1e-6)) + 1
        wanted[vectors.indices[start:end][order[:n]]] = True
    return wanted


def _has_any(vectors: sp.csr_matrix, wanted: BoolArray) -> BoolArray:
    rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    return np.bincount(rows, weights=wanted[vectors.indices], minlength=vectors.shape[0]) > 0
