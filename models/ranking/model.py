"""A trained recommender: an immutable value made of arrays, that grows by making a new one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from models import FloatArray, IntArray
from models.collaborative.item_similarity import ItemSimilarity, extend_similarity
from models.collaborative.joint_als import JointFactors, extend_joint
from models.config import Config
from models.content.tfidf import TermIndex, extend_index
from models.ids import IdIndex
from models.ranking.cold_start import prior_of

Column = TypeVar("Column", FloatArray, IntArray)


TINY = 1e-9


@dataclass(frozen=True, kw_only=True)  # without slots, so that it can keep what it works out
class Model:
    """Everything needed to rank m papers for anybody.

    ``neighbours`` (m, m) CSR float32, ``people`` (m,) float32 how many people like each paper,
    ``published_year`` (m,) float32, NaN where unknown, ``added_days`` (m,) float32, ``n_people``.
    ``title_keys`` (m, 2) int64: what stands for a paper's title, without and of its numbers; the
    first is 0 where the title is unknown or too short to tell papers apart.
    """

    config: Config
    items: IdIndex
    content: TermIndex
    factors: JointFactors
    similarity: ItemSimilarity
    neighbours: sp.csr_matrix
    people: FloatArray
    published_year: FloatArray
    added_days: FloatArray
    title_keys: IntArray
    n_people: int
    recency: FloatArray
    centrality: FloatArray
    """Both (m,) float32, their sum within 0 to 1: the order when nothing is known of a person."""

    @property
    def item_ids(self) -> IntArray:
        """(m,) int64, the papers this model knows."""
        return self.items.ids

    @cached_property
    def readers_of_read(self) -> float:
        """How many people like a paper that anybody likes, on average; 0 if nobody does."""
        read = self.people[self.people > 0]
        return float(read.mean(dtype=np.float64)) if len(read) else 0.0

    @cached_property
    def meanings(self) -> FloatArray:
        """Factors of the terms (t, f) without the direction of the whole catalogue; (0, f) of none.

        What all papers have in common says nothing of what one is about, and in a small catalogue
        it would make everything alike ("all but the top", Mu & Viswanath, ICLR 2018). Worked out
        when first asked for and kept; two threads at once both work out the same.
        """
        terms = self.factors.term_factors
        if not np.any(terms):
            return terms[:0]
        usual = np.asarray(self.content.weights.sum(axis=0), np.float32).ravel()
        common = usual[self.factors.terms] @ terms
        common /= max(float(np.linalg.norm(common)), TINY)
        found = np.asarray(terms - np.outer(terms @ common, common), np.float32)
        found.flags.writeable = False
        return found

    def extend(
        self,
        item_ids: IntArray,
        documents: Sequence[str],
        published_year: FloatArray,
        added_days: FloatArray,
        title_keys: IntArray | None = None,
    ) -> "Model":
        """A model that knows k texts more: (k,) ids, texts, years (NaN unknown) and days.

        ``title_keys`` (k, 2), None where titles are unknown. A new id becomes a further paper. The
        text of a known one is replaced, as if it had been this one from the start; only where
        people keep the paper its factors stay what they were trained to be, since they hold what
        those people say of it, which the words do not. The vocabulary grows, term weights are
        brought up to date, factors are folded in from the terms that had factors. Of an id said
        twice the first counts.
        """
        ids, first = np.unique(np.asarray(item_ids, np.int64), return_index=True)
        if len(ids) == 0:
            return self
        places, known = self.items.look_up(ids)
        new = np.sort(first[~known])
        told = np.concatenate([first[known], new])
        rows = np.concatenate([places[known], len(self.items) + np.arange(len(new))])
        content = extend_index(
            self.content, [documents[i] for i in told], slope=self.config.slope, rows=rows
        )
        people = _longer(self.people, len(new))
        folded = rows[people[rows] == 0]
        keys = no_titles(len(item_ids)) if title_keys is None else title_keys
        return replace(
            self,
            items=IdIndex(np.concatenate([self.item_ids, np.asarray(item_ids, np.int64)[new]])),
            content=content,
            factors=extend_joint(self.factors, content.weights[folded], rows=folded),
            similarity=extend_similarity(self.similarity, content.weights[folded], rows=folded),
            neighbours=_with_empty_rows(self.neighbours, len(new)),
            people=people,
            published_year=_replaced(self.published_year, rows, published_year[told]),
            added_days=_replaced(self.added_days, rows, added_days[told]),
            title_keys=_replaced(self.title_keys, rows, keys[told]),
        ).with_prior()

    def with_prior(self) -> "Model":
        """The same model with recency and centrality computed anew."""
        recency, centrality = prior_of(self.content, self.published_year, self.added_days)
        return replace(self, recency=recency, centrality=centrality)


def no_titles(n: int) -> IntArray:
    """The keys (n, 2) of n papers whose titles are unknown."""
    return np.zeros((n, 2), np.int64)


def _longer(column: Column, k: int) -> Column:
    return np.concatenate([column, np.zeros((k, *column.shape[1:]), column.dtype)])


def _replaced(column: Column, rows: IntArray, values: Column) -> Column:
    longer = _longer(column, max(0, int(rows.max()) + 1 - len(column)))
    longer[rows] = values
    return longer


def _with_empty_rows(matrix: sp.csr_matrix, k: int) -> sp.csr_matrix:
    n = matrix.shape[0] + k
    indptr = np.concatenate([matrix.indptr, np.full(k, matrix.indptr[-1], matrix.indptr.dtype)])
    return sp.csr_matrix((matrix.data, matrix.indices, indptr), shape=(n, n))
