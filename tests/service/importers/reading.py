"""Files read as the import reads them, but for the process around it."""

from pathlib import Path

import pytest

from service.importers.decoding import decode
from service.importers.formats import format_named, recognise
from service.importers.records import Parsed
from service.importers.sample import Sample

SHARED = Path(__file__).resolve().parents[4] / "shared"


def sample_of(data: bytes | str, file_name: str = "") -> Sample:
    text = data if isinstance(data, str) else decode(data)[0]
    return Sample(text, file_name)


def read(data: bytes | str, *, as_: str | None = None, file_name: str = "") -> Parsed:
    """What a file holds; ``as_`` forces the format."""
    sample = sample_of(data, file_name)
    return (format_named(as_) if as_ else recognise(sample)).parse(sample)


def format_of(data: bytes | str) -> str:
    return recognise(sample_of(data)).name


def shared(path: str) -> bytes:
    """A real file that lies beside the checkout; where it does not, the test is skipped."""
    file = SHARED / path
    if not file.is_file():
        pytest.skip("the real files do not lie beside this checkout")
    return file.read_bytes()
