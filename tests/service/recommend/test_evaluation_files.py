"""Reading lists in files: what is taken, and what is refused with its file and line."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.recommend.evaluation_files import Row, parse_documents, parse_ids, parse_rows


def lines(text: str | bytes) -> list[bytes]:
    return (text.encode() if isinstance(text, str) else text).splitlines(keepends=True)


def rows(text: str | bytes, **options: bool) -> list[Row]:
    return parse_rows(lines(text), "users.tsv", **options)


def test_two_to_four_columns_are_taken():
    text = (
        "ann\tp 1\nann\t2\t\nbob\t2\t-1\nbob\tp 1\t3\t1970-01-02\nbob\t4\t\t1970-01-01T01:00:01Z\n"
    )
    assert rows(text) == [
        Row("ann", "p 1", None, None),
        Row("ann", "2", None, None),
        Row("bob", "2", -1, None),
        Row("bob", "p 1", 3, 86_400),
        Row("bob", "4", None, 3_601),
    ]


def test_byte_order_marks_windows_lines_and_blank_lines_are_no_data():
    assert rows("\ufeffann\tp1\r\n\r\n  \nbob\tp2") == [
        Row("ann", "p1", None, None),
        Row("bob", "p2", None, None),
    ]


def test_separators_of_other_kinds_stay_in_the_ids():
    assert rows("a\u2028b\tp\x0bq\n") == [Row("a\u2028b", "p\x0bq", None, None)]


@pytest.mark.parametrize("header", ["person\tpaper", "User_ID\tItem_ID\trating\ttime"])
def test_a_first_line_that_names_the_columns_is_passed_over(header: str):
    assert rows(f"{header}\nann\tp1\n") == [Row("ann", "p1", None, None)]


def test_only_the_first_line_can_be_a_header():
    assert rows("person\tp1\nperson\tpaper\n") == [
        Row("person", "p1", None, None),
        Row("person", "paper", None, None),
    ]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a\tp\nb\n", 2, "1 column where 2 to 4 belong"),
        ("a p\n", 1, "Are these spaces?"),
        ("a\tp\t1\t2026-01-01\tx\n", 1, "5 columns where 2 to 4 belong"),
        ("\na\tp\n\tp\n", 3, "The person is empty"),
        ("a\t \n", 1, "The paper is empty"),
        ("a\tp\tmuch\n", 1, "'much' is no number"),
        ("a\tp\tnan\n", 1, "'nan' is no number"),
        ("a\tp\tinf\n", 1, "'inf' is no number"),
        ("a\tp\t\tyesterday\n", 1, "'yesterday' is not ISO 8601"),
        ("a\tp\t\t1700000000\n", 1, "2026-05-01T12:30:00Z"),
        (b"a\tp\nb\t\xff\n", 2, "Byte 3 is not UTF-8"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(text: str | bytes, line: int, what: str):
    with pytest.raises(InvalidInput) as caught:
        rows(text)
    assert str(caught.value).startswith(f"users.tsv, line {line}: ")
    assert what in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("value", ["0", "6", "3.5", "-1"])
def test_a_rating_is_one_to_five(value: str):
    with pytest.raises(InvalidInput, match=r"line 2: The rating .* is not 1, 2, 3, 4 or 5"):
        rows(f"a\tp\t5\na\tq\t{value}\n", ratings=True)
    assert rows("a\tp\t\n", ratings=True)[0].value is None


@pytest.mark.parametrize("text", ["", "\n\n", "person\tpaper\n"])
def test_a_file_without_rows_is_refused(text: str):
    with pytest.raises(InvalidInput, match=r"users.tsv: There is no row"):
        rows(text)


def documents(text: str | bytes) -> dict[str, str]:
    return parse_documents(lines(text), "docs.jsonl")


def test_documents_have_an_id_and_a_text():
    text = '{"id": "p1", "text": "tides", "year": 2026}\n\n{"text": "", "id": 7}\n'
    assert documents(text) == {"p1": "tides", "7": ""}
    assert documents("") == {}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"id": "p2", "text": ', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("p2 tides", "not JSON"),
        ('["p2", "tides"]', "no id or no text"),
        ('{"id": "p2"}', "no id or no text"),
        ('{"id": null, "text": "x"}', "The id is not a text"),
        ('{"id": true, "text": "x"}', "The id is not a text"),
        ('{"id": " ", "text": "x"}', "The id is not a text"),
        ('{"id": "p2", "text": 3}', "The text is not a text"),
        ('{"id": "p1", "text": "again"}', "'p1' is on line 1 already"),
    ],
)
def test_a_document_that_cannot_be_used_is_named(line: str, what: str):
    with pytest.raises(InvalidInput, match=r"docs.jsonl, line 2: ") as caught:
        documents('{"id": "p1", "text": "tides"}\n' + line)
    assert what in str(caught.value)


def test_ids_are_one_a_line():
    found = parse_ids(lines("p1\n\n p2 \r\np1\n"), "ids.txt")
    assert [(paper, place.line) for paper, place in found.items()] == [("p1", 1), ("p2", 3)]
    with pytest.raises(InvalidInput, match=r"ids.txt, line 2: There is more than one column"):
        parse_ids(lines("p1\np2\tp3\n"), "ids.txt")
    with pytest.raises(InvalidInput, match=r"ids.txt: There is no id"):
        parse_ids(lines("\n"), "ids.txt")


@given(st.binary(max_size=200))
def test_nothing_but_a_refusal_comes_of_arbitrary_bytes(content: bytes):
    for parse in (parse_rows, parse_documents, parse_ids):
        with contextlib.suppress(InvalidInput):
            parse(lines(content), "any")
