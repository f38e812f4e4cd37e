"""From text to terms: English words, joined compounds, CJK bigrams.

A light tokenizer of our own, so that the web process needs no scikit-learn; handed to
``TfidfVectorizer(analyzer=terms_of)`` it gives the same counts (there is a test).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
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

_Span = tuple[str, int, int]
"""A term and where in its token it begins and ends."""

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
        spans = _bigrams(token) if _IS_CJK.match(token) else _words(token)
        found += [term for term, _, _ in spans]
    return found


def surface_forms(*texts: str, terms: Collection[str] | None = None) -> dict[str, str]:
    """How each term of the texts is written in them: "lora" as LoRA, "finetun" as fine-tuning.

    Of several forms it is the most frequent, of equally frequent ones the one with fewer capitals,
    since those of titles and of first words say nothing. A term of one word of a compound is that
    word. ``terms``: only these are looked for.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for text in texts:
        counts.update(_forms(text, None if terms is None else frozenset(terms)))
    ordered = sorted(counts, key=lambda pair: (counts[pair], -sum(map(str.isupper, pair[1]))))
    return dict(ordered)


def _forms(text: str, terms: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Each term, as often as it occurs, with the form it has there."""
    written = _HYPHENS.sub("-", unicodedata.normalize("NFKC", _NOISE.sub(" ", text)))
    folded, places = _folded(written)
    for match in _TOKEN.finditer(folded):
        token, start = match[0], match.start()
        for term, first, end in _bigrams(token) if _IS_CJK.match(token) else _words(token):
            if terms is None or term in terms:
                yield term, written[places[start + first] : places[start + end - 1] + 1]


def _folded(written: str) -> tuple[str, Sequence[int]]:
    """The text as :func:`terms_of` reads it, and where each of its characters stood."""
    if written.isascii():
        return written.lower(), range(len(written))
    # Of all letters the Turkish capital alone has a small form of two characters.
    lower = written.replace("\u0130", "I").lower()
    pieces = [_without_accents(letter) for letter in lower]
    places = [place for place, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), places


def _normalised(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _NOISE.sub(" ", text)).lower()
    return plain if plain.isascii() else _HYPHENS.sub("-", _without_accents(plain))


def _without_accents(text: str) -> str:
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", unicodedata.normalize("NFKD", text)))


def _bigrams(run: str) -> Sequence[_Span]:
    return [(run[i : i + 2], i, i + 2) for i in range(len(run) - 1)] or [(run, 0, len(run))]


@lru_cache(maxsize=50_000)
def _words(token: str) -> tuple[_Span, ...]:
    parts, at = [], 0
    for part in token.split("-"):
        parts.append((part, at, at + len(part)))
        at += len(part) + 1
    kept = [(stem(part), start, end) for part, start, end in parts if _counts(part)]
    if kept and len(parts) > 1 and not any(_is_filler(part) for part, _, _ in parts):
        kept.append((stem(token.replace("-", "")), 0, len(token)))
    return tuple(kept)


def _counts(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and not _is_filler(word)


def _is_filler(word: str) -> bool:
    return len(word) > 1 and (word in STOP_WORDS or word in RHETORIC)
