"""A LaTeX formula as one line of text.

What a command looks like comes from pylatexenc's tables. Its parser is not used on abstracts:
it takes ``%`` for a comment, writes letters in mathematical alphabets that no one can search
for, and its recursion is bounded by nothing.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final

from pylatexenc.latex2text import LatexNodes2Text, get_default_latex_context_db

MAX_DEPTH: Final = 20
"""Groups inside groups that are still read; deeper ones stay as they are written."""

_TOKEN: Final = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_SYMBOLS: Final[Any] = get_default_latex_context_db()
_ACCENTER: Final[Any] = LatexNodes2Text()

_OWN_SYMBOLS: Final = {
    "sim": "~",
    "S": "§",
    "P": "¶",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "textbackslash": "\\",
    "quad": " ",
    "qquad": " ",
    "tilde": "~",
    "ast": "∗",
    "epsilon": "ε",
    "|": "‖",
    " ": " ",
    ":": " ",
    ">": " ",
    "!": "",
    "-": "",
    "/": "",
    "\\": " ",
    "(": "(",
    ")": ")",
    "[": "[",
    "]": "]",
}
"""Where the library has nothing, or a look-alike that a reader can't type."""

_SILENT: Final = frozenset(
    [
        "left",
        "right",
        "big",
        "Big",
        "bigg",
        "Bigg",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "biggl",
        "biggr",
        "Biggl",
        "Biggr",
        "bigm",
        "Bigm",
        "middle",
        "displaystyle",
        "textstyle",
        "scriptstyle",
        "scriptscriptstyle",
        "limits",
        "nolimits",
        "nonumber",
        "notag",
        "bf",
        "it",
        "em",
        "sc",
        "tt",
        "rm",
        "sf",
        "sl",
        "bfseries",
        "itshape",
        "slshape",
        "scshape",
        "ttfamily",
        "rmfamily",
        "sffamily",
        "mdseries",
        "upshape",
        "normalfont",
        "normalsize",
        "small",
        "footnotesize",
        "scriptsize",
        "tiny",
        "large",
        "Large",
        "LARGE",
        "huge",
        "Huge",
        "centering",
        "noindent",
        "protect",
        "allowbreak",
        "boldmath",
        "smallskip",
        "medskip",
        "bigskip",
    ]
)
_ACCENTS: Final = frozenset(
    [
        "hat",
        "widehat",
        "tilde",
        "widetilde",
        "bar",
        "overline",
        "vec",
        "dot",
        "ddot",
        "check",
        "breve",
        "acute",
        "grave",
    ]
)
_WIDE: Final = {"widehat": "hat", "widetilde": "tilde", "overline": "bar"}
_BARS: Final = frozenset(["bar", "overline"])
_FRACTIONS: Final = frozenset(["frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac"])
TEXT_COMMANDS: Final = frozenset(
    [
        "text",
        "textbf",
        "textit",
        "textrm",
        "textsf",
        "textsc",
        "texttt",
        "textnormal",
        "textup",
        "emph",
        "mbox",
        "hbox",
    ]
)
_MARKS: Final = {"⊤": "ᵀ", "∘": "°", "∗": "∗", "†": "†", "‡": "‡", "′": "′", "⋆": "⋆", "⊥": "⊥"}
"""What already looks raised, or has a raised form."""


@cache
def _raised_and_lowered() -> tuple[dict[str, str], dict[str, str]]:
    """Unicode's own superscripts and subscripts, read from its decompositions."""
    raised: dict[str, str] = {}
    lowered: dict[str, str] = {}
    ranges = ((0xB2, 0xBA), (0x2070, 0x20A0), (0x2B0, 0x2B9), (0x2E1, 0x2E4), (0x1D2C, 0x1D6B))
    for first, after in (*ranges, (0x2C7C, 0x2C7E), (0x1D9C, 0x1DC0)):
        for code in range(first, after):
            kind, _, base = unicodedata.decomposition(chr(code)).partition(" ")
            if kind in {"<super>", "<sub>"} and " " not in base:
                table = raised if kind == "<super>" else lowered
                table.setdefault(chr(int(base, 16)), chr(code))
    return raised | _MARKS, lowered


@lru_cache(maxsize=2048)
def symbol(name: str) -> str | None:
    """What the command ``\\name`` stands for by itself, or None when it is not a symbol."""
    if name in _OWN_SYMBOLS:
        return _OWN_SYMBOLS[name]
    if name in _SILENT:
        return ""
    spec = _SYMBOLS.get_macro_spec(name)
    replacement = getattr(spec, "simplify_repl", None)
    if isinstance(replacement, str) and not re.search(r"%[(s]|<", replacement):
        return replacement
    return None


def is_silent(name: str) -> bool:
    """Whether the command only changes how what follows looks."""
    return name in _SILENT


@lru_cache(maxsize=2048)
def accented(name: str, base: str) -> str | None:
    """The letter with the accent of ``\\name``, in one code point where there is one."""
    if len(base) != 1 or not base.isalpha():
        return None
    dotless = {"ı": "i", "ȷ": "j"}.get(base, base)
    composed = unicodedata.normalize("NFC", _ACCENTER.latex_to_text(f"\\{name}{{{dotless}}}"))
    return composed if composed != dotless and base_letter(composed) == dotless else None


def base_letter(text: str) -> str:
    """The first character without its accents."""
    return unicodedata.normalize("NFD", text)[:1]


def formula_text(source: str, prose: Callable[[str], str]) -> str:
    """The formula between two ``$`` as text; ``prose`` reads what stands in ``\\text{…}``."""
    return _Formula(source, prose).read()


