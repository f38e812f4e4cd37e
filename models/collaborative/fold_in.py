"""Factors of one row (a person, a paper) when the factors of the other side are given.

The exact solution of the least-squares problem of Hu, Koren & Volinsky, "Collaborative Filtering
for Implicit Feedback Datasets", ICDM 2008, equations 4 and 5, with ``implicit``'s conventions: an
untouched cell has confidence 1, a touched one |c|, and c < 0 means preference 0.
"""

import numpy as np
import scipy.linalg

from models import FloatArray


def solve_row(
    factors: FloatArray, gram: FloatArray, confidence: FloatArray, *, regularization: float
) -> FloatArray:
    """x (f,) float32 for one row, of A x = Σ c⁺ y.

    ``factors`` (k, f) are those of the k touched cells, ``confidence`` (k,) signed, ``gram`` (f, f)
    is YᵀY over the whole other side, and A = gram + regularization · I + Σ (|c| - 1) y yᵀ.
    """
    liked = np.maximum(confidence, 0) @ factors
    normal = normal_matrix(factors, gram, confidence, regularization=regularization)
    return solve_normal(normal, liked)


def normal_matrix(
    factors: FloatArray, gram: FloatArray, confidence: FloatArray, *, regularization: float
) -> FloatArray:
    """A (f, f) float32 of :func:`solve_row`; symmetric and positive definite."""
    normal = np.array(gram, np.float32)
    normal += (factors.T * (np.abs(confidence) - 1)) @ factors
    normal[np.diag_indices_from(normal)] += np.float32(regularization)
    return normal


def solve_normal(normal: FloatArray, right: FloatArray) -> FloatArray:
    """A⁻¹ b by Cholesky; b is (f,) or (f, k). Rounding that costs A its definiteness is no error:
    the solution is then the one of least squares."""
    try:
        solved = scipy.linalg.solve(normal, right, assume_a="pos", check_finite=False)
    except np.linalg.LinAlgError:
        solved = np.linalg.lstsq(normal, right)[0]
    return np.asarray(solved, np.float32)
