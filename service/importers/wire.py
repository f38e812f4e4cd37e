"""Entries as lines of JSON, for the pipe between the process that reads a file and the one that
keeps what is in it."""

from datetime import datetime
from typing import Any

import orjson

from service.catalogue.identifiers import Identifier
from service.catalogue.records import Author, NewPaper
from service.importers.records import Entry, Skipped
from service.library.records import Kept
from service.tables import PaperSource, ReadingStatus


def dumped(entry: Entry | Skipped) -> bytes:
    """One line, with its end."""
    kind = "entry" if isinstance(entry, Entry) else "skipped"
    return orjson.dumps({kind: entry}, option=orjson.OPT_APPEND_NEWLINE)


def loaded(line: bytes) -> Entry | Skipped:
    """What ``dumped`` wrote."""
    ((kind, value),) = orjson.loads(line).items()
    if kind == "skipped":
        return Skipped(**value)
    return Entry(**value | {"paper": _paper(value["paper"]), "kept": _kept(value["kept"])})


def _paper(value: dict[str, Any]) -> NewPaper:
    return NewPaper(
        **value
        | {
            "source": PaperSource(value["source"]),
            "authors": tuple(Author(**author) for author in value["authors"]),
            "identifiers": tuple(Identifier(**name) for name in value["identifiers"]),
        }
    )


def _kept(value: dict[str, Any]) -> Kept:
    return Kept(
        **value
        | {
            "saved_at": datetime.fromisoformat(value["saved_at"]) if value["saved_at"] else None,
            "status": ReadingStatus(value["status"]) if value["status"] else None,
            "tags": tuple(value["tags"]),
            "collections": tuple(map(tuple, value["collections"])),
        }
    )
