"""From text to terms: English words, joined compounds, CJK bigrams.

A light tokenizer of our own, so that the web process needs no scikit-learn; handed to
``TfidfVectorizer(analyzer=terms_of)`` it gives the same counts (there is a test).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from models.content.stem import stem

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_NOISE = re.compile(
    r"(?:https?://|www\.)\S+|\\[a-zA-Z]+|['’]s\b|state[ -]of[ -]the[ -]art", re.IGNORECASE
)
_HYPHENS = re.compile("[\u2010-\u2013\u2212]")
_DIACRITICS = re.compile("[\u0300-\u036f]")
_WORD = rf"[^\W_{_CJK}]+"
_TOKEN = re.compile(rf"[{_CJK}]+|{_WORD}(?:-{_WORD})*")
_IS_CJK = re.compile(f"[{_CJK}]")

_FUNCTION_WORDS = """
a about above after again against all almost also although always am among an and another any are as
at be because been before being below between both but by can cannot could did do does doing done
down due during each either enough especially etc even ever every few for from further had has have
having he hence her here hers him his how however i if in indeed instead into is it its itself just
least less like made mainly make makes making many may me might more moreover most mostly much must
my neither never nevertheless no nor not now of off often on once one only onto or other others our
ours out over own per perhaps quite rather really regarding s same she should since so some still
such t than that the their them then there thereby therefore these they this those though through
throughout thus to together too toward towards two under unlike until up upon us use used uses using
various very via was we well were what when where whereas whether which while who whose why will
with within without would yet you your
"""
_PHRASES = """
able abstract accordingly achieve achieved achieves achieving addition additionally address
addresses addressing advance advances allow allowing allows applied apply approach approaches
available baseline baselines benchmark benchmarks best better challenge challenges
challenging common commonly comparable compare compared comparing comprehensive conduct
consider considerable consistently contribution contributions crucial current currently demonstrate
demonstrated demonstrates demonstrating despite develop developed develops different directly easily
effective effectively effectiveness efficiency efficient efficiently empirical empirically enable
enables enabling enhance enhanced enhances enhancing ensure ensures ensuring evaluate evaluated
evaluation evaluations existing experiment experimental experiments extend extensive fail
finally find finding findings first focus focuses framework fundamental furthermore gap general
github given good high higher highlight highly http https important improve improved improvement
improvements improves improving include includes including increase increases increasing insight
insights introduce introduced introduces introducing investigate issue issues key large lead leading
leads leverage leverages leveraging limitation limitations limited main maintain
maintaining maintains major make method methods motivated multiple namely need needs new notably
novel obtain obtained outperform outperforming outperforms overall paper particular particularly
perform performance performing performs popular potential practical practice present presented
presents previous previously problem problems promising propose proposed proposes proposing
provide provided provides providing range recent recently rely remain remains remarkable require
required requires research respectively result resulting results reveal reveals revolutionized
second settings several show showing shown shows significant significantly simple
simultaneously specifically standard strong studies study substantial substantially
success successful successfully suffer suggest superior systematic systematically task tasks
technique techniques three typically ubiquitous understand understanding useful validate widely work
works
"""

STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words."""
RHETORIC = frozenset(_PHRASES.split())
"""What abstracts say whatever they are about. Document frequencies find these words by themselves
in a large collection of abstracts, but not among a few dozen, nor from thousands of titles."""


def terms_of(text: str) -> list[str]:
    """The terms of a text in reading order, repeated as often as they occur.

    Words are lower-cased, freed of accents and stemmed; function words, the phrases of abstracts,
    bare numbers and single letters are dropped. A compound gives its parts and itself without
    hyphens, so that all ways to write it meet: "low-rank" gives "low", "rank" and "lowrank",
    "k-means" gives "mean" and "kmean", but "in-context" gives "context" only. A run of Chinese,
    Japanese or Korean characters gives its overlapping pairs. Addresses and LaTeX commands give
    nothing.
    """
    found: list[str] = []
    for token in _TOKEN.findall(_normalised(text)):
        if _IS_CJK.match(token):
            found += _bigrams(token)
        else:
            found += _words(token)
    return found


def surface_forms(text: str) -> dict[str, str]:
    """Each term of the text as a person wrote it: "finetun" as "fine-tuning", "e2lora" as "E2LoRA".

    The form that occurs most often; of equals one that begins with a small letter, since capitals
    also begin sentences, then the one that comes first. The keys are those of :func:`terms_of`.
    """
    forms: dict[str, Counter[str]] = {term: Counter() for term in terms_of(text)}
    for token in _TOKEN.findall(_as_written(text)):
        for term, form in _written(token):
            if term in forms:
                forms[term][form] += 1
    return {term: most_written(counted) or term for term, counted in forms.items()}


def most_written(forms: Mapping[str, int]) -> str:
    """The form of the highest count, by the rules of :func:`surface_forms`; "" of none."""
    return max(forms, key=lambda form: (forms[form], not form[:1].isupper()), default="")


def _as_written(text: str) -> str:
    return _HYPHENS.sub("-", unicodedata.normalize("NFKC", _NOISE.sub(" ", text)))


def _written(token: str) -> Iterator[tuple[str, str]]:
    """The terms of one token, each with the letters it comes from."""
    plain = _normalised(token)
    if _IS_CJK.match(token):
        yield from ((pair, pair) for pair in _bigrams(plain))
        return
    parts = [(term, part) for part in token.split("-") for term in _words(_normalised(part))]
    yield from parts
    yield from ((term, token) for term in _words(plain)[len(parts) :])


def _normalised(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _NOISE.sub(" ", text)).lower()
    if not plain.isascii():
        folded = _DIACRITICS.sub("", unicodedata.normalize("NFKD", plain))
        plain = _HYPHENS.sub("-", unicodedata.normalize("NFC", folded))
    return plain


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=50_000)
def _words(token: str) -> tuple[str, ...]:
    parts = [part for part in token.split("-") if part]
    kept = [stem(part) for part in parts if _counts(part)]
    if kept and len(parts) > 1 and not any(map(_is_filler, parts)):
        kept.append(stem("".join(parts)))
    return tuple(kept)


def _counts(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and not _is_filler(word)


def _is_filler(word: str) -> bool:
    return len(word) > 1 and (word in STOP_WORDS or word in RHETORIC)
