"""Everybody's evidence as matrices: people by items, and people stacked on terms."""

import numpy as np
import scipy.sparse as sp

from models import AnyIntArray, FloatArray, IntArray
from models.feedback import History, to_confidence
from models.ids import IdIndex


def user_item_matrix(user_ids: AnyIntArray, history: History, items: IdIndex) -> sp.csr_matrix:
    """Signed confidences, (n people, m) CSR float32; people in ascending order of id.

    Rows about unknown items and rows without a signal are left out; people stay, so that the
    number of rows is the number of people. Of two rows for the same cell the stronger counts.
    """
    positions, known = items.look_up(history.item_ids)
    people, person = np.unique(user_ids, return_inverse=True)
    confidence = to_confidence(history)
    used = known & (confidence != 0)
    return _strongest(
        person[used].astype(np.int64), positions[used], confidence[used], (len(people), len(items))
    )


def _strongest(
    rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]
) -> sp.csr_matrix:
    order = np.lexsort((np.abs(values), columns, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    last = np.ones(len(rows), np.bool_)
    last[:-1] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    return sp.csr_matrix((values[last], (rows[last], columns[last])), shape=shape, dtype=np.float32)


def empty_csr(n_rows: int, n_columns: int) -> sp.csr_matrix:
    """A CSR float32 matrix of zeros."""
    nothing = (np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(n_rows + 1, np.int32))
    return sp.csr_matrix(nothing, shape=(n_rows, n_columns))


def liked(user_items: sp.csr_matrix) -> sp.csr_matrix:
    """Only the positive confidences of a people-by-items matrix."""
    positive = user_items.copy()
    positive.data = np.maximum(positive.data, 0)
    positive.eliminate_zeros()
    return positive


def people_per_item(user_items: sp.csr_matrix) -> FloatArray:
    """How many people like each item, (m,) float32."""
    counts = np.bincount(liked(user_items).indices, minlength=user_items.shape[1])
    return counts.astype(np.float32)


def frequent_terms(term_weights: sp.csr_matrix, most: int) -> AnyIntArray:
    """Columns of (m, v) that at least two items have, the ``most`` frequent of them, ascending."""
    frequency = np.bincount(term_weights.indices, minlength=term_weights.shape[1])
    order = np.argsort(-frequency, kind="stable")[:most]
    return np.sort(order[frequency[order] >= 2]).astype(np.int64)


def unit_rows(weights: sp.csr_matrix) -> sp.csr_matrix:
    """The rows (k, v) of a CSR matrix at length 1, float32; a row of zeros stays one."""
    lengths = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1)).ravel())
    scales = (1 / np.maximum(lengths, 1e-9)).astype(np.float32)
    return sp.csr_matrix(sp.diags_array(scales) @ weights, dtype=np.float32)


def stacked(
    user_items: sp.csr_matrix, term_weights: sp.csr_matrix, terms: AnyIntArray, *, weight: float
) -> sp.csr_matrix:
    """R = [X ; weight · Tᵀ], (n people + len(terms), m) CSR float32: terms are people, too."""
    term_rows = term_weights[:, terms].T.tocsr() * np.float32(weight)
    return sp.csr_matrix(sp.vstack([user_items, term_rows], format="csr", dtype=np.float32))
