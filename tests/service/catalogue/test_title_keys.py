"""What stands for a title, so that two rows of one work are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.catalogue.fingerprints import title_keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("End-to-End Differentiable Proving", "End-to-end differentiable proving."),
        ("On the Power of Depth, Part II", "On the power of depth: Part 2"),
        ("Efﬁcient Softmax Approximation", "Efficient softmax approximation"),
        ("Ein Modell für die Straße der Züge", "EIN MODELL FÜR DIE STRASSE DER ZÜGE"),
    ],
)
def test_titles_that_are_the_same(one: str, other: str):
    assert title_keys(one) == title_keys(other) != (0, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("On the Power of Depth, Part I", "On the Power of Depth, Part II"),
        ("On the Power of Depth, Part A", "On the Power of Depth, Part B"),
        ("Language models in 2024", "Language models in 2025"),
        ("What GPT-2 knows of grammar", "What GPT-3 knows of grammar"),
        ("The Power of Depth", "The Power of Depth II"),
    ],
)
def test_numbers_tell_the_parts_of_a_series_apart(one: str, other: str):
    (series, number), (same_series, other_number) = title_keys(one), title_keys(other)
    assert series == same_series
    assert number != other_number


def test_other_words_are_another_title():
    assert title_keys("Mixing in games of chance")[0] != title_keys("Fixing in games of chance")[0]


@pytest.mark.parametrize("title", ["", "Withdrawn", "Editorial", "深度学习", "...", "2 3 4"])
def test_what_may_be_any_papers_title_stands_for_none(title: str):
    assert title_keys(title) == (0, 0)


@given(st.text())
def test_any_text_has_keys_that_fit_a_column(title: str):
    assert all(0 <= key < 2**63 for key in title_keys(title))
