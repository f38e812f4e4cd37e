"""The reader of JSON bodies by itself."""

import json
import time

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
    try:
        parse_json(body)
    except MalformedBody as error:
        assert str(error)


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


@pytest.mark.parametrize(
    "body",
    [b'"' + b'\\"' * 500_000, b'"' * 1_000_000, b"\\" * 1_000_000, b'["' + b"a" * 1_000_000,
     b"[]" * 500_000, b'"\\' * 500_000, b"9" * 1_000_000, b"[" * 1_000_000],
    ids=lambda body: ascii(body[:6]),
)  # fmt: skip
def test_a_mebibyte_of_anything_takes_a_moment(body: bytes):
    started = time.process_time()
    with pytest.raises(MalformedBody):
        assert parse_json(body) == float("inf")
        raise MalformedBody("a number too large for any field")
    assert time.process_time() - started < 2