class _Formula:
    def __init__(self, source: str, prose: Callable[[str], str]) -> None:
        self.tokens = _TOKEN.findall(source)
        self.partner = _matching_braces(self.tokens)
        self.prose = prose

    def read(self) -> str:
        return re.sub(r"\s+", " ", self._sequence(0, len(self.tokens), 0)).strip()

    def _sequence(self, position: int, end: int, depth: int) -> str:
        out: list[str] = []
        while position < end:
            token = self.tokens[position]
            if token in "^_":
                piece, position = self._script(token, position + 1, end, depth)
            else:
                piece, position = self._atom(position, end, depth)
            if out and piece[:1].isalnum() and len(piece) > 1 and token[0] == "\\":
                piece = self._apart(out[-1], token, piece)
            if piece:
                out.append(piece)
            is_tight = len(out) < 2 or not out[-2][-1:].isspace()
            if _eats_blanks(token, piece, is_tight=is_tight):
                while position < end and self.tokens[position].isspace():
                    position += 1
            elif token in {r"\left", r"\right"} and self.tokens[position : position + 1] == ["."]:
                position += 1
            if token == r"\right" and out and out[-1].isspace():
                out.pop()
        return "".join(out)

    def _apart(self, before: str, token: str, piece: str) -> str:
        """``n\\log n`` reads "n log n"; nothing is put between letters that only change font."""
        is_function = (symbol(token[1:]) or "").isalpha()
        return f" {piece}" if is_function and before[-1:].isalnum() else piece

    def _atom(self, position: int, end: int, depth: int) -> tuple[str, int]:
        """One piece and the position after it."""
        token = self.tokens[position]
        if token == "{" and self.partner.get(position, end) < end and depth < MAX_DEPTH:
            close = self.partner[position]
            return self._sequence(position + 1, close, depth + 1), close + 1
        if token[0] == "\\" and len(token) > 1:
            return self._command(token[1:].rstrip("*") or "*", position + 1, end, depth)
        if token.isspace() or token in "&~":
            return " ", position + 1
        return {"-": "−", "*": "∗", "'": "′"}.get(token, token), position + 1

    def _command(self, name: str, position: int, end: int, depth: int) -> tuple[str, int]:
        if depth >= MAX_DEPTH:
            return name, position
        if name in TEXT_COMMANDS and (close := self._group_end(position, end)):
            inside = "".join(self.tokens[self._after_blanks(position, end) + 1 : close])
            return self.prose(inside), close + 1
        if name in {"begin", "end"} and (close := self._group_end(position, end)):
            return " ", close + 1
        if name in _FRACTIONS:
            return self._fraction(position, end, depth)
        if name == "sqrt":
            radicand, position = self._argument(position, end, depth)
            return f"√{_bracketed(radicand)}", position
        if name in _ACCENTS:
            base, position = self._argument(position, end, depth)
            barred = (
                f"{base}\u0304" if name in _BARS and base.isdigit() and len(base) == 1 else base
            )
            return accented(_WIDE.get(name, name), base) or barred, position
        known = symbol(name)
        if known is not None:
            return known, position
        if self._group_end(position, end):
            return self._argument(position, end, depth)
        return name, position

    def _fraction(self, position: int, end: int, depth: int) -> tuple[str, int]:
        above, position = self._argument(position, end, depth)
        below, position = self._argument(position, end, depth)
        if not below:
            return above, position
        return f"{_bracketed(above)}/{_bracketed(below)}", position

    def _script(self, mark: str, position: int, end: int, depth: int) -> tuple[str, int]:
        content, after = self._argument(position, end, depth)
        if not content:
            return mark, position
        raised, lowered = _raised_and_lowered()
        table = raised if mark == "^" else lowered
        n_letters = sum(character.isalpha() for character in content)
        if all(character in table for character in content) and n_letters <= 2:
            return "".join(table[character] for character in content), after
        is_plain = content.isalnum()
        return mark + (content if is_plain or len(content) == 1 else f"({content})"), after

    def _argument(self, position: int, end: int, depth: int) -> tuple[str, int]:
        position = self._after_blanks(position, end)
        if position >= end or self.tokens[position] in "^_}":
            return "", position
        text, position = self._atom(position, end, depth + 1)
        return text.strip(), position

    def _after_blanks(self, position: int, end: int) -> int:
        while position < end and self.tokens[position].isspace():
            position += 1
        return position

    def _group_end(self, position: int, end: int) -> int | None:
        """Where the ``{…}`` that comes next closes."""
        start = self._after_blanks(position, end)
        close = self.partner.get(start) if start < end and self.tokens[start] == "{" else None
        return close if close is not None and close < end else None


def _matching_braces(tokens: list[str]) -> dict[int, int]:
    partner: dict[int, int] = {}
    open_at: list[int] = []
    for index, token in enumerate(tokens):
        if token == "{":
            open_at.append(index)
        elif token == "}" and open_at:
            partner[open_at.pop()] = index
    return partner


def _eats_blanks(token: str, piece: str, *, is_tight: bool) -> bool:
    """TeX forgets blanks after a command; around relations they are kept, they help reading."""
    if len(token) < 2 or not token[1].isalpha() or symbol(token[1:]) is None:
        return False
    return not piece or (len(piece) == 1 and (is_tight or piece in "∇∂√∑∏∫" or piece.isalpha()))


def _bracketed(text: str) -> str:
    is_simple = re.fullmatch(r"[−-]?\w*[^\W_]?\S?|\(.*\)", text) and not re.search(
        r"[−+=/ ]", text[1:]
    )
    return text if is_simple else f"({text})"
