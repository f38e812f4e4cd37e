"""Text with HTML, JATS or MathML in it, as plain text with LaTeX for what only LaTeX can say.

Only elements that are known become something else: "<0.5 mm" and "the token <s>" are text.
"""

import re
from html import unescape
from typing import Any, Final

from service.catalogue.markup import read_markup
from service.catalogue.markup_nodes import Formula
from service.importers.mathml_tex import MathReader, escaped
from service.importers.values import block_of, line_of

_ATTRIBUTE: Final = r"\s+[\w:.-]{1,60}\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+)"
_TAG: Final = re.compile(
    rf"<(/?)(?:[A-Za-z]{{1,12}}:)?([A-Za-z][A-Za-z0-9-]{{0,30}})((?:{_ATTRIBUTE})*)\s*(/?)>"
)
_CLOSING: Final = re.compile(r"</(?:[A-Za-z]{1,12}:)?([A-Za-z][A-Za-z0-9-]{0,30})\s*>")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ADDRESS: Final = re.compile(r"\bhref\s*=\s*[\"']?(https?://[^\s\"'<>]+)", re.IGNORECASE)

_PARAGRAPHS: Final = frozenset(
    [
        "p",
        "div",
        "br",
        "break",
        "hr",
        "li",
        "list-item",
        "ul",
        "ol",
        "dl",
        "dt",
        "dd",
        "list",
        "tr",
        "table",
        "tbody",
        "thead",
        "pre",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "sec",
        "section",
        "title",
        "disp-quote",
        "disp-formula",
        "abstract",
        "trans-abstract",
    ]
)
_INLINE: Final = frozenset(
    [
        "a",
        "b",
        "i",
        "u",
        "s",
        "q",
        "em",
        "strong",
        "span",
        "small",
        "big",
        "font",
        "mark",
        "cite",
        "code",
        "tt",
        "abbr",
        "td",
        "th",
        "del",
        "ins",
        "img",
        "label",
        "italic",
        "bold",
        "underline",
        "strike",
        "overline",
        "monospace",
        "roman",
        "sc",
        "scp",
        "sans-serif",
        "named-content",
        "styled-content",
        "ext-link",
        "xref",
        "uri",
        "email",
        "inline-formula",
        "alternatives",
        "inline-graphic",
        "graphic",
        "html",
        "body",
    ]
)
_LOWERED: Final = frozenset(["sub", "inf"])
_RAISED: Final = frozenset(["sup"])
_DROPPED: Final = frozenset(["script", "style", "head", "template"])
_MATHS: Final = frozenset(["math", "tex-math"])
_KNOWN: Final = _PARAGRAPHS | _INLINE | _LOWERED | _RAISED | _DROPPED | _MATHS
_WITHOUT_END: Final = frozenset(
    [
        "br",
        "break",
        "hr",
        "img",
        "p",
        "li",
        "dt",
        "dd",
        "td",
        "th",
        "tr",
        "inline-graphic",
        "graphic",
    ]
)
"""What is an element even where no end tag follows."""
_FORMULA_MAKING: Final = re.compile(
    r"<(?:\w{1,12}:)?(?:sub|sup|inf|math|tex-math)\b", re.IGNORECASE
)

_ABSTRACT_HEADINGS: Final = frozenset(
    ["abstract", "summary", "resumen", "résumé", "zusammenfassung", "resumo", "摘要"]
)
_OWN_MACROS: Final = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_FENCES: Final = re.compile(r"^(?:\$\$?|\\\(|\\\[)|(?:\$\$?|\\\)|\\\])$")
_LABEL: Final = re.compile(r"\s*abstract\s*(?:[:.\N{EM DASH}\N{EN DASH}-]\s*|\s+(?=[A-Z]))", re.I)


def inline_text(value: Any) -> str:
    """One line, for a title or a name."""
    return line_of(_read(value, with_links=False))


def block_text(value: Any) -> str:
    """Paragraphs, for an abstract; the word "Abstract" before it is left out."""
    text = block_of(_read(value, with_links=False))
    return text[found.end() :] if (found := _LABEL.match(text)) else text


def note_text(value: Any) -> str:
    """Paragraphs, for a note that somebody wrote: links keep their addresses."""
    return block_of(_read(value, with_links=True))


def _read(value: Any, *, with_links: bool) -> str:
    text = "" if value is None else str(value)
    if "<" not in text:
        return _decoded(text)
    text = _without_comments(text.replace("<![CDATA[", "").replace("]]>", ""))
    writer = _Writer(with_links=with_links, keeps_dollars=_keeps_dollars(text))
    closed = {name.lower() for name in _CLOSING.findall(text)}
    at = 0
    for found in _TAG.finditer(text):
        name = found[2].lower()
        is_element = (
            name in closed
            or name in _WITHOUT_END
            or bool(found[3] or found[4])
            or writer.is_in_formula
        )
        if not (is_element and (name in _KNOWN or writer.is_in_formula)):
            continue
        writer.text(text[at : found.start()])
        at = found.end()
        if found[1]:
            writer.end(name)
        else:
            writer.start(name, found[3])
            if found[4]:
                writer.end(name)
    writer.text(text[at:])
    return writer.result()


def _decoded(text: str) -> str:
    """Entities once: what was written ``&amp;lt;`` is ``&lt;``."""
    return _ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text


def _without_comments(text: str) -> str:
    first, *rest = text.split("<!--")
    kept = [first]
    for piece in rest:
        _, end, after = piece.partition("-->")
        kept.append(after if end else f"<!--{piece}")
    return "".join(kept)


