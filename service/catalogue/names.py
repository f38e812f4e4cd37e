"""The name the authors coined for what they propose, found in the abstract.

A name is looked for where authors introduce one ("we propose NAME, a …", "EXPANSION (NAME)",
"dubbed NAME"), then each find is weighed: it should come back later in the text, should not have
been spoken of before, and a repository of that name settles it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from service.catalogue.coined_words import KNOWN, expansion_of, is_coined
from service.catalogue.phrasing import (
    AFTER_NAME,
    AFTER_TYPE,
    APPOSED,
    CLAUSE_END,
    COINED_WORD,
    DETERMINERS,
    MODIFIES,
    NAME_PHRASE,
    NAMING,
    OUR_THING,
    OUTCOME,
    PASSIVE,
    PREPOSITION,
    PROPOSAL,
    RESULT,
    SECONDARY,
    SEVERAL,
    SHORT_FORM,
    SUBJECT,
    TYPE_NOUN,
    WORD,
)

MAX_TEXT: Final = 6000
"""Characters that are read; abstracts are far shorter."""

ENOUGH: Final = 3.0
"""Weight from which a find counts as the paper's name; measured on ten thousand real titles."""


@dataclass(frozen=True, slots=True)
class CoinedName:
    name: str
    expansion: str | None
    sentence: int
    end: int
    weight: float
    method: str


_EMPTY_NAMES = """
code codes paper papers supplementary submission project demo official data dataset datasets models
spaces repo repository implementation experiments
"""
_EMPTY: Final = frozenset(_EMPTY_NAMES.split())
"""Repositories that are called what they are."""


def find_name(
    text: str, sentences: Sequence[str], marked: Sequence[str], links: Sequence[str]
) -> CoinedName | None:
    """The coined name in the plain text, or None.

    ``sentences`` are the text cut in pieces; ``marked`` is what the authors set in bold or
    small capitals.
    """
    repositories = list(repository_names(links))
    pages = [(urlsplit(link).hostname or "") for link in links]
    finds = [
        replace(find, weight=find.weight + weight)
        for find in _finds(sentences, frozenset(marked))
        if (weight := _support(find, text, sentences, repositories, pages)) is not None
    ]
    best = max(finds, key=lambda find: (find.weight, -find.sentence, len(find.name)), default=None)
    if best is None or best.weight < ENOUGH:
        return None
    if best.expansion is None:
        expanded = [f.expansion for f in finds if f.name == best.name and f.expansion]
        best = replace(best, expansion=expanded[0] if expanded else None)
    return best


def repository_names(links: Sequence[str]) -> Iterator[str]:
    """NAME of each ``host/owner/NAME`` that was named by its authors, not by an anonymiser."""
    for link in links:
        parts = urlsplit(link)
        host = parts.hostname or ""
        if not re.search(r"(?:^|\.)(?:github|gitlab|bitbucket|codeberg|huggingface)\.", host):
            continue
        segments = [s for s in parts.path.split("/") if s and s not in {"datasets", "spaces"}]
        name = segments[1].removesuffix(".git") if len(segments) > 1 else ""
        is_venue = re.fullmatch(
            r"(?:icml|iclr|neurips|nips|acl|cvpr|aistats)[-_]?\d{2,4}.*", name, re.I
        )
        if name and name.lower() not in _EMPTY and not is_venue:
            yield name


