"""What kinds of works are called by the programs that write them, as CSL calls them."""

import re
from typing import Final

_WORDS: Final = (
    ("conference", "paper-conference"),
    ("proceeding", "paper-conference"),
    ("inproceedings", "paper-conference"),
    ("journal", "article-journal"),
    ("electronic article", "article-journal"),
    ("magazine", "article-magazine"),
    ("newspaper", "article-newspaper"),
    ("preprint", "article"),
    ("posted-content", "article"),
    ("posted content", "article"),
    ("book section", "chapter"),
    ("book chapter", "chapter"),
    ("book-chapter", "chapter"),
    ("book part", "chapter"),
    ("chapter", "chapter"),
    ("edited book", "book"),
    ("monograph", "book"),
    ("book", "book"),
    ("thesis", "thesis"),
    ("dissertation", "thesis"),
    ("report", "report"),
    ("grant", "report"),
    ("standard", "standard"),
    ("dataset", "dataset"),
    ("data set", "dataset"),
    ("software", "software"),
    ("computer program", "software"),
    ("patent", "patent"),
    ("unpublished", "manuscript"),
    ("manuscript", "manuscript"),
    ("blog", "post-weblog"),
    ("web page", "webpage"),
    ("webpage", "webpage"),
    ("online", "webpage"),
    ("presentation", "speech"),
    ("review", "article-journal"),
    ("letter", "article-journal"),
    ("editorial", "article-journal"),
    ("article", "article-journal"),
)
"""In the order in which they are looked for: a "conference article" is a paper of a conference."""


def kind_named(name: str) -> str | None:
    """CSL's type for a kind that is told in words ("Journal Article"), None if it has none."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
    return next((kind for word, kind in _WORDS if word in words), None)
