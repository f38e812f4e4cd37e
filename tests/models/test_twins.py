"""Two rows for one piece of research: only one of them is ever shown."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import models.ranking.twins
from models import IntArray
from models.config import Config
from models.content.tfidf import FULL_TEXT_TERMS, TermIndex, index_texts
from models.ranking.model import Model, no_titles
from models.ranking.twins import SAME_TEXT, twins
from models.recommending import related
from models.training import train
from tests.models.papers import IDS, PAPERS, ask, history_of, ids_of, training_set

EDITED = PAPERS["ebb"].replace("We show that", "Here we show that") + " Code is available."
TWIN = 100 + len(PAPERS)
"""The id of the first document after the invented papers."""


SMALL = Config(factors=8, iterations=2)


def with_more(*documents: str, title_keys: dict[int, tuple[int, int]] | None = None) -> Model:
    """The invented papers and these after them, with titles by id."""
    data = training_set([*PAPERS.values(), *documents])
    keys = no_titles(len(data.documents))
    for item_id, key in (title_keys or {}).items():
        keys[item_id - 100] = key
    return train(replace(data, title_keys=keys), SMALL)


def test_a_slate_has_one_of_two_papers_that_say_the_same():
    found = ids_of(ask(with_more(EDITED), history_of(IDS["moat"]), 24))
    assert len({IDS["ebb"], TWIN} & set(found)) == 1
    assert len(found) == 23


@pytest.mark.parametrize("kind", ["saved", "dismissed", "excluded", "seed"])
def test_the_twin_of_what_one_knows_is_not_shown(kind: str):
    model, ebb = with_more(EDITED), np.array([IDS["ebb"]])
    history = {
        "saved": history_of(IDS["moat"], IDS["ebb"]),
        "dismissed": history_of(IDS["moat"], IDS["ebb"], saved=[True, False], dismissed=True),
    }.get(kind, history_of(IDS["moat"]))
    wanted = {"excluded": {"exclude": ebb}, "seed": {"seeds": ebb}}.get(kind, {})
    assert not {TWIN, IDS["ebb"]} & set(ids_of(ask(model, history, 24, **wanted)))


def test_papers_of_one_title_are_one_work_whatever_their_texts():
    keys = {IDS["ebb"]: (5, 1), TWIN: (5, 1)}
    model = with_more("a bare title of the same paper", title_keys=keys)
    assert TWIN not in ids_of(ask(model, history_of(IDS["ebb"]), 24))
    assert TWIN not in dict(related(model, IDS["ebb"], limit=24))


def test_the_parts_of_a_series_are_different_papers_however_alike():
    keys = {IDS["ebb"]: (5, 1), TWIN: (5, 2)}
    model = with_more(EDITED, title_keys=keys)
    assert ids_of(ask(model, history_of(IDS["ebb"]), 1)) == [TWIN]
    assert {IDS["ebb"], TWIN} <= set(ids_of(ask(model, history_of(IDS["moat"]), 24)))


def test_short_texts_are_too_short_to_tell():
    model = with_more("safety alignment of models", "safety alignment of models")
    assert {TWIN, TWIN + 1} <= set(ids_of(ask(model, history_of(IDS["moat"]), 25)))


def test_related_papers_are_not_saved_twice_over():
    found = dict(related(with_more(EDITED), IDS["moat"], limit=24))
    assert len({IDS["ebb"], TWIN} & set(found)) == 1


def test_a_catalogue_of_copies_is_no_trouble(monkeypatch: pytest.MonkeyPatch):
    n_looked_at = 0

    def counting(index: TermIndex, keys: IntArray, left: IntArray, right: IntArray):
        nonlocal n_looked_at
        found = twins(index, keys, left, right)
        n_looked_at += len(left) + len(right) + len(found[0])
        return found

    copies = with_more(*[EDITED] * 3_000)
    monkeypatch.setattr(models.ranking.twins, "twins", counting)
    slate = ask(copies, history_of(IDS["moat"]), 24)
    assert len(slate.items) == 23, "of all the copies one, in the place of Ebb"
    assert 3_000 < n_looked_at < 5 * 3_000, "each copy a few times, and no pair of copies"


def test_papers_that_come_later_are_known_by_their_titles():
    model = with_more(title_keys={IDS["ebb"]: (5, 1)})
    day = np.zeros(2, np.float32)
    grown = model.extend(
        np.array([900, 901]), ["the same", "another"], day, day, np.array([[5, 1], [5, 3]])
    )
    found = ids_of(ask(grown, history_of(IDS["ebb"]), 30))
    assert 901 in found
    assert 900 not in found


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), noise=st.sampled_from([0.05, 0.2, 0.33, 0.6]))
def test_no_pair_is_missed_by_looking_at_the_heaviest_terms(seed: int, noise: float):
    rng = np.random.default_rng(seed)
    base = sp.random_array((6, 80), density=0.2, rng=rng).toarray()
    changed = base + noise * base.max() * (rng.random(base.shape) < 0.1) * rng.random(base.shape)
    vectors = np.vstack([base, changed]).astype(np.float32) + np.eye(12, 80, dtype=np.float32) / 9
    index = replace(
        index_texts([""] * 12, slope=0.5),
        weights=sp.csr_matrix(vectors),
        n_terms=np.full(12, FULL_TEXT_TERMS),
    )
    rows = np.arange(12)
    i, j = twins(index, no_titles(12), rows, rows)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    sure = np.abs(cosines - SAME_TEXT) > 1e-5
    found = np.zeros((12, 12), np.bool_)
    found[i, j] = True
    np.testing.assert_array_equal(found[sure], (cosines >= SAME_TEXT)[sure])