def _finds(sentences: Sequence[str], marked: frozenset[str]) -> Iterator[CoinedName]:
    for index, sentence in enumerate(sentences):
        penalty = 0.8 if SECONDARY.search(sentence) else 0.0
        for found in PROPOSAL.finditer(sentence):
            weight = (0.0 if found["strong"] else -1.6) - penalty
            rest = DETERMINERS.match(sentence, found.end())
            start = rest.end() if rest else found.end()
            if SEVERAL.match(sentence, found.end()):
                weight -= 3.0
            yield from _after_verb(sentence, index, start, weight, marked)
        for found in OUTCOME.finditer(sentence):
            start = _after_determiner(sentence, found.end())
            base = 1.2 if found["means"] else 1.6
            yield from _direct(sentence, index, start, base, marked)
        for found in OUR_THING.finditer(sentence):
            name = COINED_WORD.match(sentence, found.end())
            if (
                name
                and is_coined(name[0])
                and re.match(RESULT + r"|\s*[,()]|\s+to\b", sentence[name.end() :])
            ):
                yield CoinedName(name[0], None, index, name.end(), 2.6, "ours")
        proposal = PROPOSAL.search(sentence)
        for found in NAMING.finditer(sentence):
            is_ours = proposal is not None and proposal.start() <= found.start()
            has_we = re.search(SUBJECT, sentence[: found.end()]) is not None
            weight = (3.7 if is_ours else 3.0 if has_we else 2.0) - penalty
            yield from _named(sentence, index, found.end(), weight, marked)
        for found in SHORT_FORM.finditer(sentence):
            if expansion := expansion_of(found[1], sentence[: found.start()]):
                is_ours = re.search(SUBJECT, sentence[: found.start()]) is not None
                weight = (1.2 if is_ours else 0.2) - penalty
                weight -= _looks_generic(sentence, found.end(), expansion)
                lead = sentence[: found.start()].rstrip(' “"‘').removesuffix(expansion)
                weight += (
                    0.6 if re.search(rf"(?:{OUTCOME.pattern})(?:an?\s+|the\s+)?$", lead) else 0.0
                )
                weight += 2.6 if PASSIVE.match(sentence, found.end()) else 0.0
                yield CoinedName(found[1], expansion, index, found.end(), weight, "expansion")
        yield from _subjects(sentence, index)


def _looks_generic(sentence: str, end: int, expansion: str) -> float:
    """What speaks against "expansion (SHORT)" being a coined name."""
    weight = 1.2 if MODIFIES.match(sentence, end) else 0.0
    return weight + (0.5 if expansion == expansion.lower() else 0.0)


def _after_determiner(sentence: str, start: int) -> int:
    found = DETERMINERS.match(sentence, start)
    return found.end() if found else start


def _after_verb(
    sentence: str, index: int, start: int, weight: float, marked: frozenset[str]
) -> Iterator[CoinedName]:
    yield from _direct(sentence, index, start, 3.0 + weight, marked)
    clause_end = CLAUSE_END.search(sentence, start)
    end = min(clause_end.start() if clause_end else len(sentence), start + 260)
    short = SHORT_FORM.search(sentence, start, min(len(sentence), end + 1))
    if (
        short
        and is_name(short[1], marked)
        and (expansion := expansion_of(short[1], sentence[start : short.start()]))
    ):
        gap = sentence[start : short.start()].rstrip(' “"‘').removesuffix(expansion)
        weight_here = 3.6 + weight - _looks_generic(sentence, short.end(), expansion)
        weight_here -= 1.6 if PREPOSITION.search(gap) else 0.0
        yield CoinedName(short[1], expansion, index, short.end(), weight_here, "expansion")
    elif short and is_coined(short[1]) and short.start() - start < 120:
        yield CoinedName(short[1], None, index, short.end(), 2.5 + weight, "parenthesis")
    for found in re.finditer(
        r"(?:,|—|–|:|-{1,2}\s)\s*(?:namely\s+|i\.e\.,\s*|or\s+)?[“\"‘]?", sentence[start:end]
    ):
        position = start + found.end()
        name = COINED_WORD.match(sentence, position)
        if (
            name
            and is_name(name[0], marked)
            and re.match(
                r"\s*(?:[,.;:—–(”\"’]|$|\s(?:that|which|to|for|a|an|based)\b)",
                sentence[name.end() :],
            )
        ):
            yield CoinedName(
                name[0],
                sentence[start : start + found.start()],
                index,
                name.end(),
                3.1 + weight,
                "apposition",
            )
            break
    for found in AFTER_TYPE.finditer(sentence, start, end):
        name = COINED_WORD.match(sentence, found.end())
        if name and is_name(name[0], marked) and AFTER_NAME.match(sentence, name.end()):
            yield CoinedName(name[0], None, index, name.end(), 3.1 + weight, "type")
            break


