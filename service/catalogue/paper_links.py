"""Addresses of papers: which paper a link leads to, and which link leads to a paper."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from service.catalogue.schemes import (
    ARXIV_ID,
    Identifier,
    Scheme,
    parse_acl,
    parse_arxiv,
    parse_doi,
    parse_isbn,
    parse_neurips,
    parse_openreview,
    parse_pmlr,
    parse_pubmed,
    parse_s2,
)
from service.catalogue.urls import normalise_url
from service.errors import InvalidInput

ARXIV_FOLDERS = {
    "arxiv.org": "abs|pdf|html|format|ps|src|e-print|tb",
    "xxx.lanl.gov": "abs|pdf|ps",
    "ar5iv.org": "abs|html|pdf",
    "alphaxiv.org": "abs|pdf|html|overview|resources",
    "huggingface.co": "papers",
    "hf.co": "papers",
    "scirate.com": "arxiv",
    "papers.cool": "arxiv",
    "arxiv-vanity.com": "papers",
    "semanticscholar.org": "arxiv",
}
"""Sites that show arXiv's papers under arXiv's numbers, and in which folders."""

ARXIV_FTP = re.compile(
    r"/ftp/(?:arxiv/papers/\d{4}/(?P<new>[^/]+)"
    r"|(?P<archive>[a-z-]+)/papers/\d{4}/(?P<number>\d{7}(?:v\d{1,3})?)(?:\.\w+)*)",
    re.ASCII,
)
DOI_PATH = re.compile(
    r"/(?:doi|article|chapter|book|referenceworkentry|content/pdf)/(?:[a-z]{2,8}/)?(10\.[^?#]+)"
)
DOI_PATH_ENDS = ("/full", "/abstract", "/pdf", "/epdf", "/full.pdf", ".pdf", "/html", "/meta")
DOI_HOSTS = ("doi.org", "dx.doi.org", "doi.acm.org")
PUBLISHERS = (
    "dl.acm.org",
    "link.springer.com",
    "onlinelibrary.wiley.com",
    "tandfonline.com",
    "journals.sagepub.com",
    "epubs.siam.org",
    "pubsonline.informs.org",
    "science.org",
    "pnas.org",
)
"""Sites that write the DOI into the address, after /doi/, /article/ or /chapter/."""

PMLR_PATH = re.compile(r"/([vr]\d{1,4}/[A-Za-z0-9_-]+)(?:\.html|\.pdf|/[^/]+\.pdf)?", re.ASCII)
PMLR_ASSET = re.compile(r"/mlresearch/([vr]\d{1,4})/(?:[^/]+/){1,3}?assets/([^/]+)/[^/]+", re.ASCII)
NEURIPS_PATH = re.compile(
    r"/paper(?:_files/paper)?/(\d{4})/(?:hash|file)/([0-9a-f]{32})-"
    r"(?:Abstract|Paper|Supplemental|AuthorFeedback|Metadata|Reviews?|MetaReview|Bibtex)"
    r"(-[A-Za-z0-9_]+)?\.[a-z]+",
    re.ASCII,
)
NEURIPS_SITE = "https://proceedings.neurips.cc/paper_files/paper"
NEURIPS_ROUNDS_SITE = "https://datasets-benchmarks-proceedings.neurips.cc/paper_files/paper"
"""Where the two rounds of the track of 2021 are."""

PMLR_SITE = "https://proceedings.mlr.press"
PMLR_ON_GITHUB = "https://raw.githubusercontent.com/mlresearch"


def identifier_in_link(url: str) -> Identifier | None:
    """The paper behind an http(s) address, by its form alone; None for any other page."""
    try:
        parts = urlsplit(normalise_url(url))
    except InvalidInput:
        return None
    host = (parts.hostname or "").removeprefix("www.")
    for known, reader in READERS.items():
        if host == known or host.endswith(f".{known}"):
            return reader(host, parts)
    return None


def _arxiv(host: str, parts: SplitResult) -> Identifier | None:
    path = unquote(parts.path)
    site = next(site for site in ARXIV_FOLDERS if host == site or host.endswith(f".{site}"))
    pattern = rf"/(?:{ARXIV_FOLDERS[site]})/(?:arxiv:)?({ARXIV_ID})"
    if found := re.match(pattern, path, re.ASCII | re.IGNORECASE):
        return parse_arxiv(found[1])
    if found := ARXIV_FTP.fullmatch(path):
        return parse_arxiv(found["new"] or f"{found['archive']}/{found['number']}")
    return None


def _doi(host: str, parts: SplitResult) -> Identifier | None:
    return parse_doi(parts.path.removeprefix("/"))


def _publisher(host: str, parts: SplitResult) -> Identifier | None:
    found = DOI_PATH.fullmatch(unquote(parts.path))
    if found is None:
        return None
    doi = found[1]
    for end in DOI_PATH_ENDS:
        doi = doi.removesuffix(end)
    return parse_doi(doi)


def _openreview(host: str, parts: SplitResult) -> Identifier | None:
    if parts.path not in {"/forum", "/pdf", "/attachment"}:
        return None
    ids = parse_qs(parts.query).get("id", [])
    return parse_openreview(ids[0]) if ids else None


def _acl(host: str, parts: SplitResult) -> Identifier | None:
    found = re.fullmatch(r"(?:/[A-Za-z0-9-]+){0,4}?/([\w.-]+?)(?:\.pdf|\.bib|\.xml)?", parts.path)
    return parse_acl(found[1]) if found else None


def _pmlr(host: str, parts: SplitResult) -> Identifier | None:
    path = parts.path
    if host == "jmlr.org":
        if not path.startswith("/proceedings/papers/"):
            return None
        path = path.removeprefix("/proceedings/papers")
    found = PMLR_PATH.fullmatch(path)
    return parse_pmlr(found[1]) if found else None


def _pmlr_asset(host: str, parts: SplitResult) -> Identifier | None:
    found = PMLR_ASSET.fullmatch(parts.path)
    return parse_pmlr(f"{found[1]}/{found[2]}") if found else None


def _neurips(host: str, parts: SplitResult) -> Identifier | None:
    found = NEURIPS_PATH.fullmatch(parts.path)
    return parse_neurips(f"{found[1]}/{found[2]}{found[3] or ''}") if found else None


def _pubmed(host: str, parts: SplitResult) -> Identifier | None:
    found = re.fullmatch(r"(?:/pubmed)?/(\d+)", parts.path, re.ASCII)
    return parse_pubmed(found[1]) if found else None


def _s2(host: str, parts: SplitResult) -> Identifier | None:
    if found := re.fullmatch(
        r"(?:/paper(?:/[^/]+)?)?/([0-9a-f]{40}|CorpusID:\d+)", unquote(parts.path), re.IGNORECASE
    ):
        return parse_s2(found[1])
    if found := re.fullmatch(r"/arxiv:(.+)", unquote(parts.path), re.IGNORECASE):
        return parse_arxiv(found[1])
    return _arxiv(host, parts)


def _isbn(host: str, parts: SplitResult) -> Identifier | None:
    found = re.fullmatch(r"/isbn/([\dXx-]+)", parts.path, re.ASCII)
    return parse_isbn(found[1]) if found else None


READERS: Mapping[str, Callable[[str, SplitResult], Identifier | None]] = {
    **dict.fromkeys(ARXIV_FOLDERS, _arxiv),
    "semanticscholar.org": _s2,
    **dict.fromkeys(DOI_HOSTS, _doi),
    **dict.fromkeys(PUBLISHERS, _publisher),
    "openreview.net": _openreview,
    **dict.fromkeys(("aclanthology.org", "aclweb.org", "aclanthology.info"), _acl),
    **dict.fromkeys(("proceedings.mlr.press", "jmlr.org"), _pmlr),
    "raw.githubusercontent.com": _pmlr_asset,
    **dict.fromkeys(("papers.nips.cc", "papers.neurips.cc", "proceedings.neurips.cc"), _neurips),
    "datasets-benchmarks-proceedings.neurips.cc": _neurips,
    "ncbi.nlm.nih.gov": _pubmed,
    "openlibrary.org": _isbn,
}


def landing_url(identifier: Identifier) -> str:
    """The page about the paper, at whoever gave the name."""
    value = identifier.value
    if identifier.scheme == Scheme.NEURIPS:
        return _neurips_url(value, "hash", "Abstract", "html")
    if identifier.scheme == Scheme.S2:
        site = "api" if value.startswith("CorpusID:") else "www"
        folder = "" if site == "api" else "paper/"
        return f"https://{site}.semanticscholar.org/{folder}{value}"
    if identifier.scheme == Scheme.ARXIV and identifier.version is not None:
        value += f"v{identifier.version}"
    if identifier.scheme == Scheme.DOI:
        value = quote(value, safe="/:;()._-~!$'*+,=@")
    before, after = LANDING[identifier.scheme]
    return f"{before}{value}{after}"


LANDING: Mapping[str, tuple[str, str]] = {
    Scheme.ARXIV: ("https://arxiv.org/abs/", ""),
    Scheme.DOI: ("https://doi.org/", ""),
    Scheme.OPENREVIEW: ("https://openreview.net/forum?id=", ""),
    Scheme.ACL: ("https://aclanthology.org/", "/"),
    Scheme.PMLR: (f"{PMLR_SITE}/", ".html"),
    Scheme.PUBMED: ("https://pubmed.ncbi.nlm.nih.gov/", "/"),
    Scheme.ISBN: ("https://openlibrary.org/isbn/", ""),
    Scheme.URL: ("", ""),
}


def pdf_url(identifier: Identifier) -> str | None:
    """The text itself, where its address follows from the name."""
    value, version = identifier.value, identifier.version
    suffix = "" if version is None else f"v{version}"
    match identifier.scheme:
        case Scheme.ARXIV:
            return f"https://arxiv.org/pdf/{value}{suffix}"
        case Scheme.OPENREVIEW:
            return f"https://openreview.net/pdf?id={value}"
        case Scheme.ACL:
            return f"https://aclanthology.org/{value}{suffix}.pdf"
        case Scheme.NEURIPS:
            return _neurips_url(value, "file", "Paper", "pdf")
        case Scheme.PMLR:
            return _pmlr_pdf(value)
        case _:
            return None


def _neurips_url(value: str, folder: str, kind: str, ending: str) -> str:
    paper, dash, track = value.partition("-")
    year, digest = paper.split("/")
    site = NEURIPS_ROUNDS_SITE if track.startswith("round") else NEURIPS_SITE
    return f"{site}/{year}/{folder}/{digest}-{kind}{dash}{track}.{ending}"


def _pmlr_pdf(value: str) -> str | None:
    """By volume: the series moved its files three times, and some volumes did it their own way."""
    volume, key = value.split("/")
    if volume.startswith("r"):
        return None
    number = int(volume[1:])
    if 26 <= number <= 51:
        return f"{PMLR_SITE}/{volume}/{key}.pdf"
    if number in {235, 244} or number >= 251:
        return f"{PMLR_ON_GITHUB}/{volume}/main/assets/{key}/{key}.pdf"
    if number <= 25 or number in {54, 238, 247} or 65 <= number <= 234:
        return f"{PMLR_SITE}/{volume}/{key}/{key}.pdf"
    return None
