"""Bytes of a text file as text, when no one says which encoding they are in."""

import codecs
import re
from typing import Final

from service.errors import InvalidInput

_MAGIC: Final = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"SQLite format 3", "a database"),
    (b"\x7fELF", "a program"),
)
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_OTHER_FORMATS: Final = (
    (re.compile(r"(?:\s*%.*\n)*\s*@[A-Za-z]+\s*[{(]"), "BibTeX"),
    (re.compile(r"\s*TY  ?- "), "RIS"),
    (re.compile(r"\s*PMID- "), "a PubMed file"),
    (re.compile(r"\s*(?:\[\s*[\[{\"]|\{\s*\")"), "JSON"),
    (re.compile(r"\s*<(?:\?xml|!doctype|html|rdf:|feed|opml)", re.IGNORECASE), "HTML or XML"),
    (re.compile(r"\s*\\documentclass\b"), "a LaTeX document"),
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")

PAIRED: Final = 0.6
"""Share of non-ASCII bytes beside another one from which they are read as Chinese: in GB18030
they come in pairs, accents and quotation marks of cp1252 stand alone."""

BROKEN: Final = 0.25
"""Broken bytes per non-ASCII character up to which a file is damaged UTF-8, not another code."""


def decode(data: bytes) -> str:
    """The text of a file: UTF-8, UTF-16, UTF-32, GB18030 or cp1252.

    Damaged UTF-8 comes back with U+FFFD for what cannot be read. Raises ``InvalidInput`` for
    what is not text.
    """
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise InvalidInput(f"This is {kind}, not a text file: save it as plain text first.")
    text = _decoded(data)
    refuse_binary(text)
    return text


def refuse_other_formats(text: str) -> None:
    """Raise ``InvalidInput`` for text that is data of another kind, not a listing in prose.

    Read as a listing it would put its source code into everybody's catalogue.
    """
    for form, kind in _OTHER_FORMATS:
        if form.match(text):
            raise InvalidInput(
                f"This is {kind}, not a listing; a listing is plain text, one abstract a paragraph."
            )


def refuse_binary(text: str) -> None:
    """Raise ``InvalidInput`` if the text is full of control characters."""
    n_controls = sum(1 for _ in _CONTROLS.finditer(text))
    if n_controls > max(8, len(text) // 20):
        raise InvalidInput("This is a binary file, not text: save it as plain text (UTF-8) first.")


def _decoded(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    if guessed := _utf16_without_mark(data):
        return data.decode(guessed, errors="replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _legacy(data)


def _utf16_without_mark(data: bytes) -> str | None:
    """UTF-16 of mostly ASCII text has a zero in every second place, and nowhere else."""
    head = data[:4096]
    half = len(head) // 2
    even, odd = head[::2].count(0), head[1::2].count(0)
    if half < 4 or max(even, odd) < 0.7 * half or min(even, odd) > 0.05 * half:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _legacy(data: bytes) -> str:
    as_utf8 = data.decode("utf-8", errors="replace")
    n_read = sum(1 for character in as_utf8 if character > "\x7f" and character != "\ufffd")
    if as_utf8.count("\ufffd") <= BROKEN * n_read:
        return as_utf8
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", data)]
    if sum(length for length in runs if length > 1) >= PAIRED * sum(runs):
        try:
            return data.decode("gb18030")
        except UnicodeDecodeError:
            pass
    return data.decode("cp1252", errors="replace")
