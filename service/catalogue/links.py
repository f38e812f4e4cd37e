"""The addresses in a paper's text, and which of them leads to its code."""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

URL_START: Final = re.compile(r"(?<![A-Za-z0-9])https?://(?=[A-Za-z0-9\[])", re.IGNORECASE)

_URL_PIECE: Final = re.compile(
    r"[()\[\]]|(?:\\[_%#&~]|[^\s<>\"`{}$|^\\()\[\]"
    r"\u2010-\u201f\u2026\u3000-\u303f\u3040-\u9fff\uac00-\ud7af\uff00-\uffef])+"
)
"""Characters of one URL. Full-width punctuation and Han, Kana and Hangul end it: a list in Chinese
writes no blank after an address. TeX-escaped ``\\_`` belongs to it, other TeX does not."""

_TRAILING: Final = frozenset(".,;:!?)]}'\"*》。，）、")
_CLOSES: Final = {")": "(", "]": "["}

_CODE_HOSTS: Final = (
    "github.com",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "huggingface.co",
    "hf.co",
    "sr.ht",
    "anonymous.4open.science",
    "gitee.com",
    "zenodo.org",
    "kaggle.com",
    "colab.research.google.com",
)
"""In order of trust: a repository says more than a data deposit."""

_PAGE_HOSTS: Final = (".github.io", ".gitlab.io", ".codeberg.page", ".hf.space", ".vercel.app")
_CODE_SUBDOMAINS: Final = ("gitlab.", "git.", "code.")


def url_end(text: str, start: int) -> int:
    """Where the URL that begins at ``start`` ends, without the punctuation of the sentence.

    A bracket opened inside the URL may be closed inside it; any other closing bracket ends it.
    """
    n_open = {"(": 0, "[": 0}
    end = start
    while piece := _URL_PIECE.match(text, end):
        if piece[0] in n_open:
            n_open[piece[0]] += 1
        elif piece[0] in _CLOSES:
            if n_open[_CLOSES[piece[0]]] == 0:
                break
            n_open[_CLOSES[piece[0]]] -= 1
        end = piece.end()
    while end > start and text[end - 1] in _TRAILING:
        if text[end - 1] in _CLOSES and _is_balanced(text[start:end], text[end - 1]):
            break
        end -= 1
    return end


def url_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every http(s) URL with a host, from left to right."""
    position = 0
    while found := URL_START.search(text, position):
        end = url_end(text, found.start())
        position = max(end, found.end())
        if end > found.end() and is_web_address(unescape_url(text[found.start() : end])):
            yield found.start(), end


def unescape_url(url: str) -> str:
    """The address without TeX's backslashes."""
    return re.sub(r"\\([_%#&~])", r"\1", url)


def is_web_address(url: str) -> bool:
    """Whether this is http(s) with a host, and nothing a browser could take for something else."""
    try:
        parts = urlsplit(url)
        return parts.scheme.lower() in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return False


def find_links(text: str) -> list[str]:
    """The http(s) addresses in the text, each once, in order of appearance."""
    return list(dict.fromkeys(unescape_url(text[start:end]) for start, end in url_spans(text)))


def code_link(links: Sequence[str]) -> str | None:
    """The address of the paper's code, else of its project page, else None."""
    ranked = [(rank, index) for index, link in enumerate(links) if (rank := _code_rank(link))]
    return links[min(ranked)[1]] if ranked else None


def _code_rank(link: str) -> int | None:
    """1 for a repository host, 2 for a page host, None for neither; a bare host is no code."""
    if not is_web_address(link):
        return None
    parts = urlsplit(link)
    host = (parts.hostname or "").removeprefix("www.")
    is_repository = host in _CODE_HOSTS or host.startswith(_CODE_SUBDOMAINS)
    if is_repository and parts.path.strip("/"):
        return 1
    return 2 if host.endswith(_PAGE_HOSTS) else None


def _is_balanced(url: str, closing: str) -> bool:
    return url.count(_CLOSES[closing]) >= url.count(closing)
