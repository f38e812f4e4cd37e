"""Names for interests: the words that set one apart, as people write them.

Terms are ranked by the log-odds ratio with an informative Dirichlet prior of Monroe, Colaresi &
Quinn, "Fightin' Words", Political Analysis 16(4), 2008, over its standard deviation: how much more
often papers of this interest have the term than the person's other papers and the catalogue. Unlike
a bare ratio it does not crown words that stand in one paper.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from models import FloatArray, IntArray
from models.content.analyzer import surface_forms, terms_of
from models.ranking.model import Model

PRIOR_PAPERS = 10.0
"""The catalogue speaks like that many papers before the person's own are counted."""
CLEAR = 1.0
"""Standard deviations above 0 that a term needs; a term that all interests share sets none apart.
"""

FILLER = frozenset({"across", "beyond"})
"""Terms that hold a sentence together and name nothing."""


def distinctive_terms(model: Model, interests: Sequence[IntArray], *, most: int) -> list[list[str]]:
    """Terms of each interest, at most ``most``, the most distinctive first.

    ``interests`` are the ids of the papers of each, int64; unknown ones are passed over.
    """
    counts = [_papers_with(model, model.items.positions(ids)) for ids in interests]
    sizes = [len(model.items.positions(ids)) for ids in interests]
    in_all = np.bincount(model.content.weights.indices, minlength=len(model.content.vocabulary))
    usual = ((in_all + 0.5) / (len(model.items) + 1)).astype(np.float32)
    filler = np.isin(model.content.vocabulary, list(FILLER))
    found = []
    for own, n in zip(counts, sizes, strict=True):
        others = np.sum(counts, axis=0) - own
        z = _distinction(own, n, others + n * usual, sum(sizes), PRIOR_PAPERS * usual)
        shared = (own >= min(2, n)) & (z >= CLEAR) & ~filler
        # A pair of papers may have no word in common: then what either of them is about.
        told = np.flatnonzero(shared if shared.any() else (own > 0) & (z > 0) & ~filler)
        # In three papers chance has as large a z as a topic; what most of them have, and few others
        # in the catalogue, is the topic.
        telling = z * (own / max(n, 1)) * -np.log(np.minimum(usual, 1))
        order = told[np.lexsort((told, -telling[told]))][:most]
        found.append([model.content.vocabulary[column] for column in order])
    return found


def _papers_with(model: Model, rows: IntArray) -> FloatArray:
    words = model.content.weights[rows]
    return np.bincount(words.indices, minlength=words.shape[1]).astype(np.float32)


def _distinction(
    own: FloatArray, n_own: float, rest: FloatArray, n_rest: float, prior: FloatArray
) -> FloatArray:
    """z of each term (v,): ln of the odds here over the odds elsewhere, by its deviation."""
    a, b = own + prior, rest + prior
    here = np.log(a / np.maximum(n_own + PRIOR_PAPERS - a, 0.5))
    elsewhere = np.log(b / np.maximum(n_rest + PRIOR_PAPERS - b, 0.5))
    return np.asarray((here - elsewhere) / np.sqrt(1 / a + 1 / b), np.float32)


def readable(terms: Sequence[str], texts: Iterable[str], *, most: int) -> tuple[str, ...]:
    """The terms in the form that most of the texts use; those that none has are left out.

    What is a part of a compound that is named, too, is not named twice: "low-rank", not "low".
    """
    written = _written(texts, set(terms))
    named: dict[str, str] = {}
    for term in terms:
        form = _most_written(written.get(term, {}))
        if not form or any(term in terms_of(other) for other in named.values()):
            continue
        parts = set(terms_of(form)) & set(named)
        if len(named) - len(parts) < most:
            named = {key: value for key, value in named.items() if key not in parts}
            named[term] = form
    return tuple(named.values())


def _written(texts: Iterable[str], wanted: set[str]) -> Mapping[str, Counter[str]]:
    written: dict[str, Counter[str]] = {}
    for text in texts:
        for term, form in surface_forms(text, terms=wanted).items():
            written.setdefault(term, Counter())[form] += 1
    return written


def _most_written(forms: Mapping[str, int]) -> str:
    """The form of the highest count, of equals the one with fewer capitals; "" of none."""
    return max(forms, key=lambda form: (forms[form], -sum(map(str.isupper, form))), default="")