def _keeps_dollars(text: str) -> bool:
    """Whether a dollar sign is as it should be: none of our formulas can begin or end at it."""
    if "$" not in text or not _FORMULA_MAKING.search(text):
        return True
    return any(isinstance(node, Formula) for node in read_markup(text))


class _Writer:
    """The text so far, and the elements that are open."""

    def __init__(self, *, with_links: bool, keeps_dollars: bool) -> None:
        self._parts: list[str] = []
        self._with_links = with_links
        self._keeps_dollars = keeps_dollars
        self._scripts: list[tuple[str, int]] = []
        self._links: list[tuple[str, int]] = []
        self._choices: list[tuple[int, list[str]]] = []
        self._heading: int | None = None
        self._is_after_heading = False
        self._dropped: str | None = None
        self._maths: MathReader | None = None
        self._tex: list[str] | None = None

    @property
    def is_in_formula(self) -> bool:
        return self._maths is not None

    def text(self, text: str) -> None:
        if not text or self._dropped:
            return
        text = _decoded(text)
        if self._tex is not None:
            self._tex.append(text)
        elif self._maths is not None:
            self._maths.text(text)
        else:
            if self._scripts:
                text = escaped(text)
            elif not self._keeps_dollars:
                text = text.replace("$", "\\$")
            self._parts.append(text)

    def start(self, name: str, attributes: str) -> None:
        if self._dropped:
            return
        if self._maths is not None:
            self._maths.start(name)
        elif name in _DROPPED:
            self._dropped = name
        elif name == "math":
            self._maths = MathReader()
        elif name == "tex-math":
            self._tex = []
        elif name in _LOWERED | _RAISED:
            self._scripts.append((name, len(self._parts)))
        elif name in _PARAGRAPHS:
            self._break()
            if name == "title":
                self._heading = len(self._parts)
            elif name in {"li", "list-item"}:
                self._parts.append("- ")
        elif name == "alternatives":
            self._choices.append((len(self._parts), []))
        elif name == "a" and (found := _ADDRESS.search(attributes)):
            self._links.append((_decoded(found[1]), len(self._parts)))
        elif name in {"td", "th"}:
            self._parts.append(" ")

    def end(self, name: str) -> None:
        if self._dropped:
            self._dropped = None if name == self._dropped else self._dropped
        elif self._tex is not None:
            if name == "tex-math":
                self._end_tex(_tex(self._tex))
        elif self._maths is not None:
            if name == "math":
                tex, self._maths = self._maths.result(), None
                self._formula(tex)
            else:
                self._maths.end(name)
        elif name in _LOWERED | _RAISED:
            self._end_script(name)
        elif name == "title" and self._heading is not None:
            self._end_heading(self._heading)
        elif name in _PARAGRAPHS:
            self._break()
        elif name == "alternatives" and self._choices:
            self._end_choice(*self._choices.pop())
        elif name == "a" and self._links:
            self._end_link(*self._links.pop())

    def result(self) -> str:
        for name, _ in reversed(self._scripts[:]):
            self._end_script(name)
        if self._maths is not None:
            self._formula(self._maths.result())
        # What is set above what is set below, and no formula on a line of its own.
        return "".join(self._parts).replace("}$$^{", "}^{").replace("}$$_{", "}_{")

    def _break(self) -> None:
        if self._is_after_heading:
            self._is_after_heading = False
        elif self._scripts:
            self._parts.append(" ")
        else:
            self._parts.append("\n\n")

    def _formula(self, tex: str) -> None:
        tex = tex.strip()
        if tex:
            self._parts.append(f"{{{tex}}}" if self._scripts else f"${tex}$")

    def _end_script(self, name: str) -> None:
        names = [open_name for open_name, _ in self._scripts]
        if name not in names:
            return
        inner = ""
        while self._scripts:
            opened, start = self._scripts.pop()
            inner = line_of("".join(self._parts[start:]))
            del self._parts[start:]
            if inner:
                script = f"{'_' if opened in _LOWERED else '^'}{{{inner}}}"
                self._parts.append(script if self._scripts else f"${script}$")
            if opened == name:
                return

    def _end_tex(self, tex: str) -> None:
        self._tex = None
        if self._choices:
            self._choices[-1][1].append(tex)
        else:
            self._formula(tex)

    def _end_choice(self, start: int, texts: list[str]) -> None:
        """A formula that is given in TeX and otherwise, too, is taken once."""
        if texts:
            del self._parts[start:]
            self._formula(texts[0])

    def _end_heading(self, start: int) -> None:
        heading = line_of("".join(self._parts[start:]))
        del self._parts[start:]
        self._heading = None
        if heading and heading.rstrip(":.").lower() not in _ABSTRACT_HEADINGS:
            mark = "" if heading[-1] in ":.?!" else ":"
            self._parts.append(f"{heading}{mark} ")
            self._is_after_heading = True

    def _end_link(self, address: str, start: int) -> None:
        label = line_of("".join(self._parts[start:]))
        if self._with_links and address.rstrip("/") != label.rstrip("/"):
            self._parts.append(f" ({address})" if label else address)


def _tex(parts: list[str]) -> str:
    """The formula itself, without the document that some publishers put around it."""
    text = "".join(parts).strip()
    if found := _OWN_MACROS.search(text):
        text = found[1].strip()
    return _FENCES.sub("", text).strip()
