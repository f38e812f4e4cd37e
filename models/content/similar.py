"""How like each other papers are by their words."""

import numpy as np

from models import FloatArray, IntArray
from models.content.tfidf import TermIndex
from models.interactions import unit_rows


def likeness(index: TermIndex, rows: IntArray, columns: IntArray | None = None) -> FloatArray:
    """Dot products of the term vectors, (len(rows), m or len(columns)) float32; no row is its own
    likeness 1 exactly, because lengths are pivoted."""
    others = index.weights if columns is None else index.weights[columns]
    return np.asarray((index.weights[rows] @ others.T).toarray(), np.float32)


def cosine(index: TermIndex, rows: IntArray) -> FloatArray:
    """Cosines between the given papers, (k, k) float32 within 0 to 1; 0 for one without words."""
    scaled = unit_rows(index.weights[rows])
    return np.asarray((scaled @ scaled.T).toarray(), np.float32)


def centrality(index: TermIndex) -> FloatArray:
    """Mean likeness of each paper to the catalogue, (m,) float32: high for what much is about."""
    mean = np.asarray(index.weights.sum(axis=0), np.float32).ravel() / max(1, index.n_items)
    return np.asarray(index.weights @ mean, np.float32)
