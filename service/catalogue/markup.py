"""LaTeX and Markdown, mixed as authors mix them, read into a small tree.

Abstracts are neither language: ``**`` stands beside ``\\textbf``, dollars are money or formulas,
and dollars nest inside the braces inside dollars. So one reader knows both, takes every mark that
has no partner for a character, and never loses text. It makes a fixed number of passes and its
depth is bounded, so no input takes long.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from service.catalogue.emphasis import Mark, emphasised
from service.catalogue.links import is_web_address, unescape_url
from service.catalogue.markup_nodes import Formula, Link, Node, Style, Styled, Text
from service.catalogue.markup_tokens import (
    Token,
    clean,
    is_one_group,
    pair_quotes,
    partners,
    tokens_of,
)
from service.catalogue.mathtext import MAX_DEPTH, TEXT_COMMANDS, accented, is_silent, symbol

MAX_SET: Final = 100
"""Characters between braces that are still looked at for a comma."""

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
_LETTERS: Final = frozenset(
    ["o", "O", "l", "L", "ss", "ae", "AE", "oe", "OE", "aa", "AA", "i", "j", "textquotesingle"]
)
_COLOURS: Final = frozenset({"textcolor", "colorbox", "color"})
_PUNCTUATION: Final = {"ldots": "…", "dots": "…", "item": "-", "par": "\n\n", "newline": "\n"}


def read_markup(source: str, *, depth: int = 0) -> tuple[Node, ...]:
    """The tree of a text; joined, its leaves are all that was written."""
    return _Reader(clean(source), depth).read() if depth < MAX_DEPTH else (Text(source),)


@dataclass(slots=True)
class _Level:
    """What has been read between two braces: nodes, and marks that wait for their partner."""

    items: list[Node | Mark] = field(default_factory=list)
    style: Style | None = None


class _Reader:
    def __init__(self, source: str, depth: int) -> None:
        self.source = source
        self.depth = depth
        self.tokens = list(tokens_of(source))
        self.braces, self.dollars = partners(self.tokens, source)
        pair_quotes(self.tokens, source)

    def read(self) -> tuple[Node, ...]:
        return self._sequence(0, len(self.tokens), self.depth)

    def _sequence(self, position: int, end: int, depth: int) -> tuple[Node, ...]:
        level = _Level()
        while position < end:
            position = self._step(level, position, end, depth)
        nodes = emphasised(level.items)
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
            items.append(Mark(token.text, *self._neighbours(token)))
        elif token.kind == "url":
            url = unescape_url(token.text)
            items.append(Link(url, (Text(url),)))
        elif token.kind == "code":
            items.append(Styled("code", (Text(token.inner),)))
        else:
            items.append(Text(self._characters(token)))
        return position + 1

    def _characters(self, token: Token) -> str:
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

    def _neighbours(self, token: Token) -> tuple[str, str]:
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
        return ("," in inside or inside != inside.strip()) and "\\" not in inside

    def _formula(self, start: int, end: int, mark: str, depth: int) -> list[Node]:
        inside = self.source[start:end]
        wrapped = re.fullmatch(r"\s*\\(text[a-z]*|emph|mbox)\s*\{.*\}\s*", inside, re.DOTALL)
        if wrapped and wrapped[1] in TEXT_COMMANDS and is_one_group(inside):
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
                self.tokens[position] = Token("text", stripped[1:], token.end - len(stripped) + 1)
                level.items.append(Text(letter))
                return position
        return None

    def _skip_blanks(self, position: int) -> int:
        """Take the blanks off the beginning of a text token, as TeX does after a command."""
        if position < len(self.tokens) and self.tokens[position].kind == "text":
            token = self.tokens[position]
            stripped = token.text.lstrip()
            self.tokens[position] = Token("text", stripped, token.end - len(stripped))
        return position


def _verbatim(raw: str) -> str:
    return raw.replace("\\_", "_")
