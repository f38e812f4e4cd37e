"""The form of a token: ``psh_<id>_<secret>_<check>``.

The prefix lets secret scanners know it, the id finds its row, and the check tells a typing error
from a revoked token without a query. The secret has 256 random bits, so a plain SHA-256 keeps it.
"""

import hashlib
import hmac
import re
import secrets
import string
import zlib
from dataclasses import dataclass

_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH, _SECRET_LENGTH, _CHECK_LENGTH = 8, 43, 6
_FORM = re.compile(
    rf"psh_([A-Za-z0-9]{{{_ID_LENGTH}}})_([A-Za-z0-9]{{{_SECRET_LENGTH}}})"
    rf"_([A-Za-z0-9]{{{_CHECK_LENGTH}}})"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token in the clear: shown once, never kept."""

    token_id: str
    secret: str

    @property
    def secret_hash(self) -> str:
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def has_hash(self, secret_hash: str) -> bool:
        return hmac.compare_digest(self.secret_hash, secret_hash)

    def __str__(self) -> str:
        body = f"psh_{self.token_id}_{self.secret}"
        return f"{body}_{_check(body)}"

    def __repr__(self) -> str:
        return f"Token({self.token_id!r})"


def make_token() -> Token:
    return Token(_random(_ID_LENGTH), _random(_SECRET_LENGTH))


def read_token(text: str) -> Token | None:
    """The token that the text is, or None if it is none or mistyped."""
    match = _FORM.fullmatch(text)
    if not match:
        return None
    token_id, secret, check = match.groups()
    return Token(token_id, secret) if _check(f"psh_{token_id}_{secret}") == check else None


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def _check(body: str) -> str:
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECK_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits += _ALPHABET[digit]
    return digits
