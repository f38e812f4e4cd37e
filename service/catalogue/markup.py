"""LaTeX and Markdown, mixed as authors mix them, read into a small tree.

Abstracts are neither language: ``**`` stands beside ``\\textbf``, dollars are money or formulas, and
dollars nest inside the braces inside dollars. So one reader knows both, takes every mark that has no
partner for a character, and never loses text. It makes a fixed number of passes and its depth is
bounded, so no input takes long.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from service.catalogue.links import is_web_address, unescape_url, url_spans
from service.catalogue.mathtext import MAX_DEPTH, TEXT_COMMANDS, accented, is_silent, symbol

Style: TypeAlias = Literal["em", "strong", "code", "smallcaps", "plain"]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Styled:
    style: Style
    children: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """What stands between the dollars, as written."""

    source: str
    is_display: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    children: tuple["Node", ...]


Node: TypeAlias = Text | Styled | Formula | Link

MAX_FORMULA: Final = 2000
"""Characters. A dollar whose partner is further away than this is money."""

MAX_SET: Final = 100
"""Characters between braces that are still looked at for a comma."""

MAX_WAITING: Final = 10
"""Marks of one kind that may wait for a partner; it bounds how deep emphasis nests."""

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
    | (?P<text>    [^\\{}$`'"\-*_~]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_STYLES: Final[dict[str, Style]] = {
    "textbf": "strong",
    "emph": "em",
    "textit": "em",
    "textsl": "em",
    "texttt": "code",
    "verb": "code",
    "textsc": "smallcaps",
}
_DECLARATIONS: Final[dict[str, Style]] = {
    "bf": "strong",
    "bfseries": "strong",
    "em": "em",
    "it": "em",
    "itshape": "em",
    "tt": "code",
    "ttfamily": "code",
    "sc": "smallcaps",
    "scshape": "smallcaps",
}
_ACCENT_LETTERS: Final = frozenset("cvuHkrdbt")
_ACCENT_MARKS: Final = frozenset("\"'`^~=.")
_LETTERS: Final = frozenset(["o", "O", "l", "L", "ss", "ae", "AE", "oe", "OE", "aa", "AA", "i", "j"])
_COLOURS: Final = frozenset({"textcolor", "colorbox", "color"})
_PUNCTUATION: Final = {"ldots": "…", "dots": "…", "item": "-", "par": "\n\n", "newline": "\n"}

_BAD_CHARACTERS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]"
)
_NOT_TEXT: Final = re.compile(r"[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_LINE_ENDS: Final = re.compile(r"\r\n?|\x85|\u2028|\u2029")


def clean(text: str) -> str:
    """NFC without control characters, direction overrides and halves of surrogate pairs."""
    text = _BAD_CHARACTERS.sub("", _LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", _NOT_TEXT.sub("\ufffd", text))


def read_markup(source: str, *, depth: int = 0) -> tuple[Node, ...]:
    """The tree of a text; joined, its leaves are all that was written."""
    return _Reader(clean(source), depth).read() if depth < MAX_DEPTH else (Text(source),)


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    start: int
    inner: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(slots=True)
class _Mark:
    """A run of ``*`` or ``__`` that may begin or end emphasis."""

    text: str
    before: str
    after: str


@dataclass(slots=True)
class _Level:
    """What has been read between two braces: nodes, and marks that wait for their partner."""

    items: list[Node | _Mark] = field(default_factory=list)
    style: Style | None = None


class _Reader:
    def __init__(self, source: str, depth: int) -> None:
        self.source = source
        self.depth = depth
        self.tokens = list(_tokens(source))
        self.braces, self.dollars = _partners(self.tokens, source)
        _pair_quotes(self.tokens, source)

    def read(self) -> tuple[Node, ...]:
        return self._sequence(0, len(self.tokens), self.depth)

    def _sequence(self, position: int, end: int, depth: int) -> tuple[Node, ...]:
        level = _Level()
        while position < end:
            position = self._step(level, position, end, depth)
        nodes = _emphasised(level.items)
        return (Styled(level.style, nodes),) if level.style and nodes else nodes

    def _step(self, level: _Level, position: int, end: int, depth: int) -> int:
        """Read one thing into the level and return the position after it."""
        token = self.tokens[position]
        items = level.items
        if token.kind == "command":
            return self._command(level, position, end, depth)
        if token.kind == "escape":
            return self._escape(level, position, end)
        if token.kind == "open" and self._closes_within(position, end) and depth < MAX_DEPTH:
            close = self.braces[position]
            inside = self._sequence(position + 1, close, depth + 1)
            items.extend([Text("{"), *inside, Text("}")] if self._is_set(position) else inside)
            return close + 1
        if token.kind == "dollar" and self.dollars.get(position, end) < end:
            close = self.dollars[position]
            items.extend(self._formula(token.end, self.tokens[close].start, token.text, depth))
            return close + 1
        if token.kind == "mark":
            items.append(_Mark(token.text, *self._neighbours(token)))
        elif token.kind == "url":
            url = unescape_url(token.text)
            items.append(Link(url, (Text(url),)))
        elif token.kind == "code":
            items.append(Styled("code", (Text(token.inner),)))
        else:
            items.append(Text(self._characters(token)))
        return position + 1

    def _characters(self, token: _Token) -> str:
        if token.kind == "single":
            return f"‘{token.inner}’"
        if token.kind == "curved":
            return token.inner
        before, after = self._neighbours(token)
        if token.kind == "tie":
            is_tie = before.strip() and after.strip() and not (before + after).isdecimal()
            return " " if is_tie else "~"
        if token.kind == "dash" and len(token.text) <= 3:
            is_option = not (before.strip(" \n\t([`‘“\"'|/") or not re.match("[A-Za-z]", after))
            is_arrow = before in {"<", "!"} or after == ">"
            if not is_option and not is_arrow:
                return "—" if len(token.text) == 3 else "–"
        return token.text

    def _neighbours(self, token: _Token) -> tuple[str, str]:
        before = self.source[max(token.start - 1, 0) : token.start]
        return before, self.source[token.end : token.end + 1]

    def _closes_within(self, position: int, end: int) -> bool:
        return self.braces.get(position, end) < end

    def _is_set(self, position: int) -> bool:
        """``{0, 1}`` in prose is a set, ``{BERT}`` protects capitals."""
        inside = (
            self.source[self.tokens[position].end :][:0]
            or self.source[self.tokens[position].end : self.tokens[self.braces[position]].start]
        )
        return "," in inside and "\\" not in inside

    def _formula(self, start: int, end: int, mark: str, depth: int) -> list[Node]:
        inside = self.source[start:end]
        wrapped = re.fullmatch(r"\s*\\(text[a-z]*|emph|mbox)\s*\{.*\}\s*", inside, re.DOTALL)
        if wrapped and wrapped[1] in TEXT_COMMANDS and _is_one_group(inside):
            return list(read_markup(inside, depth=depth + 1))
        return [Formula(inside, is_display=mark in {"$$", r"\["})]

    def _group(self, position: int, end: int) -> int | None:
        """The position of the ``{`` that comes next, if it is closed."""
        if position < end and self.tokens[position].kind == "text":
            if self.tokens[position].text.strip():
                return None
            position += 1
        is_group = position < end and self.tokens[position].kind == "open"
        return position if is_group and self._closes_within(position, end) else None

    def _command(self, level: _Level, position: int, end: int, depth: int) -> int:
        token = self.tokens[position]
        name = token.text[1:].rstrip("*")
        group = self._group(position + 1, end) if depth < MAX_DEPTH else None
        if name in _ACCENT_LETTERS and (after := self._accent(level, name, position + 1, end)):
            return after
        if name in _DECLARATIONS and depth > self.depth and not level.items and group is None:
            level.style = _DECLARATIONS[name]
            return self._skip_blanks(position + 1)
        if group is None or (name not in {"url", "href"} and symbol(name) is not None):
            return self._bare_command(level, name, position, end)
        close = self.braces[group]
        raw = self.source[self.tokens[group].end : self.tokens[close].start]
        if name in {"begin", "end"}:
            level.items.append(Text("\n" if raw else ""))
        elif name in {"url", "href", "path"}:
            return self._address(level, name, unescape_url(raw.strip()), close + 1, end, depth)
        elif not (name in _COLOURS and (name == "color" or self._group(close + 1, end))):
            inside = self._sequence(group + 1, close, depth + 1)
            style = _STYLES.get(name, "plain")
            if style == "code":
                inside = (Text(_verbatim(raw)),) if "\\" not in raw.replace("\\_", "") else inside
            level.items.append(Styled(style, inside))
        return close + 1

    def _bare_command(self, level: _Level, name: str, position: int, end: int) -> int:
        """A command without argument: its character, nothing, or at least its name."""
        if name in _PUNCTUATION:
            level.items.append(Text(_PUNCTUATION[name]))
        elif is_silent(name):
            return self._skip_blanks(position + 1)
        elif name != "xspace":
            level.items.append(Text(symbol(name) or name))
        after = position + 1
        if name in _LETTERS:
            after = self._skip_blanks(after)
        is_empty_group = after + 1 < end and self.braces.get(after) == after + 1
        return after + 2 if is_empty_group else after

    def _address(self, level: _Level, name: str, url: str, after: int, end: int, depth: int) -> int:
        label: tuple[Node, ...] = (Text(url),)
        group = self._group(after, end) if name == "href" else None
        if group is not None:
            label = self._sequence(group + 1, self.braces[group], depth + 1)
            after = self.braces[group] + 1
        if is_web_address(url) and not re.search(r"\s", url):
            level.items.append(Link(url, label))
        else:
            level.items.extend(label if group is None else [*label, Text(f" ({url})")])
        return after

    def _escape(self, level: _Level, position: int, end: int) -> int:
        token = self.tokens[position]
        character = token.text[1]
        if position in self.dollars and self.dollars[position] < end:
            close = self.dollars[position]
            level.items.extend(
                self._formula(token.end, self.tokens[close].start, token.text, self.depth)
            )
            return close + 1
        if character in _ACCENT_MARKS and (
            after := self._accent(level, character, position + 1, end)
        ):
            return after
        if character in "%&_$#{}\"'*`~^" or character in "([)]":
            level.items.append(Text(character))
        elif character == "\\":
            level.items.append(Text("\n"))
        else:
            known = symbol(character)
            level.items.append(Text(token.text if known is None else known))
        return position + 1

    def _accent(self, level: _Level, name: str, position: int, end: int) -> int | None:
        """``\\"i``, ``\\'{e}``, ``\\c c``, ``\\'\\i``: the letter, and where to go on."""
        if position >= end:
            return None
        token = self.tokens[position]
        needs_braces = name.isalpha()
        if token.kind == "open" and self.braces.get(position, end) < end:
            close = self.braces[position]
            base = self.source[token.end : self.tokens[close].start].strip()
            letter = accented(name, {r"\i": "i", r"\j": "j"}.get(base, base[:2]))
            if letter:
                level.items.append(Text(letter))
                return close + 1
        elif token.kind == "command" and token.text in {r"\i", r"\j"}:
            level.items.append(Text(accented(name, token.text[1]) or token.text[1]))
            return self._skip_blanks(position + 1)
        elif token.kind == "text":
            stripped = token.text.lstrip() if needs_braces else token.text
            if needs_braces and stripped == token.text:
                return None
            letter = accented(name, stripped[:1])
            if letter and len(letter) == 1:
                self.tokens[position] = _Token("text", stripped[1:], token.end - len(stripped) + 1)
                level.items.append(Text(letter))
                return position
        return None

    def _skip_blanks(self, position: int) -> int:
        """Take the blanks off the beginning of a text token, as TeX does after a command."""
        if position < len(self.tokens) and self.tokens[position].kind == "text":
            token = self.tokens[position]
            stripped = token.text.lstrip()
            self.tokens[position] = _Token("text", stripped, token.end - len(stripped))
        return position


def _tokens(source: str) -> Iterator[_Token]:
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
            yield _Token(kind, found[0], position, inner)
            position = found.end()
        if start < end:
            yield _Token("url", source[start:end], start)
            position = end


def _partners(tokens: Sequence[_Token], source: str) -> tuple[dict[int, int], dict[int, int]]:
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


def _is_formula(begin: _Token, end: _Token, source: str) -> bool:
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
    if not is_tight and inside[0].isspace() != inside[-1].isspace():
        return False
    if followed_by_digit or not is_tight:
        return looks_like_tex
    return looks_like_tex or len(re.findall(r"[^\W\d_]{3,}", inside)) < 2


def _is_one_group(source: str) -> bool:
    """Whether the first ``{`` of ``\\textbf{…}`` is closed by the last ``}``."""
    depth = 0
    for found in re.finditer(r"\\.|[{}]", source.strip(), re.DOTALL):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0 and found[0] == "}":
            return found.end() == len(source.strip())
    return False


def _pair_quotes(tokens: list[_Token], source: str) -> None:
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


def _emphasised(items: Sequence[Node | _Mark]) -> tuple[Node, ...]:
    """Pair the marks of one level; what finds no partner is text again."""
    out: list[Node | _Mark] = []
    openers: dict[str, list[int]] = {}
    for item in items:
        if not isinstance(item, _Mark) or item.text not in {"*", "**", "***", "__"}:
            out.append(Text(item.text) if isinstance(item, _Mark) else item)
            continue
        waiting = openers.setdefault(item.text, [])
        begin = waiting[-1] if waiting else None
        if begin is not None and _closes(out, begin, item):
            children = _unmarked(out[begin + 1 :])
            del out[begin:]
            for positions in openers.values():
                while positions and positions[-1] >= begin:
                    positions.pop()
            out.append(_with_style(item.text, children))
        else:
            if item.after.strip() and (item.text[0] == "*" or not item.before.isalnum()):
                waiting.append(len(out))
                del waiting[:-MAX_WAITING]
            out.append(item)
    return _unmarked(out)


def _closes(out: Sequence[Node | _Mark], begin: int, closer: _Mark) -> bool:
    """Whether the mark ends the emphasis begun there, and is no multiplication or footnote."""
    opener = out[begin]
    if not isinstance(opener, _Mark) or not closer.before.strip() or begin + 1 == len(out):
        return False
    is_inside_word = opener.before.isalnum() or closer.after.isalnum()
    if not is_inside_word:
        return True
    if len(closer.text) == 1 or closer.text == "__" or begin + 2 != len(out):
        return False
    inside = out[begin + 1]
    return isinstance(inside, Text) and inside.text.isalpha()


def _with_style(mark: str, children: tuple[Node, ...]) -> Node:
    if mark == "***":
        return Styled("strong", (Styled("em", children),))
    return Styled("em" if mark == "*" else "strong", children)


def _unmarked(items: Sequence[Node | _Mark]) -> tuple[Node, ...]:
    return tuple(Text(item.text) if isinstance(item, _Mark) else item for item in items)


def _verbatim(raw: str) -> str:
    return raw.replace("\\_", "_")
