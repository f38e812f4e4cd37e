"""Markup cut into tokens, and which brace, dollar and quotation mark belongs to which."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.catalogue.links import url_spans

MAX_FORMULA: Final = 2000
"""Characters. A dollar whose partner is further away than this is money."""

_TOKEN: Final = re.compile(
    r"""
      (?P<code>    (?<!`)`(?P<verbatim>[^`'\n]{1,200})`(?!`) )
    | (?P<single>  (?<![`\w])`(?P<quoted>[^`'"\n\\{}$*]{1,200})'(?![\w']) )
    | (?P<command> \\[A-Za-z]+\*? )
    | (?P<escape>  \\[^A-Za-z] )
    | (?P<open>    \{ )
    | (?P<close>   \} )
    | (?P<dollar>  \${1,2} )
    | (?P<quote>   `` | '' | " )
    | (?P<dash>    -{2,} )
    | (?P<mark>    \*+ | _{2,} )
    | (?P<tie>     ~ )
    | (?P<text>    (?: [^\\{}$`'"\-*_~] | -(?!-) | _(?!_) | '(?!') )+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_BAD_CHARACTERS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]"
)
_NOT_TEXT: Final = re.compile(r"[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_LINE_ENDS: Final = re.compile(r"\r\n?|\x85|\u2028|\u2029")


def clean(text: str) -> str:
    """NFC without control characters, direction overrides and halves of surrogate pairs."""
    text = _BAD_CHARACTERS.sub("", _LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", _NOT_TEXT.sub("\ufffd", text))


@dataclass(slots=True)
class Token:
    kind: str
    text: str
    start: int
    inner: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(source: str) -> Iterator[Token]:
    position = 0
    for start, end in [*url_spans(source), (len(source), len(source))]:
        while position < start:
            found = _TOKEN.match(source, position, start)
            if found is None:  # pragma: no cover - the last alternative takes any character
                break
            kind = found.lastgroup or "text"
            if kind in {"verbatim", "quoted"}:
                kind = "code" if kind == "verbatim" else "single"
            inner = found["verbatim"] or found["quoted"] or ""
            yield Token(kind, found[0], position, inner)
            position = found.end()
        if start < end:
            yield Token("url", source[start:end], start)
            position = end


def partners(tokens: Sequence[Token], source: str) -> tuple[dict[int, int], dict[int, int]]:
    """Which brace closes which, and which dollar closes which formula.

    Dollars pair only between the same braces, so that the inner pair of
    ``$\\textbf{a$\\to$b}$`` does not end the outer one.
    """
    braces: dict[int, int] = {}
    open_at: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "open":
            open_at.append(index)
        elif token.kind == "close" and open_at:
            braces[open_at.pop()] = index

    dollars: dict[int, int] = {}
    inside: list[int] = [-1]
    waiting: dict[tuple[int, str], int] = {}
    for index, token in enumerate(tokens):
        if index in braces:
            inside.append(braces[index])
        elif index == inside[-1]:
            inside.pop()
        mark = {r"\)": r"\(", r"\]": r"\["}.get(token.text, token.text)
        if token.kind != "dollar" and not (token.kind == "escape" and mark in {r"\(", r"\["}):
            continue
        key = (inside[-1], mark)
        begin = waiting.get(key)
        is_opener = token.kind == "dollar" or token.text == mark
        is_closer = token.kind == "dollar" or token.text != mark
        if begin is not None and is_closer and _is_formula(tokens[begin], token, source):
            dollars[begin] = index
            del waiting[key]
        elif is_opener:
            waiting[key] = index
    return braces, dollars


def _is_formula(begin: Token, end: Token, source: str) -> bool:
    """Whether two dollars hold a formula, and not two prices."""
    if end.start - begin.end > MAX_FORMULA:
        return False
    inside = source[begin.end : end.start]
    if not inside.strip() or "\n\n" in inside:
        return False
    if begin.text != "$":
        return True
    looks_like_tex = re.search(r"[\\^_={}]", inside) is not None or len(inside.strip()) == 1
    is_tight = not inside[0].isspace() and not inside[-1].isspace()
    followed_by_digit = source[end.end : end.end + 1].isdecimal()
    if inside[0].isspace() != inside[-1].isspace():
        is_amount = inside.lstrip()[0].isdecimal()
        return looks_like_tex and not is_amount and not followed_by_digit
    if followed_by_digit or not is_tight:
        return looks_like_tex
    return looks_like_tex or len(re.findall(r"[^\W\d_]{2,}", inside)) < 2


def is_one_group(source: str) -> bool:
    """Whether the first ``{`` of ``\\textbf{…}`` is closed by the last ``}``."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", source.strip(), re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0 and found[0] == "}":
            return found.end() == len(source.strip())
    return False


def pair_quotes(tokens: list[Token], source: str) -> None:
    """Turn quotation marks that have a partner into curved ones, in place."""
    opened: int | None = None
    for index, token in enumerate(tokens):
        if token.kind == "text" and "\n\n" in token.text:
            opened = None
        if token.kind != "quote":
            continue
        before = source[max(token.start - 1, 0) : token.start]
        after = source[token.end : token.end + 1]
        opens = bool(after.strip()) and (not before.strip() or before in "([{-–—/*_~‘\"'`")
        closes = bool(before.strip())
        if opened is not None and token.text != "``" and closes:
            for position, curved in ((opened, "“"), (index, "”")):
                tokens[position].kind, tokens[position].inner = "curved", curved
            opened = None
        elif token.text == "``" or opens:
            opened = index
