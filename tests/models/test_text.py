"""Texts become terms, terms become vectors."""

import unicodedata

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from models.content.analyzer import surface_forms, terms_of
from models.content.similar import cosine, likeness
from models.content.stem import stem
from models.content.tfidf import extend_index, index_texts, textbook_weights
from tests.models.papers import PAPERS, titles

DASHES = dict.fromkeys([*range(0x2010, 0x2014), 0x2212], "-")
TEXTS = [*PAPERS.values(), *titles(50), "", "图神经网络的预训练"]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("E²-LoRA", ["e2", "lora", "e2lora"]),
        ("TabPFN-v2", ["tabpfn", "v2", "tabpfnv2"]),
        ("low‑rank", ["low", "rank", "lowrank"]),
        ("k-means", ["mean", "kmean"]),
        ("in-context", ["context"]),
        ("GPT-4 in 2026", ["gpt", "gpt4"]),
        ("state-of-the-art", []),
        ("Schrödinger's bridge", ["schroding", "bridg"]),
        (r"\textbf{graphs} see https://x.org/graph?a=b.", ["graph", "see"]),
        ("强化学习 with graphs", ["强化", "化学", "学习", "graph"]),
        ("学", ["学"]),
        ("the and 42 x", []),
    ],
)
def test_terms(text, terms):
    assert terms_of(text) == terms


def test_a_compound_meets_its_joined_form():
    assert set(terms_of("finetuning")) < set(terms_of("fine-tuning"))


@pytest.mark.parametrize(
    ("text", "term", "form"),
    [
        ("LoRA adapts; LoRA again", "lora", "LoRA"),
        ("Federated averaging. All federated clients", "feder", "federated"),
        ("fine-tuning, fine-tuning and finetuned", "finetun", "fine-tuning"),
        ("fine-tuning, fine-tuning and finetuned", "tune", "tuning"),
        ("E²-LoRA", "e2lora", "E2-LoRA"),
        ("low‑rank", "lowrank", "low-rank"),
        ("a Schrödinger bridge", "schroding", "Schrödinger"),
        ("the İstanbul data of Ελλάς and x̂", "istanbul", "İstanbul"),
        ("the İstanbul data", "data", "data"),
        ("用大模型 with graphs", "模型", "模型"),
        ("用大模型 with graphs", "graph", "graphs"),
        ("ＬｏＲＡ in full width", "lora", "LoRA"),
    ],
)
def test_a_term_is_shown_as_it_is_written(text: str, term: str, form: str):
    assert surface_forms(text)[term] == form


def test_the_form_that_most_texts_have_wins():
    assert surface_forms("Lora", "LoRA", "a LoRA")["lora"] == "LoRA"


@given(st.text())
def test_every_term_of_a_text_has_a_form_that_gives_the_term(text: str):
    forms = surface_forms(text)
    assert set(forms) == set(terms_of(text))
    for term, form in forms.items():
        assert term in terms_of(form)
        assert form in unicodedata.normalize("NFKC", text).translate(DASHES)


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("conditional", "condit"),
        ("digitizer", "digit"),
        ("vietnamization", "vietnam"),
        ("operator", "oper"),
        ("sensibiliti", "sensibl"),
        ("triplicate", "triplic"),
        ("electrical", "electr"),
        ("hopefulness", "hope"),
        ("adoption", "adopt"),
        ("replacement", "replac"),
        ("effective", "effect"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("controll", "control"),
        ("roll", "roll"),
        ("is", "is"),
        ("tabpfn2", "tabpfn2"),
        ("naïve", "naïve"),
    ],
)
def test_the_examples_of_porter(word, root):
    assert stem(word) == root


@given(st.text(max_size=200))
def test_any_text_gives_terms_without_blanks(text):
    assert all(term and not any(c.isspace() for c in term) for term in terms_of(text))


def test_counts_are_those_of_scikit_learn():
    vectorizer = CountVectorizer(analyzer=terms_of)
    counts = vectorizer.fit_transform(TEXTS)
    index = index_texts(TEXTS, slope=0.5)
    tf = index.weights.multiply(index.lengths[:, None]) @ sp.diags_array(1 / index.idf)
    ours = sp.csr_matrix(tf)[:, [index.columns[t] for t in vectorizer.get_feature_names_out()]]
    theirs = counts.astype(np.float64)
    theirs.data = 1 + 1.5 * np.log(theirs.data)
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-4, atol=1e-5)


def test_growing_is_the_same_as_starting_with_everything():
    whole = index_texts(TEXTS, slope=0.5)
    grown = extend_index(index_texts(TEXTS[:30], slope=0.5), TEXTS[30:50], slope=0.5)
    grown = extend_index(grown, TEXTS[50:], slope=0.5)
    assert list(grown.vocabulary) == list(whole.vocabulary)
    np.testing.assert_allclose(grown.weights.toarray(), whole.weights.toarray(), atol=1e-5)


def test_growing_leaves_the_old_index_and_its_column_numbers_alone():
    old = index_texts(TEXTS[:30], slope=0.5)
    before = old.weights.copy()
    new = extend_index(old, ["an unheard-of xylophone"], slope=0.5)
    assert list(new.vocabulary[: len(old.vocabulary)]) == list(old.vocabulary)
    assert (old.weights != before).nnz == 0
    assert "xylophon" not in old.columns


def test_a_word_of_abstracts_is_not_made_rare_by_titles():
    common, rare = "algorithm", "curvature"
    abstracts = [
        f"{text} {common} {rare if i == 0 else ''}" for i, text in enumerate(PAPERS.values())
    ]
    index = index_texts([*abstracts, *titles(2000)], slope=0.5)
    assert index.idf[index.columns[stem(common)]] < 0.4 * index.idf[index.columns[stem(rare)]]


def test_a_title_is_not_the_twin_of_an_abstract_for_one_shared_word():
    texts = [*PAPERS.values(), "riemannian ferry", *titles(500)]
    index = index_texts(texts, slope=0.5)
    place = {name: i for i, name in enumerate(PAPERS)}
    near = likeness(index, np.array([place["atlas"]]))[0]
    assert near[place["rhizome"]] > near[len(PAPERS)]


def test_empty_texts_are_zero_rows():
    index = index_texts(["", "  ", "42"], slope=0.5)
    assert index.weights.nnz == 0
    assert np.all(index.lengths > 0)
    assert np.all(np.isfinite(index.lengths))
    assert np.all(cosine(index, np.arange(3)) == 0)


def test_textbook_weights_are_those_of_scikit_learn():
    texts = [*PAPERS.values(), "moat moat moat ebb", ""]
    theirs = TfidfVectorizer(analyzer=terms_of, sublinear_tf=True).fit(texts)
    index = index_texts(texts, slope=0.5)
    order = [theirs.vocabulary_[term] for term in index.vocabulary]
    expected = theirs.transform(texts).toarray()[:, order]
    np.testing.assert_allclose(textbook_weights(index).toarray(), expected, atol=1e-5)
