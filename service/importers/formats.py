"""The formats that can come in: how each is recognised, and who reads it."""

from typing import Final

from service.errors import InvalidInput
from service.importers import listing
from service.importers.bibtex import BIBTEX
from service.importers.format import Format
from service.importers.medline import MEDLINE
from service.importers.refer import REFER
from service.importers.ris import RIS
from service.importers.sample import Sample
from service.importers.web_of_science import WEB_OF_SCIENCE

LISTING: Final = Format(
    name="listing",
    title="a conference listing",
    recognise=lambda sample: True,
    parse=listing.parse,
    is_personal=False,
)

FORMATS: Final[tuple[Format, ...]] = (
    WEB_OF_SCIENCE,
    MEDLINE,
    RIS,
    REFER,
    BIBTEX,
    LISTING,
)
"""In the order in which they are tried; the last one takes all that is text."""


def recognise(sample: Sample) -> Format:
    """The format of a file, by what is in it."""
    return next(format_ for format_ in FORMATS if format_.recognise(sample))


def format_named(name: str) -> Format:
    """Raises InvalidInput, field ``format``, for a name that none has."""
    for format_ in FORMATS:
        if format_.name == name:
            return format_
    known = ", ".join(format_.name for format_ in FORMATS)
    raise InvalidInput(f"Use one of these formats: {known}.", field="format")
