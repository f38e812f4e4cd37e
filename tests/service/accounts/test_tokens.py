"""The form of a token."""

import re
import string

import pytest

from service.accounts.tokens import make_token, read_token


def test_a_token_is_read_back():
    token = make_token()
    assert re.fullmatch(r"psh_[A-Za-z0-9]{8}_[A-Za-z0-9]{43}_[A-Za-z0-9]{6}", str(token))
    assert read_token(str(token)) == token


def test_every_token_is_another_one():
    made = [make_token() for _ in range(200)]
    assert len({token.token_id for token in made}) == len({token.secret for token in made}) == 200


def test_a_secret_does_not_show_in_logs():
    token = make_token()
    assert token.secret not in repr(token)
    assert token.secret_hash not in str(token)


def test_each_mistyped_character_is_noticed():
    text = str(make_token())
    for place in range(len("psh_"), len(text)):
        if text[place] != "_":
            other = next(c for c in string.ascii_letters if c != text[place])
            assert read_token(f"{text[:place]}{other}{text[place + 1 :]}") is None, place


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-1],
        lambda text: text + "a",
        lambda text: text + "\n",
        lambda text: f" {text}",
        lambda text: text.replace("psh_", "psk_"),
        lambda text: text.replace("_", "-"),
        lambda _: "",
        lambda _: "Bearer",
        lambda _: "psh_" + "é" * 8 + "_" + "a" * 43 + "_" + "a" * 6,
    ],
    ids="short long newline blank prefix dashes empty word accents".split(),  # noqa: SIM905
)
def test_what_is_no_token_is_none(spoil):
    assert read_token(spoil(str(make_token()))) is None


def test_the_hash_knows_its_secret_only():
    one, other = make_token(), make_token()
    assert one.has_hash(one.secret_hash)
    assert not one.has_hash(other.secret_hash)
