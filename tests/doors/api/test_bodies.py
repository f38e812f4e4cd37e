"""The reader of JSON bodies by itself."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.bodies import DEEPEST, MalformedBody, parse_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_the_library_writes_is_read_back(value: object):
    assert parse_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",:\\u0dea1', max_size=60).map(str.encode))
def test_rubbish_is_malformed_and_nothing_else(body: bytes):
    with suppress(MalformedBody):
        parse_json(body)


@pytest.mark.parametrize("pair", ["[]", '{"a":}'])
def test_the_deepest_nesting_is_read_and_one_more_is_not(pair: str):
    opening, closing = pair[:-1], pair[-1]
    last = "1" if ":" in pair else ""
    parse_json((opening * DEEPEST + last + closing * DEEPEST).encode())
    with pytest.raises(MalformedBody, match="nested"):
        parse_json((opening * (DEEPEST + 1) + last + closing * (DEEPEST + 1)).encode())


def test_brackets_in_texts_are_no_nesting():
    text = "[{" * 1_000 + '\\"'
    assert parse_json(json.dumps([text]).encode()) == [text]


MEBIBYTES = {
    "escaped quotes": b'"' + b'\\"' * 500_000,
    "quotes": b'"' * 1_000_000,
    "backslashes": b"\\" * 1_000_000,
    "a text without end": b'["' + b"a" * 1_000_000,
    "pairs of brackets": b"[]" * 500_000,
    "quotes and backslashes": b'"\\' * 500_000,
    "opening brackets": b"[" * 1_000_000,
    "texts": b'"" ' * 333_333,
}


@pytest.mark.timeout(60)  # a hang guard: a reader that goes back and forth needs many minutes
@pytest.mark.parametrize("name", MEBIBYTES)
def test_a_mebibyte_of_anything_is_read_in_one_pass(name: str):
    with pytest.raises(MalformedBody):
        parse_json(MEBIBYTES[name])


def test_a_number_too_long_for_any_field_is_infinite():
    assert parse_json(b"9" * 1_000_000) == float("inf")
