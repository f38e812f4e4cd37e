"""The names of a paper, from whatever a person or a file gives: the one place that reads them.

Every way in (form, bookmarklet, import, listing) asks here, so that the same paper is found
again whichever of its addresses comes next time.
"""

import re
from urllib.parse import unquote

from service.catalogue.links import unescape_url, url_spans
from service.catalogue.paper_links import identifier_in_link, landing_url, pdf_url
from service.catalogue.schemes import (
    ARXIV_ID,
    PARSERS,
    Identifier,
    Scheme,
    fold,
    parse_acl,
    parse_arxiv,
    parse_doi,
    parse_isbn,
    trim_end,
)
from service.catalogue.urls import normalise_url
from service.errors import InvalidInput

__all__ = [
    "Identifier",
    "Scheme",
    "find_identifier",
    "landing_url",
    "normalise",
    "normalise_url",
    "pdf_url",
]

LONGEST_PASTE = 20_000
"""Characters that are searched for a name; what follows is not looked at."""

LABELS = {scheme.value: scheme for scheme in Scheme if scheme is not Scheme.URL} | {
    "nips": Scheme.NEURIPS,
    "pmid": Scheme.PUBMED,
    "corpusid": Scheme.S2,
    "isbn-10": Scheme.ISBN,
    "isbn-13": Scheme.ISBN,
}
LABELLED = re.compile(
    rf"(?:urn:|info:)?(?P<label>{'|'.join(sorted(LABELS, reverse=True))})"
    r"(?P<gap>\s{0,3}[:/=\s]\s{0,3})(?P<value>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
LOOSE_LABELS = frozenset({"arxiv", "doi", "isbn", "isbn-10", "isbn-13", "pmid"})
"""What follows these has a shape of its own; "OpenReview discussion" is not a forum."""

OPENING = "([{<\"'`“‘«「《【"
ESCAPED_LINK = re.compile(r"https?%3A%2F%2F", re.IGNORECASE)
BARE_LINK = re.compile(r"(?<![\w./@-])(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,6}/[^\s<>\"]+", re.I | re.A)
DOI_IN_TEXT = re.compile(r"(?<![\w./])10\.\d{4,9}(?:\.\d{1,9})*/\S+", re.ASCII)
ARXIV_IN_TEXT = re.compile(rf"(?<![\w./])arxiv\s{{0,3}}[:/]?\s{{0,3}}({ARXIV_ID})", re.I | re.A)

EXAMPLES = {
    Scheme.ARXIV: "2406.14514 or hep-th/9901001",
    Scheme.DOI: "10.1000/xyz123",
    Scheme.OPENREVIEW: "rkgMkCEtPB, the id in an OpenReview link",
    Scheme.ACL: "2022.acl-long.75 or P18-1001",
    Scheme.PMLR: "v70/finn17a, volume and key",
    Scheme.NEURIPS: "2017/ and the 32 hex digits of the link",
    Scheme.PUBMED: "31452104",
    Scheme.S2: "CorpusID:13756489 or 40 hex digits",
    Scheme.ISBN: "978-0-262-03561-3, with the right check digit",
}


def find_identifier(text: str) -> Identifier | None:
    """The first name of a paper in a pasted text; None where there is none. Never raises.

    Understands links, labelled names ("arXiv:…", "doi: …"), bare ones and a name inside a
    sentence. A DOI is looked for before an arXiv number, and a number inside a DOI or a link
    is never taken for an arXiv number. A link to any other page is an identifier too (``url``),
    but only when it is all there is.
    """
    start = fold(text[:LONGEST_PASTE])
    if ESCAPED_LINK.match(start):
        start = unquote(start)
    whole = trim_end(start.lstrip(OPENING))
    return _labelled(whole) or _bare(whole) or _link(whole) or _inside(start) or _page(text)


def normalise(scheme: str, value: str) -> Identifier:
    """The value in the one spelling of its scheme; InvalidInput says what would be right.

    A label or a link instead of the bare value will do. An arXiv number given as a DOI
    (10.48550/arXiv.…) comes back as what it is, with the scheme ``arxiv``.
    """
    if scheme not in set(Scheme):
        raise InvalidInput(f"Use one of these schemes: {', '.join(Scheme)}.", field="scheme")
    wanted = Scheme(scheme)
    if wanted is Scheme.URL:
        return Identifier(Scheme.URL, normalise_url(value))
    text = trim_end(fold(value[:LONGEST_PASTE]).lstrip(OPENING))
    found = _of_scheme(wanted, text)
    if found is None:
        shown = "".join(c if c.isprintable() else "\ufffd" for c in text[:40])
        raise InvalidInput(
            f"“{shown}” can't be read as {wanted}; give something like {EXAMPLES[wanted]}.",
            field=wanted.value,
        )
    return found


def _of_scheme(scheme: Scheme, text: str) -> Identifier | None:
    """As a bare value, the first word of one, a link or a DOI, whichever it turns out to be."""
    if found := LABELLED.fullmatch(text):
        text = found["value"] if LABELS[found["label"].lower()] is scheme else text
    first = trim_end(text.split(maxsplit=1)[0]) if text.strip() else ""
    link = first if "://" in first else f"https://{first}"
    named = (
        PARSERS[scheme](text)
        or PARSERS[scheme](first)
        or identifier_in_link(link)
        or parse_doi(first)
    )
    if named is None:
        return None
    is_wanted = named.scheme == scheme or (named.scheme, scheme) == (Scheme.ARXIV, Scheme.DOI)
    return named if is_wanted else None


def _labelled(text: str) -> Identifier | None:
    found = LABELLED.fullmatch(text)
    if found is None:
        return None
    label = found["label"].lower()
    if label not in LOOSE_LABELS and found["gap"] != ":":
        return None
    return PARSERS[LABELS[label]](found["value"])


def _bare(text: str) -> Identifier | None:
    """Only forms that are nothing else: a string of digits or letters alone names no paper."""
    found = parse_doi(text) or parse_arxiv(text) or parse_acl(text)
    if found is not None:
        return found
    is_isbn_like = text.startswith(("978", "979")) or text.count("-") == 3
    return parse_isbn(text) if is_isbn_like else None


def _link(text: str) -> Identifier | None:
    return identifier_in_link(text) if len(text.split()) == 1 else None


def _inside(text: str) -> Identifier | None:
    spans = list(url_spans(text))
    links = [unescape_url(text[start:end]) for start, end in spans]
    outside = _without(text, spans)
    links += [f"https://{trim_end(link)}" for link in BARE_LINK.findall(outside)]
    for link in links:
        if found := identifier_in_link(link):
            return found
    for doi in DOI_IN_TEXT.findall(outside):
        if found := parse_doi(doi):
            return found
    for number in ARXIV_IN_TEXT.findall(outside):
        if found := parse_arxiv(number):
            return found
    return None


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept, position = [], 0
    for start, end in spans:
        kept.append(text[position:start])
        position = end
    return " ".join([*kept, text[position:]])


def _page(text: str) -> Identifier | None:
    address = trim_end(text.strip().lstrip(OPENING))
    if len(address.split()) != 1:
        return None
    try:
        return Identifier(Scheme.URL, normalise_url(address))
    except InvalidInput:
        return None
