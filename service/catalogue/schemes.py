"""The kinds of names that papers go by, and the one spelling of each."""

import enum
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote


class Scheme(enum.StrEnum):
    """Who gave the name."""

    ARXIV = "arxiv"
    DOI = "doi"
    OPENREVIEW = "openreview"
    ACL = "acl"
    PMLR = "pmlr"
    NEURIPS = "neurips"
    PUBMED = "pubmed"
    S2 = "s2"
    ISBN = "isbn"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name in its one spelling; ``version`` tells two texts of the same paper apart.

    Values look like this: ``2406.14514`` or ``math/0309136``, ``10.1000/xyz`` in lower case, an
    OpenReview forum, ``2022.acl-long.75`` or ``P18-1001``, ``v70/finn17a`` (PMLR),
    ``2017/<hash>`` or ``2022/<hash>-Conference`` (NeurIPS), a PubMed number, 40 hex digits or
    ``CorpusID:…`` (Semantic Scholar), 13 digits (ISBN), an address.
    """

    scheme: str
    value: str
    version: int | None = None

    def __str__(self) -> str:
        """As a person may paste it: ``find_identifier`` reads it back."""
        if self.scheme == Scheme.URL:
            return self.value
        version = "" if self.version is None else f"v{self.version}"
        return f"{self.scheme}:{self.value}{version}"


LONGEST_NAME = 1000
"""Characters; nothing longer is a name, and unescaping stays cheap below it."""

SENTENCE_ENDS = frozenset(".,;:!?'\"`’”»…、。/")
OPENING_OF = {")": "(", "]": "[", "}": "{", ">": "<", "」": "「", "》": "《", "】": "【"}

FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
HYPHENS: dict[int, str | int | None] = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2212), "-")
INVISIBLE: dict[int, str | int | None] = dict.fromkeys(
    (0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF)
)
FOLDED: Mapping[int, str | int | None] = FULL_WIDTH | HYPHENS | INVISIBLE

ARXIV_ARCHIVE = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas"
    "|cond-mat|cs|dg-ga|econ|eess|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math-ph|math|mtrl-th"
    "|nlin|nucl-ex|nucl-th|patt-sol|physics|plasm-ph|q-alg|q-bio|q-fin|quant-ph|solv-int|stat"
    "|supr-con"
)
ARXIV_ID = (
    rf"(?:\d{{4}}\.\d{{4,5}}|(?:{ARXIV_ARCHIVE})(?:\.[a-z-]{{2,9}})?/\d{{7}})"
    r"(?:v[1-9]\d{0,2})?(?!\w|\.\d)"
)
"""Where it ends in a longer text; whether the month exists is for ``parse_arxiv`` to say."""

ARXIV = re.compile(
    rf"(?P<new>(?P<month>\d{{4}})\.(?P<count>\d{{4,5}}))(?:v(?P<version>[1-9]\d{{0,2}}))?"
    rf"|(?P<archive>{ARXIV_ARCHIVE})(?:\.[a-z-]{{2,9}})?/(?P<old>(?P<old_month>\d{{4}})\d{{3}})"
    r"(?:v(?P<old_version>[1-9]\d{0,2}))?",
    re.ASCII | re.IGNORECASE,
)
ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)")
DOI = re.compile(r"10\.\d{4,9}(?:\.\d{1,9})*/.*[^\W_].*", re.ASCII)
UNFIT_FOR_DOI = re.compile(r"[\s\ufffd]|/\.{1,2}/")
"""Blanks, bytes that were no text, and steps that every browser takes out of a path."""

OPENREVIEW = re.compile(r"[A-Za-z0-9_-]{6,24}", re.ASCII)
ACL_NEW = re.compile(
    r"(\d{4}\.[a-z0-9_]{2,24}(?:-[a-z0-9_]{1,24})?\.\d{1,4})(?:v([1-9]\d?))?", re.ASCII
)
ACL_OLD = re.compile(r"([A-Z]\d{2}-\d{4})(?:V([1-9]\d?))?", re.ASCII)
PMLR = re.compile(r"([vr]\d{1,4}/(?!index\b)[A-Za-z0-9][A-Za-z0-9_-]{1,79})", re.ASCII)
NEURIPS = re.compile(r"((?:19|20)\d\d)/([0-9a-f]{32})(?:-([A-Za-z0-9_]{1,60}))?", re.ASCII)
NEURIPS_TRACKS_SINCE = 2022
"""From this volume on every address of a paper names its track."""
PUBMED = re.compile(r"0*([1-9]\d{0,8})", re.ASCII)
S2_PAPER = re.compile(r"[0-9a-f]{40}")
S2_CORPUS = re.compile(r"(?:corpusid:)?0*([1-9]\d{0,11})", re.ASCII | re.IGNORECASE)
LOWERED = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def fold(text: str) -> str:
    """Full-width characters and typographic hyphens as ASCII, invisible characters left out."""
    return unicodedata.normalize("NFC", text.translate(FOLDED)).strip()


def trim_end(text: str) -> str:
    """Without the punctuation of the sentence around it; a bracket opened inside stays closed."""
    surplus = {c: text.count(c) - text.count(opening) for c, opening in OPENING_OF.items()}
    end = len(text)
    while end and (text[end - 1] in SENTENCE_ENDS or surplus.get(text[end - 1], 0) > 0):
        if text[end - 1] in surplus:
            surplus[text[end - 1]] -= 1
        end -= 1
    return text[:end]


def parse_arxiv(text: str) -> Identifier | None:
    """Also with its version; the subject class of an old one goes: math.GT/0309136 is in math."""
    found = ARXIV.fullmatch(text.removesuffix(".pdf"))
    if found is None:
        return None
    digits = found["version"] or found["old_version"]
    version = int(digits) if digits else None
    if found["new"]:
        value, exists = found["new"], _is_new_arxiv(found["month"], len(found["count"]))
    else:
        value = f"{found['archive'].lower()}/{found['old']}"
        exists = _is_old_arxiv_month(found["old_month"])
    return Identifier(Scheme.ARXIV, value, version) if exists else None


def _is_month(yymm: str) -> bool:
    return "01" <= yymm[2:] <= "12"


def _is_new_arxiv(yymm: str, n_digits: int) -> bool:
    """New numbers began in April 2007; they have five digits since January 2015."""
    return _is_month(yymm) and yymm >= "0704" and n_digits == (4 if yymm < "1501" else 5)


def _is_old_arxiv_month(yymm: str) -> bool:
    return _is_month(yymm) and (yymm <= "0703" or yymm >= "9107")


def parse_doi(text: str) -> Identifier | None:
    """In lower case and unescaped; the DOI that arXiv gives a preprint is its arXiv number."""
    if len(text) > LONGEST_NAME:
        return None
    while (plain := fold(unquote(text))) != text:
        text = plain
    value = trim_end(text).translate(LOWERED)
    if not DOI.fullmatch(value) or UNFIT_FOR_DOI.search(value) or not value.isprintable():
        return None
    if found := ARXIV_DOI.fullmatch(value):
        return parse_arxiv(found[1]) or Identifier(Scheme.DOI, value)
    return Identifier(Scheme.DOI, value)


def parse_openreview(text: str) -> Identifier | None:
    """A forum; capitals matter."""
    return Identifier(Scheme.OPENREVIEW, text) if OPENREVIEW.fullmatch(text) else None


def parse_acl(text: str) -> Identifier | None:
    """Of either style, as in 2022.acl-long.75 and P18-1001."""
    found = ACL_NEW.fullmatch(text.lower()) or ACL_OLD.fullmatch(text.upper())
    if found is None:
        return None
    return Identifier(Scheme.ACL, found[1], int(found[2]) if found[2] else None)


def parse_pmlr(text: str) -> Identifier | None:
    """Volume and key; the supplement belongs to its paper."""
    found = PMLR.fullmatch(text.removesuffix("-supp"))
    return Identifier(Scheme.PMLR, found[1]) if found else None


def parse_neurips(text: str) -> Identifier | None:
    """Year and hash, and the track where the proceedings name one."""
    found = NEURIPS.fullmatch(text)
    if found is None:
        return None
    year, digest, track = found.groups()
    if track is None and int(year) >= NEURIPS_TRACKS_SINCE:
        track = "Conference"
    return Identifier(Scheme.NEURIPS, f"{year}/{digest}" + (f"-{track}" if track else ""))


def parse_pubmed(text: str) -> Identifier | None:
    """A PMID."""
    found = PUBMED.fullmatch(text)
    return Identifier(Scheme.PUBMED, found[1]) if found else None


def parse_s2(text: str) -> Identifier | None:
    """A paper's SHA, or its number in the corpus."""
    if S2_PAPER.fullmatch(text.lower()):
        return Identifier(Scheme.S2, text.lower())
    found = S2_CORPUS.fullmatch(text)
    return Identifier(Scheme.S2, f"CorpusID:{found[1]}") if found else None


