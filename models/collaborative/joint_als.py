"""One factor model over people *and* words.

ALS for implicit feedback (Hu, Koren & Volinsky, ICDM 2008; solved by conjugate gradients as in
Takács, Pilászy & Tikk, RecSys 2011, through ``implicit``) on the stacked matrix R = [X ; w·Tᵀ]:
people and terms are rows, papers are columns. A paper nobody saved gets its factors from its words.
The last sweep over the papers is solved exactly, with the same code that later folds in new ones.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from models import AnyIntArray, FloatArray, IntArray
from models.collaborative.fold_in import normal_matrix, solve_normal, solve_row
from models.config import Config
from models.interactions import frequent_terms, stacked


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFactors:
    """``items`` (m, f) float32; ``gram`` (f, f) is itemsᵀ·items, for folding in a person.

    ``terms`` (t,) int64 ascending are the vocabulary columns that have factors, ``term_factors``
    (t, f) these; ``row_gram`` (f, f) is that of all rows, people and terms, for folding in a paper.
    Factors of people are not kept.
    """

    items: FloatArray
    gram: FloatArray
    terms: AnyIntArray
    term_factors: FloatArray
    row_gram: FloatArray


def fit_joint(
    user_items: sp.csr_matrix,
    term_weights: sp.csr_matrix,
    config: Config,
    *,
    seed: int,
    on_iteration: Callable[[int], None] | None = None,
) -> JointFactors:
    """Factors of (n, m) signed confidences in bookmarks and of (m, v) TF-IDF weights, both CSR."""
    terms = frequent_terms(term_weights, config.max_terms)
    rows = stacked(user_items, term_weights, terms, weight=config.term_weight)
    rows.data *= np.float32(config.alpha)
    n_factors = config.factors_for(rows.shape[1])
    if rows.nnz == 0:
        return _without_evidence(rows.shape[1], n_factors)
    with _one_blas_thread():
        row_factors = _fit_rows(rows, n_factors, config, seed, on_iteration)
        row_gram = row_factors.T @ row_factors
        items = _solve_all(rows.T.tocsr(), row_factors, row_gram, config.regularization)
    return JointFactors(
        items=items,
        gram=items.T @ items,
        terms=terms,
        term_factors=np.ascontiguousarray(row_factors[user_items.shape[0] :]),
        row_gram=row_gram,
    )


def extend_joint(
    factors: JointFactors,
    term_weights: sp.csr_matrix,
    config: Config,
    *,
    rows: IntArray | None = None,
) -> JointFactors:
    """The same model with the factors of k papers folded in from their terms (k, v'); v' may
    exceed v.

    ``rows`` (k,) int64: the papers that get them; those beyond the last continue without a gap.
    None: all are new.
    """
    known = term_weights[:, factors.terms] * np.float32(_confidence(config))
    new = _solve_all(known, factors.term_factors, factors.row_gram, config.regularization)
    n = len(factors.items)
    rows = np.arange(n, n + len(new)) if rows is None else rows
    old = factors.items[rows[rows < n]]
    items = np.zeros((max(n, int(rows.max(initial=-1)) + 1), new.shape[1]), np.float32)
    items[:n] = factors.items
    items[rows] = new
    return JointFactors(
        items=items,
        gram=factors.gram - old.T @ old + new.T @ new,
        terms=factors.terms,
        term_factors=factors.term_factors,
        row_gram=factors.row_gram,
    )


def words_alone(
    factors: JointFactors, term_weights: sp.csr_matrix, person: FloatArray, config: Config
) -> sp.csr_matrix:
    """What each word of k papers would give in the eyes of a person if nobody had read the papers.

    Folded in from its terms alone a paper has factors y = B⁻¹ Σ c z over the terms' factors z, so
    its score xᵀy is the sum of c · xᵀB⁻¹z. ``term_weights`` (k, v) CSR, ``person`` (f,) is x; the
    answer is (k, v) CSR float32. For a paper without readers it sums to the score itself.
    """
    cells = sp.csr_matrix(term_weights[:, factors.terms] * np.float32(_confidence(config)))
    amounts = np.zeros(cells.nnz, np.float32)
    for start, end in zip(cells.indptr, cells.indptr[1:], strict=False):
        if start < end:
            words = factors.term_factors[cells.indices[start:end]]
            confidence = cells.data[start:end]
            normal = normal_matrix(
                words, factors.row_gram, confidence, regularization=config.regularization
            )
            amounts[start:end] = (words @ solve_normal(normal, person)) * confidence
    columns = factors.terms[cells.indices]
    return sp.csr_matrix((amounts, columns, cells.indptr), shape=term_weights.shape)


def _confidence(config: Config) -> float:
    """Of a TF-IDF weight of 1."""
    return config.alpha * config.term_weight


def _without_evidence(n_items: int, n_factors: int) -> JointFactors:
    nothing = np.zeros((n_factors, n_factors), np.float32)
    return JointFactors(
        items=np.zeros((n_items, n_factors), np.float32),
        gram=nothing,
        terms=np.zeros(0, np.int64),
        term_factors=np.zeros((0, n_factors), np.float32),
        row_gram=nothing,
    )


def _one_blas_thread() -> AbstractContextManager[object]:
    """``implicit`` and BLAS must not both start threads: training took 2 to 6 times as long."""
    import threadpoolctl  # type: ignore[import-untyped]  # comes with implicit and scikit-learn

    limits: AbstractContextManager[object] = threadpoolctl.threadpool_limits(1, "blas")
    return limits


def _fit_rows(
    rows: sp.csr_matrix,
    n_factors: int,
    config: Config,
    seed: int,
    on_iteration: Callable[[int], None] | None,
) -> FloatArray:
    from implicit.cpu.als import AlternatingLeastSquares  # here: only training needs it

    model = AlternatingLeastSquares(
        factors=n_factors,
        regularization=config.regularization,
        alpha=1.0,  # the confidences are multiplied already
        iterations=config.iterations,
        num_threads=config.threads,
        random_state=seed,
    )

    def report(iteration: int, _seconds: float, _loss: float | None) -> None:
        if on_iteration is not None:
            on_iteration(iteration)

    model.fit(rows, show_progress=False, callback=report)
    return np.asarray(model.user_factors, np.float32)


def _solve_all(
    cells: sp.csr_matrix, factors: FloatArray, gram: FloatArray, regularization: float
) -> FloatArray:
    """Exact factors (k, f) of each row of ``cells`` (k, rows of ``factors``)."""
    solved = np.zeros((cells.shape[0], gram.shape[0]), np.float32)
    for row, (start, end) in enumerate(zip(cells.indptr, cells.indptr[1:], strict=False)):
        if start < end:
            touched = cells.indices[start:end]
            solved[row] = solve_row(
                factors[touched], gram, cells.data[start:end], regularization=regularization
            )
    return solved
