"""The process that reads one file: an order and the file come in, entries go out.

Run as ``python -m service.importers.reader`` by ``reading.py``. The first line of the input is the
order, as JSON; entries go to the output, and the last line of the errors is the report.
"""

import contextlib
import sys
from typing import Any, Final

import orjson

from service.errors import InvalidInput
from service.importers.decoding import decode
from service.importers.formats import format_named, recognise
from service.importers.sample import Sample
from service.importers.wire import dumped

OUT_OF_MEMORY: Final = 70


def main() -> int:
    """Read what stands in the input; the exit code says whether there is a report."""
    order = orjson.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    limit(seconds=order["most_seconds"], n_bytes=order["most_bytes"])
    try:
        report = _read(content, order)
    except InvalidInput as error:
        report = {"error": str(error), "field": error.field}
    except MemoryError:
        return OUT_OF_MEMORY
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(orjson.dumps(report, option=orjson.OPT_APPEND_NEWLINE))
    return 0


def limit(*, seconds: int, n_bytes: int) -> None:
    """Bound this process, where the system knows how to."""
    try:
        import resource
    except ImportError:
        return
    for which, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, n_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(which, (most, most))


def _read(content: bytes, order: dict[str, Any]) -> dict[str, Any]:
    text, encoding = decode(content, order["encoding"])
    sample = Sample(text, order["file_name"])
    chosen = format_named(order["format"]) if order["format"] else recognise(sample)
    parsed = chosen.parse(sample)
    for entry in parsed.entries:
        sys.stdout.buffer.write(dumped(entry))
    return {
        "format": chosen.name,
        "encoding": encoding,
        "name": parsed.name,
        "n_entries": len(parsed.entries),
    }


if __name__ == "__main__":
    sys.exit(main())
