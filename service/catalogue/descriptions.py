"""What a paper is about, in a phrase taken from its own sentences.

Of the thing that the paper coins a name for, or of the paper itself: never invented, and never the
empty shell of a sentence ("a framework that ...").
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from service.catalogue.names import CoinedName
from service.catalogue.phrasing import (
    ADJECTIVE,
    CLAUSE,
    EMPTY_ADJECTIVES,
    FUNCTION_WORDS,
    GENERIC,
    HYPHENED,
    JUDGES,
    NEUTRAL_GERUND,
    REFERS_BACK,
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
    r"new|novel|and|simple|yet|but|effective|first|if|general|generic|powerful|innovative"
    r"|systematically|several|various|two|three),?\s+|,\s*)+",
    re.IGNORECASE,
)
_STOP: Final = re.compile(
    r"\s*(?:[;:]|\.(?=\s|$)|,\s|\s[—–]\s|—|\s\(|\s(?:that"
    r"|which|where|whose|who|while|because|such that|so that|"
    r"in order to|designed|by (?:\w+ing)|and (?:show|prove"
    r"|characterize|demonstrate|introduce|propose|find|"
    r"derive|provide|develop|analyze|study)|thereby)\b)"
)
LOOSE_END: Final = re.compile(
    r"(?:\s+(?:a|an|the|of|and|or|to|for|with|in|on|by|via|from|as|at|that|which|is|are|its|their"
    r"|using))+$"
)
_NO_TOPIC: Final = re.compile(
    r"\b(?:experiments?|evaluations?|results?|analys[ei]s|proofs?|effectiveness|can|be|is|are|was|"
    r"were|has|have)\b",
    re.IGNORECASE,
)


def describe(coined: CoinedName, sentences: Sequence[str]) -> str | None:
    """What the name stands for, or what the thing is."""
    expansion = re.sub(rf"^{re.escape(coined.name)}\b[,:]?\s*", "", coined.expansion or "")
    if len(expansion) > 5:
        stated = _trimmed(expansion, keep_case=True)
        if not stated[:1].islower():
            return stated
        if what := _telling(f"{_adjectives_before(stated, sentences)}{stated}"):
            return what
    sentence = sentences[coined.sentence]
    after = sentence[coined.end :]
    vague: list[str] = []
    for said in _sayings(coined, sentences):
        if what := _telling(said):
            return what
        vague.append(said)
    purpose = re.match(r"\s*(?:\([^()]*\))?,?\s*((?:for|to|based on)\s.*)", after)
    aim = _noun_phrase(purpose[1], strip_lead=False) if purpose else None
    if aim and not REFERS_BACK.search(aim) and len(content_words(aim)) > 1:
        head = _head(vague[-1]) if vague else ""
        return f"{head} {aim}" if head and not aim.startswith("based") else aim
    return (
        _deed(coined, sentences)
        or _topic([other for other in sentences if coined.name not in other], wants_problem=True)
        or _topic(sentences)
        or next((head for said in vague if content_words(head := _head(said))), None)
    )


def _sayings(coined: CoinedName, sentences: Sequence[str]) -> Iterable[str]:
    """What is said to be the thing: behind the name, with "is", or before it."""
    sentence = sentences[coined.sentence]
    after = sentence[coined.end :]
    apposed = re.match(
        r"\s*(?:\([^()]*\))?\s*[”\"’]?\s*(?:[,:]|—|–|-{1,2})?\s*(?=(?:an?|the|one|our|another)\s)",
        after,
    )
    if apposed:
        yield after[apposed.end() :]
    name = re.escape(coined.name)
    for near in sentences[coined.sentence : coined.sentence + 3]:
        said = re.search(rf"(?:{name}|\b[Ii]t) is (?=(?:an?|the|one)\s)", near)
        if said:
            yield near[said.end() :]
    before = _KIND_BEFORE_NAME.search(sentence[: max(coined.end - len(coined.name), 0)])
    if before:
        yield before[1]
    clause = re.match(r"\s*(?:\([^()]*\))?,?(?=\s*(?:which|that)\s)", after)
    if clause:
        yield f"method {after[clause.end() :].strip()}"


def _adjectives_before(stated: str, sentences: Sequence[str]) -> str:
    """What the article and the stated noun have between them, without the empty words."""
    for sentence in sentences:
        place = sentence.find(stated)
        if place > 0:
            found = re.search(
                r"\b(?:an?|the|our)\s+((?:[\w-]+,?\s+){1,3})$", sentence[:place][-80:]
            )
            words = found[1].split() if found else []
            if all(ADJECTIVE.fullmatch(w) or w in EMPTY_ADJECTIVES or w == "and" for w in words):
                return "".join(f"{word} " for word in words)
            return ""
    return ""


def content_words(text: str) -> list[str]:
    """The words that tell something; the halves of a hyphened word count as one."""
    words = re.findall(r"[^\W_][\w²³*+/-]*", text)
    return [
        word
        for word in words
        if word.lower() not in GENERIC
        and word.lower() not in FUNCTION_WORDS
        and word.lower() not in EMPTY_ADJECTIVES
    ]


def _without_asides(text: str) -> str:
    return re.sub(r"\s*\([^()]{1,40}\)", "", text)


def _head(said: str) -> str:
    """The noun phrase before any clause that says more about it."""
    text = _LEAD.sub("", _without_asides(said))
    clause = CLAUSE.search(text)
    head = _noun_phrase(text[: clause.start()] if clause else text) or ""
    back = REFERS_BACK.search(head)
    if back:
        head = re.sub(r"\s+(?:for|to|in|of|on|against)\s*$", "", head[: back.start()])
    return head.strip()


def _telling(said: str) -> str | None:
    """What a phrase tells about the thing, or None if that is nothing by itself."""
    text = _LEAD.sub("", _without_asides(said))[:600]
    head = _head(text)
    content = content_words(head)
    clause = CLAUSE.match(text, len(head)) if text.startswith(head) else None
    end = re.search(r"[.;](?=\s|$)", text[len(head) :])
    text = text[: len(head) + end.start()] if end else text
    if clause is None or clause.end() > len(text):
        return head if len(content) >= 2 else None
    rest = text[clause.end() :]
    if clause["aim"] == "for" and (what := _object(rest)):
        return f"{head} for {what}"
    if len(content) >= 2:
        return head
    if content and head.split()[-1].lower() not in GENERIC:
        whole = _noun_phrase(text, enough=len(head) + 12)
        if whole and len(whole) > len(head) and not REFERS_BACK.search(whole):
            return whole
    return _doing_of(text[clause.start() :], clause, rest)


def _doing_of(text: str, clause: re.Match[str], rest: str) -> str | None:
    """What a clause after a noun that tells nothing says the thing does."""
    by = re.search(r"\bby\s+(?:\w+ly\s+)?([a-z-]+ing)\s+", text)
    if by and (what := _object(text[by.end() :])):
        return _doing(by[1], what)
    if clause["gerund"] and (what := _object(rest)):
        return _doing(clause["gerund"], what)
    verb, governed = clause["finite"], rest
    if clause["aim"] == "to" and (aim := re.match(r"\s+(?:\w+ly\s+)?([a-z-]+)\s+", rest)):
        verb, governed = aim[1], rest[aim.end() :]
    if verb and not JUDGES.match(verb) and (what := _object(governed)):
        return _doing(_gerund(verb), what)
    return None


def _deed(coined: CoinedName, sentences: Sequence[str]) -> str | None:
    """What the next sentences say the thing does."""
    name = re.escape(coined.name)
    for near in sentences[coined.sentence + 1 : coined.sentence + 3]:
        does = re.match(rf"{name}\s+(?:\w+ly\s+|first\s+)?([a-z-]{{3,}}s)\s+", near)
        if does and not JUDGES.match(does[1]) and (what := _object(near[does.end() :])):
            return _doing(_gerund(does[1]), what)
    return None


def _object(text: str) -> str | None:
    """The noun phrase a verb governs, if it tells something without the text before."""
    if re.match(r"\s*(?:on|in|to|from|with|of|by|for|as|at|how|that|whether|when|like)\b", text):
        return None
    text = re.split(
        r"\s+(?:to|within|while|so|thereby|thus|when|by|during|before|after|without|into|under)\s"
        r"|\s(?:and|or)\s+(?:\w+ly\s+)?(?:to|then|thus|\w+[^s]es)\s|[.;:]\s|[.;]$|,\s",
        _without_asides(text)[:300],
        maxsplit=1,
    )[0]
    clause = CLAUSE.search(text)
    text = text[: clause.start()] if clause else text
    what = _trimmed(LOOSE_END.sub("", text.strip()), keep_case=True)
    is_telling = len(content_words(what)) >= 2 and not is_loose(what.split()[-1])
    return (
        what if is_telling and not REFERS_BACK.search(what) and not _PRONOUN.match(what) else None
    )


def _doing(gerund: str, what: str) -> str:
    return _trimmed(what) if NEUTRAL_GERUND.match(gerund) else f"{gerund} {what}"


def _gerund(verb: str) -> str:
    """The -ing form of a verb in the third person or the infinitive."""
    if verb.endswith("ies"):
        stem = verb[:-3] + "y"
    elif re.search(r"(?:ss|sh|ch|x|zz)es$", verb):
        stem = verb[:-2]
    else:
        stem = verb.removesuffix("s") if not verb.endswith("ss") else verb
    if re.search(r"[^eoy]e$", stem):
        stem = stem[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][bdgmnpt]", stem):
        stem += stem[-1]
    return f"{stem}ing"


def _noun_phrase(text: str, *, strip_lead: bool = True, enough: int = 25) -> str | None:
    """The object up to the clause that qualifies it.

    A phrase of less than ``enough`` characters takes the clause along, if that is all one sentence.
    """
    text = re.sub(r"\s*\([^()]{1,40}\)", "", text)
    text = _LEAD.sub("", text) if strip_lead else text
    for stop in _STOP.finditer(text):
        phrase = text[: stop.start()].strip()
        if stop[0][:1] == "," and phrase and _goes_on(phrase, text[stop.end() : stop.end() + 40]):
            continue
        is_soft = re.match(r"\s+(?:that|which|designed|by|whose|where)\b", stop[0]) is not None
        if (
            len(phrase) >= enough
            or (not is_soft and len(phrase.split()) >= 2)
            or stop[0][:1] == "."
        ):
            return _trimmed(phrase, keep_case=not strip_lead) or None
    return _trimmed(text, keep_case=not strip_lead) or None


def _goes_on(phrase: str, rest: str) -> bool:
    """Whether the comma between them stands between adjectives."""
    last = phrase[-40:].split()[-1]
    following = rest.split(" ", 1)[0]
    is_pair = HYPHENED.fullmatch(last) is not None and HYPHENED.fullmatch(following) is not None
    return is_pair or is_loose(last)


def _trimmed(text: str, *, keep_case: bool = False) -> str:
    text = text.strip(' .,;:—–-“”"')
    return text if keep_case else _LEAD.sub("", text).strip(" .,;:")


def gist(sentences: Sequence[str], *, wants_problem: bool = False) -> str | None:
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
    return capitalised(best[2]) if best else None


def _topic(sentences: Sequence[str], *, wants_problem: bool = False) -> str | None:
    """The gist, if it can stand behind a name: no claim, no account of experiments."""
    about = gist(sentences, wants_problem=wants_problem)
    is_other = about is None or REFERS_BACK.search(about) or _NO_TOPIC.search(about)
    return None if is_other else about


def is_loose(word: str) -> bool:
    """Whether something has to follow the word."""
    bare = word.strip(' ,;:—–(“”‘’"')
    return (
        not bare
        or bare.lower() in FUNCTION_WORDS
        or bare.lower() in EMPTY_ADJECTIVES
        or bare.endswith("-")
        or (len(bare) < 40 and ADJECTIVE.fullmatch(bare) is not None)
    )


def capitalised(text: str) -> str:
    """With a capital first, unless the first word has its own way ("iFoo", "t-SNE", "2D")."""
    first, _, rest = text.split(" ", 1)[0].partition("-")
    is_plain = (
        first.isascii() and first.islower() and (len(first) > 1 or not re.search("[A-Z]", rest))
    )
    return text[:1].upper() + text[1:] if is_plain else text
