"""Papers kept by the same people: item-item cosine with shrinkage, the nearest few of each.

Sarwar, Karypis, Konstan & Riedl, "Item-based Collaborative Filtering Recommendation Algorithms",
WWW 2001; a person who keeps n papers counts 1/√n, since long lists say less about each pair; and
shrinkage pulls pairs that rest on one or two people towards 0.
"""

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.config import Config
from models.interactions import empty_csr, liked

LONGEST_LIST = 1_000
"""Items of one person that are paired with each other; a list of n has n² pairs, each worth 1/n."""
BLOCK = 512
"""Rows of the item-item matrix made at a time; bounds memory."""


def nearest_items(user_items: sp.csr_matrix, config: Config) -> sp.csr_matrix:
    """(m, m) CSR float32: the ``config.neighbours`` largest likenesses of each item."""
    likes = _without_long_tails(liked(user_items))
    n_liked = np.maximum(np.diff(likes.indptr), 1)
    scaled = sp.csr_matrix(sp.diags_array((1 / np.sqrt(n_liked)).astype(np.float32)) @ likes)
    by_item = scaled.T.tocsr()
    squares = np.asarray(scaled.multiply(scaled).sum(axis=0), np.float32).ravel()
    lengths = np.sqrt(squares)
    blocks = [
        _block(by_item, scaled, lengths, slice(start, start + BLOCK), config)
        for start in range(0, by_item.shape[0], BLOCK)
    ]
    if not blocks:
        return empty_csr(0, 0)
    return sp.csr_matrix(sp.vstack(blocks, format="csr"), dtype=np.float32)


def _without_long_tails(likes: sp.csr_matrix) -> sp.csr_matrix:
    """The LONGEST_LIST most confident items of each person; of equals those first in the list."""
    n_liked = np.diff(likes.indptr)
    if len(n_liked) == 0 or n_liked.max() <= LONGEST_LIST:
        return likes
    return _largest_per_row(likes, np.repeat(np.arange(len(n_liked)), n_liked), LONGEST_LIST)


def _block(
    by_item: sp.csr_matrix, scaled: sp.csr_matrix, lengths: FloatArray, rows: slice, config: Config
) -> sp.csr_matrix:
    together = sp.csr_matrix(by_item[rows] @ scaled)
    owner = np.repeat(np.arange(together.shape[0]), np.diff(together.indptr))
    scale = lengths[rows][owner] * lengths[together.indices]
    together.data = (together.data / (scale + config.shrinkage)).astype(np.float32)
    together.data[owner + (rows.start or 0) == together.indices] = 0
    return _largest_per_row(together, owner, config.neighbours)


def _largest_per_row(matrix: sp.csr_matrix, owner: IntArray, most: int) -> sp.csr_matrix:
    order = np.lexsort((matrix.indices, -matrix.data, owner))
    place = np.arange(len(order)) - np.repeat(matrix.indptr[:-1], np.diff(matrix.indptr))
    kept = order[(place < most) & (matrix.data[order] > 0)]
    return sp.csr_matrix(
        (matrix.data[kept], (owner[kept], matrix.indices[kept])), shape=matrix.shape
    )


def score_neighbours(
    neighbours: sp.csr_matrix, rows: IntArray, confidence: FloatArray
) -> FloatArray:
    """Σⱼ cⱼ · s(j, i) for every item i, (m,) float32; disliked items (c < 0) subtract."""
    return np.asarray(neighbours[rows].T @ confidence, np.float32)


def neighbour_shares(
    neighbours: sp.csr_matrix, rows: IntArray, confidence: FloatArray, targets: IntArray
) -> FloatArray:
    """What each of the person's items adds to the score of each target, (len(targets), k)."""
    near = neighbours[rows][:, targets].toarray().T
    return np.asarray(near * confidence, np.float32)
