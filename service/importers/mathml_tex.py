"""MathML as LaTeX, element by element: as far as the formulas in titles and abstracts go."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

MOST_DEPTH: Final = 40
"""Elements within elements; what lies deeper is read as if it lay there."""

_SPECIAL: Final = re.compile(r"[%#&_${}^]")
_ACCENTS: Final = {
    "¯": "bar",
    "‾": "bar",
    "_": "bar",
    "^": "hat",
    "ˆ": "hat",
    "~": "tilde",
    "˜": "tilde",
    "→": "vec",
    "⃗": "vec",
    "˙": "dot",
    ".": "dot",
    "¨": "ddot",
}
_WITH_LIMITS: Final = frozenset(["∑", "∏", "∫", "⋃", "⋂", r"\mathrm{lim}", r"\mathrm{max}"]) | {
    r"\mathrm{min}",
    r"\mathrm{sup}",
    r"\mathrm{inf}",
    r"\mathrm{argmax}",
    r"\mathrm{argmin}",
}
_DROPPED: Final = frozenset(["annotation", "annotation-xml", "mphantom", "maligngroup"])
_PRESCRIPTS: Final = "\0"
"""Stands for the element that tells the indices before a symbol from those behind it."""


def escaped(text: str) -> str:
    """Text as it stands in a formula."""
    return _SPECIAL.sub(r"\\\g<0>", text.replace("\\", " "))


@dataclass(slots=True)
class _Element:
    name: str
    children: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class MathReader:
    """Takes the tags and texts of one formula in turn; ends without a start are passed over."""

    def __init__(self) -> None:
        self._open = [_Element("math")]
        self._excess = 0

    def start(self, name: str) -> None:
        if len(self._open) > MOST_DEPTH:
            self._excess += 1
        else:
            self._open.append(_Element(name))

    def text(self, text: str) -> None:
        if text.strip():
            self._open[-1].text.append(text.strip())

    def end(self, name: str) -> None:
        if self._excess:
            self._excess -= 1
        elif any(element.name == name for element in self._open[1:]):
            while self._close() != name:
                pass

    def result(self) -> str:
        while len(self._open) > 1:
            self._close()
        return _row(self._open[0])

    def _close(self) -> str:
        element = self._open.pop()
        if element.name not in _DROPPED:
            self._open[-1].children.append(_WRITERS.get(element.name, _row)(element))
        return element.name


def _row(element: _Element) -> str:
    """Those side by side; a blank keeps a command from the letter after it."""
    pieces = [*map(escaped, element.text), *element.children]
    return re.sub(r"(\\[A-Za-z]+) (?![A-Za-z])", r"\1", " ".join(filter(None, pieces))).replace(
        _PRESCRIPTS, ""
    )


def _symbol(element: _Element) -> str:
    text = "".join(element.text)
    is_word = len(text) > 1 and text.isascii() and text.isalpha()
    return rf"\mathrm{{{text}}}" if is_word else escaped(text)


def _words(element: _Element) -> str:
    return rf"\text{{{escaped(' '.join(element.text))}}}" if element.text else ""


def _scripts(*marks: str) -> Callable[[_Element], str]:
    def write(element: _Element) -> str:
        base, *scripts = [*element.children, ""]
        return _based(base) + "".join(
            f"{mark}{{{script}}}" for mark, script in zip(marks, scripts, strict=False) if script
        )

    return write


def _based(base: str) -> str:
    return base if len(base) == 1 or re.fullmatch(r"\\\w+\{\w*\}", base) else f"{{{base}}}"


def _over(element: _Element) -> str:
    base, above = _two(element)
    accent = _ACCENTS.get(above.removeprefix("\\"))
    if accent:
        return rf"\{accent}{{{base}}}"
    return f"{base}^{{{above}}}" if base in _WITH_LIMITS else rf"\overset{{{above}}}{{{base}}}"


def _under(element: _Element) -> str:
    base, below = _two(element)
    return f"{base}_{{{below}}}" if base in _WITH_LIMITS else rf"\underset{{{below}}}{{{base}}}"


def _two(element: _Element) -> tuple[str, str]:
    first, second, *_ = [*element.children, "", ""]
    return first, second


def _fraction(element: _Element) -> str:
    above, below = _two(element)
    return rf"\frac{{{above}}}{{{below}}}"


def _root(element: _Element) -> str:
    base, degree = _two(element)
    return rf"\sqrt[{degree}]{{{base}}}"


def _many_scripts(element: _Element) -> str:
    base, *rest = [*element.children, ""]
    split = rest.index(_PRESCRIPTS) if _PRESCRIPTS in rest else len(rest)
    before = _pairs(rest[split + 1 :])
    return f"{f'{{}}{before}' if before else ''}{_based(base)}{_pairs(rest[:split])}"


def _pairs(scripts: Sequence[str]) -> str:
    marks = (f"{'_^'[n % 2]}{{{script}}}" for n, script in enumerate(scripts) if script)
    return "".join(marks)


_WRITERS: Final[Mapping[str, Callable[[_Element], str]]] = {
    "mi": _symbol,
    "mn": _symbol,
    "mo": lambda element: escaped("".join(element.text)),
    "mtext": _words,
    "ms": _words,
    "msub": _scripts("_"),
    "msup": _scripts("^"),
    "msubsup": _scripts("_", "^"),
    "munderover": _scripts("_", "^"),
    "mmultiscripts": _many_scripts,
    "mprescripts": lambda element: _PRESCRIPTS,
    "none": lambda element: "",
    "mover": _over,
    "munder": _under,
    "mfrac": _fraction,
    "msqrt": lambda element: rf"\sqrt{{{_row(element)}}}",
    "mroot": _root,
    "mfenced": lambda element: f"({', '.join(element.children)})",
    "mtable": lambda element: "; ".join(element.children),
    "mtr": lambda element: ", ".join(element.children),
    "mspace": lambda element: "",
}
