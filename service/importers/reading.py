"""Reads a file in a process of its own, whose time and memory are limited: whatever a file does to
its reader, the service goes on."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Final, Self

import orjson

from service.errors import InvalidInput
from service.importers.records import Entry, Skipped
from service.importers.wire import loaded

logger = logging.getLogger(__name__)

MOST_SECONDS: Final = 120
"""Of processor time. The largest real library takes a few."""
MOST_BYTES: Final = 1024 * 1024 * 1024
"""Of memory, as the process sees it."""
_PATIENCE: Final = 4
"""Times as long by the clock: the machine may have other things to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read; the entries lie in a file, to be taken one by one and more than once.

    Close it, or use it in a ``with`` statement.
    """

    format: str
    encoding: str
    name: str | None
    n_entries: int
    _lines: IO[bytes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._lines.close()

    def entries(self, *, after: int = 0) -> Iterator[tuple[int, Entry | Skipped]]:
        """Those behind this position, each with its own, from 1."""
        self._lines.seek(0)
        for position, line in enumerate(self._lines, start=1):
            if position > after:
                yield position, loaded(line)


def read_file(
    content: bytes, *, file_name: str, format_name: str | None, encoding: str | None
) -> Reading:
    """Have a file read. Raises InvalidInput for what cannot be, in words for its owner."""
    order = {
        "file_name": file_name,
        "format": format_name,
        "encoding": encoding,
        "most_seconds": MOST_SECONDS,
        "most_bytes": MOST_BYTES,
    }
    lines = TemporaryFile()  # noqa: SIM115 - it lives as long as the reading
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "service.importers.reader"],
            input=orjson.dumps(order, option=orjson.OPT_APPEND_NEWLINE) + content,
            stdout=lines,
            stderr=subprocess.PIPE,
            timeout=_PATIENCE * MOST_SECONDS,
            check=False,
        )
        said = ended.stderr.splitlines()
        report = orjson.loads(said[-1]) if ended.returncode == 0 and said else None
    except subprocess.TimeoutExpired:
        report = {"error": _TOO_LONG}
    except orjson.JSONDecodeError:
        report = None
    if report is None:
        lines.close()
        logger.error("the reader of %s ended with %s: %s", file_name, ended.returncode, said[-5:])
        raise InvalidInput(_WHY.get(ended.returncode, _BROKEN))
    if "error" in report:
        lines.close()
        raise InvalidInput(report["error"], field=report.get("field"))
    return Reading(**report, _lines=lines)


_TOO_LONG: Final = (
    f"Reading this file takes more than {MOST_SECONDS} seconds: split it, and import the parts."
)
_TOO_LARGE: Final = (
    f"Reading this file takes more than {MOST_BYTES // 2**20} MB of memory: split it, and import "
    "the parts."
)
_BROKEN: Final = (
    "This file could not be read, and that is our fault; what is in it stays here. Name its format "
    "if you know it, or leave out the part that is unusual."
)
_WHY: Final = {-24: _TOO_LONG, -9: _TOO_LONG, 70: _TOO_LARGE}
"""By how the process ended: out of time, killed, out of memory."""
