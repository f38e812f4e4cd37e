"""A title to show for a paper that came without one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from service.catalogue.descriptions import (
    LOOSE_END,
    capitalised,
    content_words,
    describe,
    gist,
    is_loose,
)
from service.catalogue.links import find_links
from service.catalogue.markup import read_markup
from service.catalogue.markup_nodes import Node, Styled, Text
from service.catalogue.names import MAX_TEXT, CoinedName, find_name, repository_names
from service.catalogue.phrasing import (
    HYPHENED,
)
from service.catalogue.text import to_plain

MAX_TITLE: Final = 90
"""Characters of a display title: two lines on a card, one in a mail's subject list."""


@dataclass(frozen=True, slots=True)
class DerivedTitle:
    """What to show, never to be stored as the paper's own title.

    ``name`` is the coined name, if there is one; ``confidence`` (0 to 1) is shown to people, and
    ``method`` says where the text comes from: name, repository, gist, first sentence or nothing.
    """

    text: str
    name: str | None
    confidence: float
    method: str


_SENTENCE_END: Final = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bal\.)"
    r"(?<!\bcf\.)(?<!\bvs\.)(?<!\bresp\.)(?<!\bFig\.)"
    r"[”\"’)]?\s+(?=[A-Z0-9“\"‘(\u0370-\u03ff\u3400-\u9fff]|i[A-Z]|[a-z]+[A-Z0-9])|(?<=[。！？])|\n\n"
)
_CJK: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]")
_CJK_NAME: Final = re.compile(
    r"(?:提出|介绍|设计|构建|开发|发布|引入|推出)(?:了|出)?(?:[^。，,；]{0,40}?(?:名为|称为|称之为|命名为|叫做|叫作))?"
    r"\s*[“「《]?(?P<name>[A-Za-z][A-Za-z0-9²³+-]{1,30})[”」》]?\s*(?:[（(][^（）()]{0,80}[）)])?\s*"
    r"(?:[，,、：:]\s*(?:它?是)?(?:一[种个类套])?(?P<what>[^。，,；]{2,60}))?"
    r"|(?:名为|称为|称之为|命名为|叫做)\s*[“「《]?(?P<named>[A-Za-z][A-Za-z0-9²³+-]{1,30})"
)


def derive_title(source: str, links: Sequence[str] = ()) -> DerivedTitle:
    """A short display title for an abstract; ``links`` are addresses known beside its own.

    In this order: the name the authors coined with what it stands for, the repository's name, the
    sentence that says what was done, the first sentence.
    """
    excerpt = source[:MAX_TEXT]
    nodes = read_markup(excerpt)
    all_links = list(dict.fromkeys([*links, *find_links(excerpt)]))
    text = _without_links(to_plain(excerpt))
    if not text:
        return DerivedTitle("", None, 0.0, "nothing")
    if len(_CJK.findall(text)) * 3 > len(text):
        return _chinese_title(text)
    sentences = split_sentences(text)
    coined = find_name(text, sentences, list(_marked(nodes)), all_links)
    if coined is not None:
        # A clause like "in which ..." is cut before its pronoun and leaves the preposition behind.
        what = LOOSE_END.sub("", describe(coined, sentences) or "") or None
        colon = "" if what is None or what.startswith(("for ", "to ", "based on ")) else ":"
        described = f"{coined.name}{colon} {capitalised(what or '') if colon else what or ''}"
        return DerivedTitle(cut(described), coined.name, _confidence(coined, what, text), "name")
    about = gist(sentences)
    repository = next(iter(_spoken_repositories(all_links, text)), None)
    if repository is not None:
        return DerivedTitle(
            cut(f"{repository}: {about}" if about else repository), None, 0.5, "repository"
        )
    if about:
        return DerivedTitle(cut(about), None, 0.4, "gist")
    return DerivedTitle(cut(capitalised(sentences[0].rstrip(" ."))), None, 0.2, "first sentence")


def split_sentences(text: str) -> list[str]:
    """The sentences of a plain text, English or Chinese."""
    return [piece for part in _SENTENCE_END.split(text) if part and (piece := part.strip())] or [
        text
    ]


def cut(text: str, limit: int = MAX_TITLE) -> str:
    """The text within the limit, cut after a noun, with "…" for what is left out."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    shortened = text[: limit - 1]
    at_blank = shortened.rfind(" ") if text[limit - 1] != " " else len(shortened)
    if at_blank > limit // 3:
        shortened = shortened[:at_blank]
    shortened = shortened.rstrip(" ,;:—–-(")
    words = shortened.split(" ")
    while len(words) > 1 and (
        is_loose(words[-1]) or HYPHENED.match(words[-1].rstrip(" ,;:")) or words[-1].endswith("ly")
    ):
        words.pop()
    complete = " ".join(words).rstrip(" ,;—–-(")
    if len(complete) <= limit // 3 or complete.endswith(":"):
        complete = LOOSE_END.sub("", shortened)
    return complete.rstrip(" ,;:—–-(") + "…"


def _marked(nodes: Iterable[Node]) -> Iterable[str]:
    """What stands in bold, small or typewriter capitals."""
    for node in nodes:
        if isinstance(node, Styled):
            if node.style != "em":
                yield "".join(_leaves(node.children)).strip()
            yield from _marked(node.children)


def _leaves(nodes: Iterable[Node]) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, Text):
            yield node.text
        elif isinstance(node, Styled):
            yield from _leaves(node.children)


def _without_links(text: str) -> str:
    for link in find_links(text):
        text = text.replace(link, "")
    return " ".join(text.split())


def _confidence(coined: CoinedName, what: str | None, text: str) -> float:
    if what is None or len(content_words(what)) < 2:
        limit = 0.6
    else:
        limit = 0.95 if text.count(coined.name) > 1 else 0.85
    return round(min(limit, 0.45 + coined.weight / 12), 2)


def _spoken_repositories(links: Sequence[str], text: str) -> Iterable[str]:
    """Repository names made of words the abstract uses, as one would say them."""
    lowered = text.casefold()
    for name in repository_names(links):
        words = re.split(r"[-_ ]+", name)
        if len(words) > 1 and sum(word.casefold() in lowered for word in words) * 2 > len(words):
            yield " ".join(words)


def _chinese_title(text: str) -> DerivedTitle:
    found = _CJK_NAME.search(text)
    first = split_sentences(text)[0].rstrip("。.！？ ")
    if found and (name := (found["name"] or found["named"]).rstrip("-+")):
        what = (found["what"] or first).strip()
        return DerivedTitle(cut(f"{name}：{what}"), name, 0.7, "name")
    return DerivedTitle(cut(first), None, 0.2, "first sentence")
