"""LaTeX formulas as MathML that can be put into a page.

latex2mathml knows commands that set links, styles and classes, expands macros, and its string
output undoes its own escaping. So its tree is taken instead of its string, and is used only
if every element, attribute and value is one that is listed here.
"""

import html
import re
from functools import lru_cache
from typing import Final
from xml.etree import ElementTree as ET

from latex2mathml.converter import Converter

MAX_SOURCE: Final = 600
"""Characters. Longer "formulas" in an abstract are text that lost a dollar."""

MAX_ELEMENTS: Final = 1000
NAMESPACE: Final = "http://www.w3.org/1998/Math/MathML"

ELEMENTS: Final = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "msub",
        "msup",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mprescripts",
        "mtable",
        "mtr",
        "mtd",
        "mstyle",
        "mpadded",
        "mphantom",
        "menclose",
    ]
)
ATTRIBUTES: Final = frozenset(
    [
        "display",
        "mathvariant",
        "stretchy",
        "fence",
        "form",
        "separator",
        "lspace",
        "rspace",
        "accent",
        "accentunder",
        "movablelimits",
        "displaystyle",
        "scriptlevel",
        "columnalign",
        "columnspacing",
        "columnlines",
        "rowspacing",
        "rowlines",
        "linethickness",
        "minsize",
        "maxsize",
        "width",
        "height",
        "depth",
        "voffset",
        "symmetric",
        "largeop",
        "notation",
    ]
)
_VALUE: Final = re.compile(r"[A-Za-z0-9 .%+-]{0,40}", re.ASCII)

_REFUSED: Final = re.compile(
    r"\\(?:[gex]?def|let|(?:re|provide)?newcommand|newenvironment|DeclareMathOperator|href|url"
    r"|style|class|cssId|htmlClass|htmlStyle|htmlId|htmlData|unicode|char|require|input|include)"
    r"(?![A-Za-z])"
)
"""Macros can grow without bound; the others make links, styles or files of what follows."""


@lru_cache(maxsize=4096)
def to_mathml(source: str, *, is_display: bool = False) -> str | None:
    """The formula as a ``<math>`` element, or None when the plain text must do."""
    if len(source) > MAX_SOURCE or _REFUSED.search(source) or _nesting(source) > 20:
        return None
    try:
        display = "block" if is_display else "inline"
        tree = Converter(display=display).convert_to_element(source.strip())
    except Exception:  # the converter meets bad input with whatever breaks first
        return None
    if not _is_allowed(tree):
        return None
    tree.set("xmlns", NAMESPACE)
    return ET.tostring(tree, encoding="unicode")


def _is_allowed(tree: ET.Element) -> bool:
    """Check the tree against the lists, and decode the entities the converter leaves in texts."""
    tree.attrib.pop("xmlns", None)
    if not "".join(tree.itertext()).strip():
        return False
    for index, element in enumerate(tree.iter()):
        if index >= MAX_ELEMENTS or element.tag not in ELEMENTS:
            return False
        for name, value in element.attrib.items():
            if name not in ATTRIBUTES or not _VALUE.fullmatch(value):
                return False
        for text in (element.text, element.tail):
            if text and ("\\" in text or re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text)):
                return False
        element.text = _decoded(element.text)
        element.tail = _decoded(element.tail)
    return True


def _decoded(text: str | None) -> str | None:
    """``&#x02209;`` as the character; only numeric references, which the converter writes."""
    if text is None or "&#" not in text:
        return text
    return re.sub(r"&#x?[0-9A-Fa-f]{1,6};", _character, text)


def _character(found: re.Match[str]) -> str:
    character = html.unescape(found[0])
    is_text = len(character) == 1 and (character.isprintable() or character.isspace())
    return character if is_text else "\ufffd"


def _nesting(source: str) -> int:
    depth = deepest = 0
    for character in source:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest
