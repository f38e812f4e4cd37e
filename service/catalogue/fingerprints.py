"""What makes two records without a common identifier the same paper: what they say."""

from collections.abc import Sequence
from hashlib import sha256
from unicodedata import normalize

from service.catalogue.text import to_plain


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


def _letters(text: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return "".join(character for character in folded if character.isalnum())


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
