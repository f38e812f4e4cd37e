"""A paper's text as people write it, as plain text and as safe HTML.

Stored are the source and its plain text; HTML is made when a page is shown and never kept.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from html import escape
from typing import Final

from service.catalogue.links import code_link, find_links
from service.catalogue.markup import read_markup
from service.catalogue.markup_nodes import Formula, Link, Node, Styled, Text
from service.catalogue.markup_tokens import clean
from service.catalogue.mathml import to_mathml
from service.catalogue.mathtext import MAX_DEPTH, formula_text

__all__ = ["clean", "code_link", "find_links", "to_html", "to_plain"]

MAX_MATHML: Final = 100
"""Formulas of one text that are set as MathML, about 1 ms each; more of them stay plain text."""

_BLANKS: Final = re.compile(r"\s+")
_TAGS: Final = {"em": "em", "strong": "strong", "code": "code"}
_FORMULA_DEPTH: Final = MAX_DEPTH // 4
"""How much of the depth one formula in the text of a formula costs: four are plenty."""


def to_plain(source: str) -> str:
    """The text without LaTeX and Markdown, for search, cards, mail and exports.

    Nothing that could be text is lost: a mark without a partner stays, an unknown command keeps
    its argument. A blank line stays a blank line, other white space becomes one blank. Text
    that has no markup comes back as it was.
    """
    return _tidy(_plain(read_markup(source), 0))


def to_html(source: str) -> str:
    """The text as a well-formed HTML fragment that is safe whatever the source holds.

    Only ``em``, ``strong``, ``code``, ``br``, ``a`` (http and https, with ``rel="noreferrer"``)
    and MathML presentation elements occur in it.
    """
    n_left = MAX_MATHML

    def formula(node: Formula) -> str:
        nonlocal n_left
        n_left -= 1
        mathml = to_mathml(node.source, is_display=node.is_display) if n_left >= 0 else None
        return mathml or escape(_tidy(_plain((node,), 0)))

    return _html(read_markup(source), formula, in_link=False).strip()


def _plain(nodes: Iterable[Node], depth: int) -> str:
    return "".join(_plain_node(node, depth) for node in nodes)


def _plain_node(node: Node, depth: int) -> str:
    if isinstance(node, Text):
        return node.text
    if isinstance(node, Styled):
        return _plain(node.children, depth)
    if isinstance(node, Link):
        label = _plain(node.children, depth)
        return label if label == node.url else f"{label} ({node.url})"
    return _plain_formula(node.source, depth)


@lru_cache(maxsize=1024)
def _plain_formula(source: str, depth: int) -> str:
    def prose(text: str) -> str:
        deeper = depth + _FORMULA_DEPTH
        return _plain(read_markup(text, depth=deeper), deeper)

    return formula_text(source, prose)


def _tidy(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        return "\n\n" if found[0].count("\n") > 1 else " "

    return unicodedata.normalize("NFC", _BLANKS.sub(blank, text)).strip()


def _break(found: re.Match[str]) -> str:
    return "<br/><br/>" if found[0].count("\n") > 1 else found[0]


def _html(nodes: Iterable[Node], formula: Callable[[Formula], str], *, in_link: bool) -> str:
    return "".join(_html_node(node, formula, in_link=in_link) for node in nodes)


def _html_node(node: Node, formula: Callable[[Formula], str], *, in_link: bool) -> str:
    if isinstance(node, Text):
        text = escape(unicodedata.normalize("NFC", node.text))
        return _BLANKS.sub(_break, text) if "\n" in text else text
    if isinstance(node, Formula):
        return formula(node)
    if isinstance(node, Link):
        label = _html(node.children, formula, in_link=True) or escape(node.url)
        if in_link:
            return label
        return f'<a rel="noreferrer" href="{escape(node.url)}">{label}</a>'
    inside = _html(node.children, formula, in_link=in_link)
    tag = _TAGS.get(node.style)
    return f"<{tag}>{inside}</{tag}>" if tag and inside else inside
