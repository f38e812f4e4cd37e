"""Papers kept by the same people, learned: a factored likeness of every two papers.

score(person, i) = Σⱼ cⱼ · eⱼᵀeᵢ / √Σc, over the papers j that the person likes. The embedding of a
paper is what its words give plus, where people keep it, something of its own: eᵢ = t̂ᵢ·W + fᵢ. As in
factored item similarity models (Kabbur, Ning & Karypis, KDD 2013) a person is no more than the sum
of their papers, so a new one needs no training, and words make it serve papers nobody keeps (Kula,
"Metadata Embeddings for User and Item Cold-start Recommendations", CBRecSys 2015).

It is trained for the order of a list and not for single cells: a random half of each person's
papers must foretell the other half by softmax over these, other people's and papers drawn at random
(as two-tower models are: Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
Recommendations", RecSys 2019; halves after Liang et al., "Variational Autoencoders for
Collaborative Filtering", WWW 2018). Half of the fᵢ are left out at each step, so that W learns to
do without (after DropoutNet, Volkovs, Yu & Poutanen, NeurIPS 2017). Adam, with a learning rate that
falls to 0 (Kingma & Ba, ICLR 2015). How much a paper is kept is learned beside it, as a bias, and
then dropped: the prior part knows it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from models import BoolArray, FloatArray, IntArray
from models.collaborative.term_map import TermMap
from models.config import BATCH, Config
from models.interactions import frequent_terms, liked, people_per_item, unit_rows

MOST_PAPERS = 60_000
"""Papers of all its people that a step looks at: where lists are long, of fewer people."""
DRAWN = 8_000
"""Papers drawn at random for each step, that the ones to be found must stand out from."""
LONGEST_LIST = 256
"""Papers of one person that one step looks at; of a longer list as many at random."""
MOST_SCORES = 16_000_000
"""Scores of people and papers that are in memory at once."""
LEFT_OUT = 0.5
"""Share of the papers' own parts that a step does without."""
LEARNING_RATE = 7e-3
FIRST_SPREAD = 0.1
"""Standard deviation of the words' embeddings before the first step."""
FIRST_APART = 0.01
"""The same for the papers' own parts. At 0 papers without words would never leave each other."""
FIRST_BIAS = 0.3
"""The bias before the first step, times ln(1 + people)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSimilarity:
    """``items`` (m, d) float32 are the embeddings of papers, ``term_map`` those of terms, of which
    a paper's consists; d is 0 where there was nothing to learn."""

    items: FloatArray
    term_map: TermMap


def without_similarity(n_items: int) -> ItemSimilarity:
    """What is known of n papers that no two people share."""
    return ItemSimilarity(items=np.zeros((n_items, 0), np.float32), term_map=TermMap.empty(0))


def fit_similarity(
    user_items: sp.csr_matrix,
    term_weights: sp.csr_matrix,
    config: Config,
    *,
    seed: int,
    on_step: Callable[[float], None] | None = None,
) -> ItemSimilarity:
    """Embeddings of (n, m) signed confidences in bookmarks and of (m, v) TF-IDF weights, both CSR.

    Learned from the people with two papers or more; of fewer than two such people nothing can be.
    ``on_step`` is told the share that is done.
    """
    likes = liked(user_items)
    likes = likes[np.diff(likes.indptr) >= 2]
    if likes.shape[0] < 2 or config.epochs == 0:
        return without_similarity(user_items.shape[1])
    terms = frequent_terms(term_weights, config.max_terms)
    words = unit_rows(term_weights[:, terms])
    rng = np.random.default_rng(seed)
    learner = _Learner(words, people_per_item(likes), likes.shape[0], config, rng)
    sizes = np.minimum(np.diff(likes.indptr), LONGEST_LIST)
    n_batches = max(-(-len(sizes) // BATCH), -(-int(sizes.sum()) // MOST_PAPERS))
    n_steps = config.steps_for(n_batches)
    for step, people in zip(range(n_steps), _batches(sizes, rng), strict=False):
        learner.step(*_halves(likes[people], rng), rate=LEARNING_RATE * (1 - step / n_steps))
        if on_step is not None:
            on_step((step + 1) / n_steps)
    term_map = TermMap(terms=terms, rows=learner.words.value)
    return ItemSimilarity(items=learner.items(), term_map=term_map)


def extend_similarity(
    similarity: ItemSimilarity, term_weights: sp.csr_matrix, *, rows: IntArray
) -> ItemSimilarity:
    """The same with the embeddings that the terms (k, v') of k papers ``rows`` (k,) give; rows
    beyond the last continue without a gap."""
    new = similarity.term_map.foretold(term_weights)
    n = len(similarity.items)
    items = np.zeros((max(n, int(rows.max(initial=-1)) + 1), similarity.items.shape[1]), np.float32)
    items[:n] = similarity.items
    items[rows] = new
    return replace(similarity, items=items)


def person_weights(confidence: FloatArray) -> FloatArray:
    """What each paper of a person weighs in their embedding, (k,) float32: c / √Σc, c ≥ 0."""
    total = float(confidence.sum(dtype=np.float64))
    return np.asarray(confidence / np.float32(np.sqrt(max(total, 1e-9))), np.float32)


def _batches(sizes: IntArray, rng: np.random.Generator) -> Iterator[IntArray]:
    """People for one step after another, without end; everybody once before anybody twice.

    ``sizes`` (n,) are how many papers a step looks at of each.
    """
    while True:
        order = rng.permutation(len(sizes))
        while len(order):
            fitting = int(np.searchsorted(np.cumsum(sizes[order[:BATCH]]), MOST_PAPERS, "right"))
            yield order[: max(1, fitting)]
            order = order[max(1, fitting) :]


def _halves(likes: sp.csr_matrix, rng: np.random.Generator) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Each person's papers (b, m) in two parts at random, neither empty: what is known, what is to
    be found."""
    owner = np.repeat(np.arange(likes.shape[0]), np.diff(likes.indptr))
    order = np.lexsort((rng.random(likes.nnz), owner))
    place = np.arange(likes.nnz) - np.repeat(likes.indptr[:-1], np.diff(likes.indptr))
    size = np.minimum(np.diff(likes.indptr), LONGEST_LIST)
    n_known = np.clip(rng.binomial(size, 0.5), 1, size - 1)
    is_known, is_used = place < n_known[owner], place < size[owner]

    def chosen(cells: BoolArray) -> sp.csr_matrix:
        picked = order[cells]
        triple = (likes.data[picked], (owner[cells], likes.indices[picked]))
        return sp.csr_matrix(triple, shape=likes.shape, dtype=np.float32)

    return chosen(is_known), chosen(is_used & ~is_known)


class _Adam:
    """A matrix that is learned, row by row: what a step does not touch keeps its momentum."""

    RATES = (0.9, 0.99)

    def __init__(self, value: FloatArray) -> None:
        self.value = value
        self._mean = np.zeros_like(value)
        self._square = np.zeros_like(value)
        self._n_steps = 0

    def descend(self, slope: FloatArray, rate: float, rows: IntArray | slice = slice(None)) -> None:
        first, second = self.RATES
        self._n_steps += 1
        mean = np.float32(first) * self._mean[rows] + np.float32(1 - first) * slope
        square = np.float32(second) * self._square[rows] + np.float32(1 - second) * slope**2
        self._mean[rows], self._square[rows] = mean, square
        n = self._n_steps
        scale = rate * float(np.sqrt(1 - second**n)) / (1 - first**n)
        self.value[rows] -= np.float32(scale) * mean / (np.sqrt(square) + np.float32(1e-8))


class _Learner:
    def __init__(
        self,
        words: sp.csr_matrix,
        people: FloatArray,
        n_people: int,
        config: Config,
        rng: np.random.Generator,
    ) -> None:
        d = config.embedding
        first = rng.standard_normal((words.shape[1], d), np.float32) * np.float32(FIRST_SPREAD)
        self.words = _Adam(first)
        self._read = np.flatnonzero(people)
        self._place = np.full(len(people), -1, np.int64)
        self._place[self._read] = np.arange(len(self._read))
        apart = rng.standard_normal((len(self._read), d), np.float32) * np.float32(FIRST_APART)
        self._own = _Adam(apart)
        self._bias = _Adam(np.asarray(FIRST_BIAS * np.log1p(people), np.float32))
        self._texts = words
        self._rng = rng
        self._hold_words = 2 * config.hold_words / n_people
        self._hold_own = 2 * config.hold_own / n_people

    def items(self) -> FloatArray:
        """The embeddings of all papers, (m, d) float32."""
        items = np.asarray(self._texts @ self.words.value, np.float32)
        items[self._read] += self._own.value
        return items

    def step(self, known: sp.csr_matrix, wanted: sp.csr_matrix, *, rate: float) -> None:
        """One step towards ``wanted`` (b, m) being foretold by ``known`` (b, m), both CSR."""
        m = known.shape[1]
        drawn = self._rng.choice(m, min(DRAWN, m), replace=False)
        candidates = np.unique(np.concatenate([wanted.indices, drawn]))
        rows = np.union1d(known.indices, candidates)
        texts = self._texts[rows]
        given = np.asarray(texts @ self.words.value, np.float32)
        sources = np.unique(known.indices)
        at_sources, at_candidates = (
            np.searchsorted(rows, sources),
            np.searchsorted(rows, candidates),
        )
        places = self._place[rows]
        in_sources, in_candidates = self._kept(len(sources)), self._kept(len(candidates))
        own = np.where(places[:, None] >= 0, self._own.value[places], np.float32(0))
        from_items = given[at_sources] + own[at_sources] * in_sources
        to_items = given[at_candidates] + own[at_candidates] * in_candidates

        mixed = _weights_of(known)[:, sources]
        people = np.asarray(mixed @ from_items, np.float32)
        bias = self._bias.value[candidates]
        slope_to, slope_bias = np.zeros_like(to_items), np.zeros_like(bias)
        slope_people = np.zeros_like(people)
        found, shut = wanted[:, candidates], known[:, candidates]
        for part in _blocks(len(people), len(candidates)):
            scores = people[part] @ to_items.T + bias
            errors = _softmax_errors(scores, found[part], shut[part])
            errors *= np.float32(1 / len(people))
            slope_to += errors.T @ people[part]
            slope_bias += errors.sum(axis=0)
            slope_people[part] = errors @ to_items
        slope_from = mixed.T @ slope_people

        slope = np.zeros_like(given)
        slope[at_sources] += slope_from
        slope[at_candidates] += slope_to
        own_slope = np.zeros_like(given)
        own_slope[at_sources] += slope_from * in_sources
        own_slope[at_candidates] += slope_to * in_candidates
        touched = places >= 0
        # A step sees some of the papers and must hold these for all the times it did not see them.
        hold = self._hold_own * len(self._read) / max(1, int(touched.sum()))
        own_slope += np.float32(hold) * own
        self._own.descend(own_slope[touched], rate, places[touched])
        word_slope = texts.T @ slope + np.float32(self._hold_words) * self.words.value
        self.words.descend(np.asarray(word_slope, np.float32), rate)
        self._bias.descend(slope_bias, rate, candidates)

    def _kept(self, n: int) -> FloatArray:
        return (self._rng.random((n, 1)) >= LEFT_OUT).astype(np.float32)


def _blocks(n_people: int, n_candidates: int) -> Iterator[slice]:
    """People in parts whose scores fit into MOST_SCORES."""
    size = max(1, MOST_SCORES // max(1, n_candidates))
    return (slice(start, start + size) for start in range(0, n_people, size))


def _weights_of(known: sp.csr_matrix) -> sp.csr_matrix:
    """Each row (b, m) of confidences as :func:`person_weights` has them."""
    scales = 1 / np.sqrt(np.maximum(np.asarray(known.sum(axis=1)).ravel(), 1e-9))
    return sp.csr_matrix(sp.diags_array(scales.astype(np.float32)) @ known, dtype=np.float32)


def _softmax_errors(scores: FloatArray, wanted: sp.csr_matrix, known: sp.csr_matrix) -> FloatArray:
    """The slope (b, c) of the losses by the ``scores`` (b, c), which are overwritten.

    A person's loss is that of each wanted paper by 1/√(their number): between one voice a person
    and one a paper. What is known already is no candidate.
    """
    scores[known.nonzero()] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    chance = np.exp(scores, out=scores)
    chance /= chance.sum(axis=1, keepdims=True)
    voices = np.asarray(wanted.sum(axis=1), np.float32).reshape(-1, 1)
    heard = 1 / np.sqrt(np.maximum(voices, np.float32(1e-9)))
    chance *= voices * heard
    rows, columns = wanted.nonzero()
    chance[rows, columns] -= wanted.data * heard[rows, 0]
    return chance