def parse_isbn(text: str) -> Identifier | None:
    """In 13 digits, whichever length was given; a wrong check digit is no ISBN."""
    digits = text.replace("-", "").replace("–", "").replace(" ", "").upper()
    if re.fullmatch(r"\d{9}[\dX]", digits, re.ASCII):
        weighted = sum(
            (10 - place) * (10 if digit == "X" else int(digit))
            for place, digit in enumerate(digits)
        )
        if weighted % 11:
            return None
        digits = f"978{digits[:9]}"
        return Identifier(Scheme.ISBN, digits + str(-_isbn_sum(digits) % 10))
    if re.fullmatch(r"97[89]\d{10}", digits, re.ASCII) and _isbn_sum(digits) % 10 == 0:
        return Identifier(Scheme.ISBN, digits)
    return None


def _isbn_sum(digits: str) -> int:
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))


PARSERS: Mapping[str, Callable[[str], Identifier | None]] = {
    Scheme.ARXIV: parse_arxiv,
    Scheme.DOI: parse_doi,
    Scheme.OPENREVIEW: parse_openreview,
    Scheme.ACL: parse_acl,
    Scheme.PMLR: parse_pmlr,
    Scheme.NEURIPS: parse_neurips,
    Scheme.PUBMED: parse_pubmed,
    Scheme.S2: parse_s2,
    Scheme.ISBN: parse_isbn,
}
"""From a bare value; None for what isn't one. Addresses are read elsewhere."""
