"""A title to show for a paper that came without one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from service.catalogue.links import find_links
from service.catalogue.markup import read_markup
from service.catalogue.markup_nodes import Node, Styled, Text
from service.catalogue.names import MAX_TEXT, CoinedName, find_name, repository_names
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
_OPENING: Final = re.compile(
    r"^(?:[^.]{0,160}?[,:]\s+)?(?:[Ww]e|[Tt]h(?:is|e) (?:paper|work|article|study))\s+"
    r"(?:\w+ly\s+|also\s+|then\s+|further\s+|first\s+|thus\s+|next\s+|here\s+|take a step \w+\s+)*"
)
_VERBS: Final = (
    r"(?P<verb>propos|introduc|present|develop|describ|design|devis|build|formulat|study|studi|"
    r"investigat|explor|examin|analy[sz]|consider|address|tackl|establish|provid|show|prov|"
    r"demonstrat|find|bridg|revisit|characteri[sz]|deriv|giv|offer|argu|reveal|identif|report|"
    r"creat|construct|extend|improv|observ|discuss|focus|aim|seek|us|apply|appli|present|suggest"
    r"|connect|releas|contribut|evaluat|compar|learn|generali[sz]|trace|conduct|survey|review)"
    r"(?:e|es|s|y|ies|ed|d|ing)?\s+"
)
_RANK: Final = {
    "propos": 0, "introduc": 0, "present": 0, "develop": 0, "design": 0, "devis": 0, "describ": 1,
    "study": 1, "studi": 1, "investigat": 1, "explor": 1, "examin": 1, "analy": 1, "consider": 1,
    "bridg": 1, "address": 1, "tackl": 1, "establish": 1, "revisit": 1, "characteri": 1,
    "build": 1, "formulat": 2, "provid": 1, "deriv": 2,
}  # fmt: skip
_GERUNDS: Final = {"bridg": "Bridging", "revisit": "Revisiting", "address": "Addressing",
                   "tackl": "Tackling", "extend": "Extending", "improv": "Improving",
                   "connect": "Connecting", "generali": "Generalizing"}  # fmt: skip
_KIND_BEFORE_NAME: Final = re.compile(
    r"(?:propos|introduc|present|develop|describ|design|devis|releas)\w*\s+"
    r"((?:an?|the|our)\s.{8,90}?)"
    r"(?:,?\s+(?:which we\s+\w+|that we\s+\w+|dubbed|named|called|termed|coined)|,|:|—|–)?"
    r"\s*(?:the\s+)?[“\"‘(]*$"
)
_PRONOUN: Final = re.compile(
    r"(?:it|this|them|these|those|our|both|such|that (?:this"
    r"|these|it|they|our)|how (?:this|these))\b|"
    r"(?:extensive|experiments?|results?|competitive|state-of-the-art)\b",
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:(?:that|on|to|for|upon|in|the (?:problem|task"
    r"|question|use|idea) of|a|an|the|(?:some|several) new|"
    r"new|novel|and|simple|yet|but|effective|first|if"
    r"|systematically|several|various|two|three)\s+|,\s*)+",
    re.IGNORECASE,
)
_STOP: Final = re.compile(
    r"\s*(?:[;:]|\.(?=\s|$)|,\s|\s[—–]\s|—|\s\(|\s(?:that"
    r"|which|where|whose|who|while|because|such that|so that|"
    r"in order to|designed|by (?:\w+ing)|and (?:show|prove"
    r"|characterize|demonstrate|introduce|propose|find|"
    r"derive|provide|develop|analyze|study)|thereby)\b)"
)
_LOOSE_END: Final = re.compile(
    r"(?:\s+(?:a|an|the|of|and|or|to|for|with|in|on|by|via|from|as|at|that|which|is|are|its|their"
    r"|using))+$"
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
        what = _description(coined, sentences)
        colon = "" if what is None or what.startswith(("for ", "to ", "based on ")) else ":"
        described = f"{coined.name}{colon} {what or ''}"
        confidence = round(min(0.95, 0.45 + coined.weight / 12), 2)
        return DerivedTitle(cut(described), coined.name, confidence, "name")
    gist = _gist(sentences)
    repository = next(iter(_spoken_repositories(all_links, text)), None)
    if repository is not None:
        return DerivedTitle(
            cut(f"{repository}: {gist}" if gist else repository), None, 0.5, "repository"
        )
    if gist:
        return DerivedTitle(cut(gist), None, 0.4, "gist")
    return DerivedTitle(cut(_capitalised(sentences[0].rstrip(" ."))), None, 0.2, "first sentence")


def split_sentences(text: str) -> list[str]:
    """The sentences of a plain text, English or Chinese."""
    return [piece for part in _SENTENCE_END.split(text) if part and (piece := part.strip())] or [
        text
    ]


def cut(text: str, limit: int = MAX_TITLE) -> str:
    """The text within the limit, cut at the end of a word and without a loose end."""
    text = " ".join(text.split())
    if len(text) > limit:
        shortened = text[: limit - 1]
        at_blank = shortened.rfind(" ") if text[limit - 1] != " " else len(shortened)
        if at_blank > limit // 3:
            shortened = shortened[:at_blank]
        text = _LOOSE_END.sub("", shortened.rstrip(" ,;:—–-(")).rstrip(" ,;:—–-(") + "…"
    return text


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


def _description(coined: CoinedName, sentences: Sequence[str]) -> str | None:
    """What the name stands for, or what the thing is."""
    if coined.expansion and len(coined.expansion) > 5:
        return _trimmed(coined.expansion, keep_case=True)
    sentence = sentences[coined.sentence]
    after = sentence[coined.end :]
    apposed = re.match(
        r"\s*(?:\([^()]*\))?\s*[”\"’]?\s*(?:[,:]|—|–|-{1,2})?\s*(?=(?:an?|the|one|our|another)\s)",
        after,
    )
    if apposed and (what := _noun_phrase(after[apposed.end() :])):
        return what
    name = re.escape(coined.name)
    for near in sentences[coined.sentence : coined.sentence + 3]:
        said = re.search(rf"(?:{name}|\b[Ii]t) is (?=(?:an?|the|one)\s)", near)
        if said and (what := _noun_phrase(near[said.end() :])):
            return what
    purpose = re.match(r"\s*(?:\([^()]*\))?,?\s*((?:for|to|based on|which|that)\s.*)", after)
    aim = _noun_phrase(purpose[1], strip_lead=False) if purpose else None
    before = _KIND_BEFORE_NAME.search(sentence[: max(coined.end - len(coined.name), 0)])
    if before and (what := _noun_phrase(before[1])):
        return f"{what} {aim}" if aim and len(what.split()) <= 2 else what
    if aim and not aim.startswith(("which", "that")):
        return aim
    others = [other for other in sentences if coined.name not in other]
    return _gist(others, wants_problem=True) or _gist(sentences)


def _noun_phrase(text: str, *, strip_lead: bool = True, enough: int = 25) -> str | None:
    """The object up to the clause that qualifies it.

    A phrase of less than ``enough`` characters takes the clause along, if that is all one sentence.
    """
    text = re.sub(r"\s*\([^()]{1,40}\)", "", text)
    text = _LEAD.sub("", text) if strip_lead else text
    for stop in _STOP.finditer(text):
        phrase = text[: stop.start()].strip()
        is_soft = re.match(r"\s+(?:that|which|designed|by|whose|where)\b", stop[0]) is not None
        if (
            len(phrase) >= enough
            or (not is_soft and len(phrase.split()) >= 2)
            or stop[0][:1] == "."
        ):
            return _trimmed(phrase, keep_case=not strip_lead) or None
    return _trimmed(text, keep_case=not strip_lead) or None


def _trimmed(text: str, *, keep_case: bool = False) -> str:
    text = text.strip(' .,;:—–-“”"')
    return text if keep_case else _LEAD.sub("", text).strip(" .,;:")


def _gist(sentences: Sequence[str], *, wants_problem: bool = False) -> str | None:
    """What was done: the object of the sentence with "we" and a verb.

    What was proposed comes before what was studied, unless the problem is asked for.
    """
    best: tuple[int, int, str] | None = None
    for index, sentence in enumerate(sentences):
        opening = _OPENING.match(sentence)
        verb = re.compile(_VERBS).match(sentence, opening.end()) if opening else None
        if opening is None or verb is None or _PRONOUN.match(sentence, verb.end()):
            continue
        stem = verb["verb"].rstrip("sz")
        gerund = _GERUNDS.get(verb["verb"].rstrip("z"), _GERUNDS.get(stem))
        what = _noun_phrase(sentence[verb.end() :], strip_lead=gerund is None, enough=40)
        if what is None or len(what) < 12:
            continue
        title = f"{gerund} {what}" if gerund else what
        order = _RANK.get(verb["verb"], _RANK.get(stem, 3))
        rank = (order or 2 if wants_problem else order, index)
        if best is None or rank < best[:2]:
            best = (*rank, title)
    return _capitalised(best[2]) if best else None


def _spoken_repositories(links: Sequence[str], text: str) -> Iterable[str]:
    """Repository names made of words the abstract uses, as one would say them."""
    lowered = text.casefold()
    for name in repository_names(links):
        words = re.split(r"[-_ ]+", name)
        if len(words) > 1 and sum(word.casefold() in lowered for word in words) * 2 > len(words):
            yield " ".join(words)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:2].islower() or text[1:2] in {" ", "-"} else text


def _chinese_title(text: str) -> DerivedTitle:
    found = _CJK_NAME.search(text)
    first = split_sentences(text)[0].rstrip("。.！？ ")
    if found and (name := (found["name"] or found["named"]).rstrip("-+")):
        what = (found["what"] or first).strip()
        return DerivedTitle(cut(f"{name}：{what}"), name, 0.7, "name")
    return DerivedTitle(cut(first), None, 0.2, "first sentence")
