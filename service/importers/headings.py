"""Lines of a listing that are not abstracts: the heading with the venue, and footers."""

import re
from dataclasses import dataclass
from typing import Final

MAX_WORDS: Final = 12
MAX_CHARACTERS: Final = 120


@dataclass(frozen=True, slots=True)
class Heading:
    """``is_marked`` says that the line is set as a heading (``# …``, ``== … ==``, ``**…**``)."""

    name: str
    venue: str | None
    year: int | None
    is_marked: bool


_WELL_KNOWN: Final = """
ICML NeurIPS NIPS ICLR COLM COLT AISTATS UAI ALT ACML TMLR JMLR AutoML MLSys CoRL RLC CVPR ICCV ECCV
WACV BMVC ACL EMNLP NAACL EACL AACL COLING TACL CoNLL AAAI IJCAI ECAI KDD WWW SIGIR WSDM CIKM RecSys
ECIR ICDM SDM ECML-PKDD ICRA IROS RSS ICASSP INTERSPEECH SIGGRAPH CHI UIST CSCW VLDB SIGMOD ICDE
PODS OSDI SOSP NSDI ISCA MICRO HPCA MICCAI MIDL STOC FOCS SODA ITCS CCS NDSS USENIX ISMIR LREC
"""
_VENUES: Final = {name.lower(): name for name in _WELL_KNOWN.split()}
_NAMES: Final = "|".join(sorted(map(re.escape, _VENUES), key=len, reverse=True))
_KNOWN_VENUE: Final = re.compile(
    rf"(?<![A-Za-z])(?P<venue>{_NAMES})(?![a-z])"
    r"(?:\s*[-–_ ]?\s*(?P<year>(?:19|20)\d\d)(?!\d)|\s*['’‘\u00b4`-]\s*(?P<short>\d\d)(?!\d))?",
    re.IGNORECASE,
)
_OTHER_VENUE: Final = re.compile(
    r"(?<![A-Za-z])(?P<venue>[A-Z][A-Za-z]*[A-Z][A-Za-z]*(?:-[A-Z]+)?)"
    r"(?:\s*[-–_ ]?\s*(?P<year>(?:19|20)\d\d)(?!\d)|\s*['’‘]\s*(?P<short>\d\d)(?!\d))"
)
_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ORNAMENT: Final = re.compile(
    r"^(?:#{1,6}(?=\s|\w)|[=*_~—–-]{2,}|【|\[|<{1,2}|=)\s*|\s*(?:[=*_#~—–-]{2,}|】|\]|=|:|：)$"
)
_SENTENCE_END: Final = re.compile(r"[.!?。！？](?:\s|$)|[。！？]|https?://")
_FOOTER: Final = re.compile(
    r"\W*(?:(?:in )?total(?: number)?(?: of)?(?: papers"
    r"| abstracts| entries)?\s*[:：=]?\s*\d+(?:\s+\w+){0,3}"
    r"|\d+\s+(?:papers?|abstracts?|entries|results?)(?: in total| total| found| listed)?"
    r"|(?:papers|count|number of papers|abstracts)\s*[:：=]\s*\d+"
    r"|(?:总计|合计|总共|一?共计?|总数)\s*[:：]?\s*(?:有|收录)?\s*\d+\s*[篇条个]?(?:论文|摘要|文章)?"
    r"|showing\s+\d+\s*(?:[-–]|to)\s*\d+(?:\s+of\s+\d+)?(?:\s+\w+){0,2}"
    r"|page\s+\d+(?:\s*(?:of|/)\s*\d+)?|第\s*\d+\s*页(?:.{0,12}页)?"
    r"|(?:the\s+)?end(?: of (?:the )?(?:list|listing|file|document))?|完|全文完"
    r"|(?:©|\(c\)|copyright)\s.{0,80}|(?:last )?(?:updated"
    r"|generated|retrieved|exported)(?: on| at|:).{0,60})\W*",
    re.IGNORECASE,
)


def is_footer(line: str) -> bool:
    """Whether the line counts or ends the list, as in "Total: 19 papers"."""
    return len(line) <= MAX_CHARACTERS and _FOOTER.fullmatch(line) is not None


def read_heading(line: str) -> Heading | None:
    """The line as a heading, or None if it is too long for one or ends a sentence.

    A line without a venue may still be an abstract cut short: the caller looks at its place.
    """
    line = line.strip()
    if len(line) > MAX_CHARACTERS:
        return None
    name = line
    while (stripped := _ORNAMENT.sub("", name).strip()) != name:
        name = stripped
    is_long = len(name.split()) >= MAX_WORDS
    if not name or is_long or _SENTENCE_END.search(name) or is_footer(line):
        return None
    venue, year = _venue_and_year(name)
    is_marked = re.match(r"#{1,6}\s|={1,}[^=]|\*\*|__|【", line) is not None
    return Heading(name, venue, year, is_marked)


def _venue_and_year(name: str) -> tuple[str | None, int | None]:
    found = _KNOWN_VENUE.search(name) or _OTHER_VENUE.search(name)
    if found is None:
        return None, None
    venue = _VENUES.get(found["venue"].lower(), found["venue"])
    if found["venue"].lower() in _VENUES and not (found["venue"][0].isupper() or found["year"]):
        return None, None
    if found["year"]:
        return venue, int(found["year"])
    if found["short"]:
        short = int(found["short"])
        return venue, short + (2000 if short < 70 else 1900)
    year = _YEAR.search(name)
    return (venue, int(year[0])) if year else (venue, None)