def _direct(
    sentence: str, index: int, start: int, weight: float, marked: frozenset[str]
) -> Iterator[CoinedName]:
    quote = re.match(r"[“\"‘']", sentence[start:])
    start += quote.end() if quote else 0
    word = COINED_WORD.match(sentence, start)
    if word and is_name(word[0], marked) and AFTER_NAME.match(sentence, word.end()):
        expansion = None
        inside = re.match(r"\s*\(([^()]{8,120})\)", sentence[word.end() :])
        if inside and expansion_of(word[0], inside[1]):
            expansion = inside[1]
        weight += 0.9 if APPOSED.match(sentence, word.end()) else 0.0
        weight += 0.6 if word[0] in marked else 0.0
        yield CoinedName(word[0], expansion, index, word.end(), weight, "proposal")
        return
    if word and is_coined(word[0]) and re.match(rf"\s{TYPE_NOUN}\b", sentence[word.end() :]):
        if sentence[:start].endswith("the "):
            yield CoinedName(word[0], None, index, word.end(), weight - 0.3, "proposal")
        return
    phrase = NAME_PHRASE.match(sentence, start)
    if phrase is None or not (phrase[0][:1].isupper() or phrase[0] in marked):
        return
    name = phrase[0]
    n_words = len(name.split())
    is_marked = name in marked
    if not re.match(r"\s*(?:[,(:—–;.”\"’]|$|\s(?:a|an|that|which)\b)", sentence[phrase.end() :]):
        return
    if re.match(r"\s*\(\s*[\w-]+\s*\)", sentence[phrase.end() :]) and n_words > 1:
        return
    is_set_apart = is_marked or quote is not None
    bonus = 0.9 if is_set_apart else 0.2 if n_words > 1 else -0.2
    if not all(part.lower() in KNOWN for part in name.split()):
        yield CoinedName(name, None, index, phrase.end(), weight + bonus, "capitals")


def _named(
    sentence: str, index: int, start: int, weight: float, marked: frozenset[str]
) -> Iterator[CoinedName]:
    phrase = NAME_PHRASE.match(sentence, start)
    if phrase is None:
        return
    name = phrase[0]
    short = SHORT_FORM.match(sentence, phrase.end() + 1)
    if short and (expansion := expansion_of(short[1], name)):
        yield CoinedName(short[1], expansion, index, short.end(), weight, "naming")
        return
    word = COINED_WORD.match(sentence, start)
    if word and is_coined(word[0]):
        name, end = word[0], word.end()
    else:
        end = phrase.end()
    if name[:1].isupper() or is_name(name, marked):
        weight -= 0.0 if AFTER_NAME.match(sentence, end) else 1.2
        weight -= 0.0 if is_name(name, marked) else 0.4
        yield CoinedName(name, None, index, end, weight, "naming")


def _subjects(sentence: str, index: int) -> Iterator[CoinedName]:
    """ "NAME is …", "NAME achieves …": weak alone, but names come back as subjects."""
    found = re.match(rf"(?:\w+ ?\w*, )?(?:that )?(?:[Oo]ur\s+)?({WORD})(?={RESULT})", sentence)
    if found and is_coined(found[1]):
        yield CoinedName(found[1], None, index, found.end(1), 0.8, "subject")


def is_name(word: str, marked: frozenset[str]) -> bool:
    """Whether the word can be a name where one is expected."""
    return is_coined(word) or (word in marked and word[:1].isupper() and word.lower() not in KNOWN)


def _support(
    find: CoinedName,
    text: str,
    sentences: Sequence[str],
    repositories: Sequence[str],
    pages: Sequence[str],
) -> float | None:
    """What the rest of the text says for or against the find; None rules it out."""
    name = find.name
    if name.lower() in KNOWN or (" " not in name and len(name) < 2):
        return None
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?:['’]s|s)?(?![\w])")
    before = sum(1 for sentence in sentences[: find.sentence] if pattern.search(sentence))
    n_times = len(pattern.findall(text))
    weight = min(n_times - 1, 4) * 0.4 - (0.4 if n_times < 2 else 0.0)
    if re.search(rf"(?<![\w-]){re.escape(name)}{RESULT}", text):
        weight += 0.6
    first = next((i for i, s in enumerate(sentences) if pattern.search(s)), find.sentence)
    if before and not re.search(SUBJECT, sentences[first]):
        weight -= 2.0
    key = _key(name)
    if any(_key(repository) == key for repository in repositories):
        weight += 2.5
    elif any(len(_key(r)) > 3 and key.startswith(_key(r)) for r in repositories):
        weight += 1.0
    elif len(key) > 3 and any(key in _key(repository) for repository in (*repositories, *pages)):
        weight += 1.5
    weight += 0.4 if re.search(r"[a-z]\w*[A-Z]", name) else 0.0
    weight -= 2.0 if re.search(r"[A-Z]s$", name) else 0.5 if len(name) < 3 else 0.0
    return weight - 0.03 * find.sentence


def _key(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
