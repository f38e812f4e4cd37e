"""What makes two records without a common identifier the same paper: what they say."""

import re
from collections.abc import Sequence
from hashlib import blake2b, sha256
from unicodedata import normalize

from service.catalogue.text import to_plain

SHORTEST_TITLE = 12
"""Letters and digits below which a title names no paper: "Withdrawn", "Editorial", "Reply"."""
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii")
_NUMBER = re.compile(rf"\d+|(?<![^\W_])(?:{'|'.join(_ROMAN)})(?![^\W_])|(?<=\bpart )[a-z]\b")
"""In a folded title: 2, ii, and the letter of "part b"."""


def abstract_fingerprint(source: str) -> str:
    """SHA-256 of what an abstract says: letters and digits only, in lower case, without markup.

    The same abstract gives the same value whichever way it was wrapped, quoted or typeset.
    """
    plain = to_plain(source)
    return _digest(_letters(plain) or plain)


def title_fingerprint(title: str, authors: Sequence[str], year: int | None) -> str:
    """The same for a paper that is known by its title only: two people may choose one title."""
    plain = to_plain(title)
    parts = [_letters(plain) or plain, *map(_letters, authors), str(year or "")]
    return _digest("|".join(["title", *parts]))


def title_keys(title: str) -> tuple[int, int]:
    """What stands for a plain title without its numbers, and for its numbers: 63-bit integers.

    Capitals, spaces and punctuation make no difference, nor does II for 2. (0, 0) for a title that
    is too short to be one paper's. The parts of a series agree in the first key only.
    """
    folded = normalize("NFKC", normalize("NFKC", title).casefold())
    if len(_letters(folded)) < SHORTEST_TITLE:
        return 0, 0
    numbers = [_in_digits(number) for number in _NUMBER.findall(folded)]
    return _key(_letters(_NUMBER.sub(" ", folded))), _key(" ".join(numbers))


def _in_digits(number: str) -> str:
    return str(_ROMAN.index(number) + 1) if number in _ROMAN else number


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) >> 1


def _letters(text: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return "".join(character for character in folded if character.isalnum())


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
