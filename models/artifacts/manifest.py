"""What a generation says about itself: its files, their digests, and the facts of its making."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TypeAlias

from models.config import Config

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"

FORMAT = 1
"""Raised when older code could not read what this code writes."""


class BrokenGeneration(Exception):
    """The files of a generation are not what was published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """Of one file: SHA-256 in hex and size in bytes; of an array also dtype and shape.

    The latter are kept here although .npy headers say them, too: numpy parses headers as Python
    (``ast``), which fails at times in CPython 3.11 when two threads do it at once ("SystemError:
    AST constructor recursion depth mismatch").
    """

    sha256: str
    size: int
    dtype: str | None = None
    shape: Sequence[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``files`` by name; ``config`` the hyper-parameters; ``n_people``; ``facts`` as published.

    ``conventions`` says how confidences and the regularisation enter the factor model, since other
    trainers (Spark) count differently and folding into their factors would be quietly wrong.
    """

    files: Mapping[str, FileFacts]
    config: Config
    n_people: int
    facts: Mapping[str, JsonValue]
    conventions: Mapping[str, str]


CONVENTIONS: Mapping[str, str] = {
    "confidence": "alpha * value, untouched cells 1, negative value = preference 0",
    "regularization": "lambda, not times the number of cells",
}


def to_bytes(manifest: Manifest) -> bytes:
    """UTF-8 JSON, the same bytes for the same manifest; NaN in the facts raises ValueError."""
    content = {
        "format": FORMAT,
        "n_people": manifest.n_people,
        "config": asdict(manifest.config),
        "conventions": dict(manifest.conventions),
        "files": {name: asdict(facts) for name, facts in sorted(manifest.files.items())},
        "facts": dict(manifest.facts),
    }
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def from_bytes(raw: bytes) -> Manifest:
    """The manifest; BrokenGeneration if it cannot be one, or is of another format."""
    try:
        content = json.loads(raw)
        if content["format"] != FORMAT:
            raise BrokenGeneration(f"format {content['format']} instead of {FORMAT}")
        return Manifest(
            files={name: FileFacts(**facts) for name, facts in content["files"].items()},
            config=_known_settings(content["config"]),
            n_people=int(content["n_people"]),
            facts=content["facts"],
            conventions=content["conventions"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenGeneration(f"manifest.json: {error}") from error


def _known_settings(stored: Mapping[str, object]) -> Config:
    """Settings that this code has; an older or newer Papershelf may have had others."""
    names = {field.name for field in fields(Config)}
    return Config(**{name: value for name, value in stored.items() if name in names})  # type: ignore[arg-type]


def digest(raw: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(raw).hexdigest()
