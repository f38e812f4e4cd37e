"""Bytes of a text file as text, when no one says which encoding they are in."""

import codecs
import re
from typing import Final

import charset_normalizer

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

_DECLARATION: Final = re.compile(
    rb"(?:%\s*encoding:\s*|-\*-.{0,80}?coding:\s*|<\?xml[^>]{0,80}encoding=[\"']"
    rb"|<meta[^>]{0,80}charset=[\"']?)([\w.:+-]{2,40})",
    re.IGNORECASE,
)
"""JabRef's first line, Emacs' hint, XML's declaration and HTML's."""
_SUPERSETS: Final = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
}
"""What programs write that name the smaller one (https://encoding.spec.whatwg.org/#names-and-labels)."""
_SINGLE_BYTES: Final = ["cp1252", "cp1250", "cp1251", "koi8_r", "iso8859_7"]
_PAIRED_BYTES: Final = ["gb18030", "big5", "cp932", "euc_jp", "euc_kr", "cp1251", "koi8_r"]
_ENOUGH: Final = 65_536
"""Bytes that a guess looks at."""
_TELLING: Final = 64
"""Bytes beyond ASCII from which the languages of one kind of encoding can be told apart."""

BROKEN: Final = 0.25
"""Broken bytes per non-ASCII character up to which a file is damaged UTF-8, not another code."""


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """The text of a file, and the encoding it was read in: the one given, or else the one that
    the file's first bytes or lines tell, or else the likeliest.

    Damaged UTF-8 comes back with U+FFFD for what cannot be read. Raises ``InvalidInput`` for
    what is not text, for an encoding that there is not, and for one that the file is not in.
    """
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            raise InvalidInput(f"This is {kind}, not a text file: save it as plain text first.")
    text, name = _decoded(data) if encoding is None else _as_told(data, encoding)
    refuse_binary(text)
    return text, name


def encoding_named(name: str) -> str:
    """Python's name of a character encoding. Raises InvalidInput, field ``encoding``."""
    try:
        found = codecs.lookup(name.strip())
        "".encode(found.name)
    except (LookupError, ValueError, UnicodeError) as error:
        raise InvalidInput(
            "There is no such encoding; use a name like utf-8, cp1252 or gb18030.",
            field="encoding",
        ) from error
    return found.name


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


def _as_told(data: bytes, encoding: str) -> tuple[str, str]:
    name = encoding_named(encoding)
    for mark, _ in _BYTE_ORDER_MARKS:
        data = data.removeprefix(mark)
    try:
        return data.decode(name), name
    except UnicodeError as error:
        raise InvalidInput(
            f"The file is not in {name}: leave the encoding out, and it is found out.",
            field="encoding",
        ) from error


def _decoded(data: bytes) -> tuple[str, str]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace"), encoding
    if guessed := _utf16_without_mark(data):
        return data.decode(guessed, errors="replace"), guessed
    for encoding in (*_declared(data), "utf-8"):
        try:
            return data.decode(encoding), encoding
        except UnicodeError:
            continue
    return _legacy(data)


def _declared(data: bytes) -> list[str]:
    """The encoding that the beginning names, if there is such a one and it is not UTF-8 anyway."""
    found = _DECLARATION.search(data[:2048])
    if found is None:
        return []
    # Emacs names the line ends, too: "latin-2-unix".
    label = re.sub(r"-(?:unix|dos|mac)$", "", found[1].decode("ascii").lower())
    try:
        name = encoding_named(label.replace("latin-", "latin"))
    except InvalidInput:
        return []
    return [] if name.startswith("utf") else [_SUPERSETS.get(name, name)]


def _utf16_without_mark(data: bytes) -> str | None:
    """UTF-16 of mostly ASCII text has a zero in every second place, and nowhere else."""
    head = data[:4096]
    half = len(head) // 2
    even, odd = head[::2].count(0), head[1::2].count(0)
    if half < 4 or max(even, odd) < 0.7 * half or min(even, odd) > 0.05 * half:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _legacy(data: bytes) -> tuple[str, str]:
    as_utf8 = data.decode("utf-8", errors="replace")
    n_read = sum(1 for character in as_utf8 if character > "\x7f" and character != "\ufffd")
    if as_utf8.count("\ufffd") <= BROKEN * n_read:
        return as_utf8, "utf-8"
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", data)]
    is_paired = sum(length for length in runs if length > 1) >= PAIRED * sum(runs)
    guess = _likeliest(data, _PAIRED_BYTES if is_paired else _SINGLE_BYTES)
    for encoding in (guess, "gb18030") if is_paired else (guess,):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", errors="replace"), "cp1252"


def _likeliest(data: bytes, encodings: list[str]) -> str:
    """The first one stands for the others where too little speaks for them."""
    if len(re.findall(rb"[\x80-\xff]", data[:_ENOUGH])) < _TELLING:
        return encodings[0]
    found = charset_normalizer.from_bytes(
        data[:_ENOUGH], cp_isolation=encodings, preemptive_behaviour=False, threshold=0.3
    ).best()
    return encodings[0] if found is None else found.encoding
