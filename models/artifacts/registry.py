"""Published models on disk: written aside, checked, then swapped in by one rename.

A generation is a folder ``<number>-<digest>``, where the digest is the beginning of the SHA-256 of
its manifest and the manifest has those of all other files: the name vouches for every byte.
``CURRENT`` holds the name of one generation and is replaced, never rewritten. Whoever reads sees
the old model or the new one. ``ARMS`` does the same for the two that an experiment compares.
"""

import contextlib
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp

import numpy as np

from models.artifacts.files import (
    MANIFEST,
    arrays_of,
    read_model,
    sync_folder,
    write_bytes,
    write_model,
)
from models.artifacts.manifest import (
    CONVENTIONS,
    BrokenGeneration,
    JsonValue,
    Manifest,
    digest,
    from_bytes,
    to_bytes,
)
from models.config import Config
from models.ranking.model import Model

CURRENT = "CURRENT"
ARMS = "ARMS"
ASIDE = "aside"
"""The fact of a generation that was not made current when it was published."""
DIGITS = 16
"""Hex digits of the digest in a name."""
_NAME = re.compile(rf"(\d{{6,}})-([0-9a-f]{{{DIGITS}}})")
_STAGING = ".staging-"
DEAD_AFTER_S = 3600.0
"""Writing a generation takes seconds; what lies unfinished for an hour was left by a crash."""


class UnfitModel(ValueError):
    """A model that must not be published: not finite, or arrays that do not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """Which generations an experiment compares; ``experiment`` is whatever names it outside."""

    experiment: str
    control: str
    challenger: str


class Registry:
    """The generations under one folder, which is made when first published to."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def publish(
        self,
        model: Model,
        *,
        facts: Mapping[str, JsonValue],
        aside: bool = False,
        swap: bool = True,
    ) -> str:
        """Make ``model`` the current generation and return its id.

        ``facts`` go into the manifest. ``aside`` leaves CURRENT alone, and is told there; without
        ``swap`` the generation becomes current by :meth:`point_to`. UnfitModel if the model is
        broken; then, and whenever this stops half-way, the current generation stays what it was.
        """
        check_fit(model)
        facts = {**facts, ASIDE: True} if aside else facts
        self.root.mkdir(parents=True, exist_ok=True)
        staging = Path(mkdtemp(prefix=_STAGING, dir=self.root))
        try:
            generation = self._write(model, facts, staging)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        if swap and not aside:
            self.point_to(generation)
        return generation

    def make_current(self, generation: str) -> None:
        """Point CURRENT to a generation that is there. BrokenGeneration unless it is whole."""
        self.open(generation)
        self.point_to(generation)

    def point_to(self, generation: str) -> None:
        """Point CURRENT to a generation that was just published. Not verified."""
        self._replace(CURRENT, generation.encode("ascii"))

    def current(self) -> str | None:
        """The id of the generation that CURRENT names, None if there is none. Not verified."""
        try:
            name = (self.root / CURRENT).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return name if _NAME.fullmatch(name) else None

    def open_current(self) -> tuple[str, Model, dict[str, JsonValue]] | None:
        """The current generation: id, model, facts; verified, arrays mapped copy-on-write.

        If it is damaged, the newest good one instead, of those that were published aside only
        where no other is left; None if none is good.
        """
        spares = []
        for name in self._by_preference():
            if name != self.current() and self._is_aside(name):
                spares.append(name)
                continue
            with contextlib.suppress(BrokenGeneration):
                return name, *self.open(name)
        for name in spares:
            with contextlib.suppress(BrokenGeneration):
                return name, *self.open(name)
        return None

    def open(self, generation: str) -> tuple[Model, dict[str, JsonValue]]:
        """Model and facts of one generation, verified. BrokenGeneration if it is not whole."""
        model, manifest = read_model(self._folder(generation), generation.partition("-")[2])
        return model, dict(manifest.facts)

    def config_of(self, generation: str) -> Config:
        """The hyper-parameters of a generation; of its files only the manifest is read.

        BrokenGeneration if that is not what was published.
        """
        return self._manifest(generation).config

    def arms(self) -> Arms | None:
        """The generations that ARMS names, not verified; None while nothing is compared."""
        try:
            return Arms(**json.loads((self.root / ARMS).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def point_arms_to(self, arms: Arms) -> None:
        """Replace ARMS in one step."""
        self._replace(ARMS, json.dumps(asdict(arms)).encode())

    def drop_arms(self) -> None:
        """Compare nothing any more; the generations go with the next :meth:`prune`."""
        (self.root / ARMS).unlink(missing_ok=True)

    def prune(self, keep: int = 3, *, dead_after_s: float = DEAD_AFTER_S) -> None:
        """Delete all generations but the ``keep`` newest, the newest of those published aside,
        the current one and the arms, and what crashed publishers left.

        Open maps of deleted files stay readable.
        """
        arms, names = self.arms(), self._generations()
        aside = [name for name in names if self._is_aside(name)]
        spared = {self.current(), *aside[:1], *([arms.control, arms.challenger] if arms else [])}
        spared |= set([name for name in names if name not in aside][: max(1, keep)])
        for name in set(names) - spared:
            shutil.rmtree(self.root / name, ignore_errors=True)
        if self.root.is_dir():
            for path in self.root.glob(f"{_STAGING}*"):
                if _age_s(path) >= dead_after_s:  # a younger one may be at work
                    _remove(path)

    def _write(self, model: Model, facts: Mapping[str, JsonValue], staging: Path) -> str:
        staging.chmod(0o755)
        manifest = Manifest(
            files=write_model(model, staging),
            config=model.config,
            n_people=model.n_people,
            facts=facts,
            conventions=CONVENTIONS,
        )
        raw = to_bytes(manifest)
        write_bytes(staging / MANIFEST, raw)
        sync_folder(staging)
        return self._move_in(staging, digest(raw)[:DIGITS])

    def _move_in(self, staging: Path, fingerprint: str) -> str:
        newest = next(iter(self._generations()), "0-")
        generation = f"{int(newest.partition('-')[0]) + 1:06d}-{fingerprint}"
        staging.rename(self.root / generation)
        sync_folder(self.root)
        return generation

    def _replace(self, name: str, content: bytes) -> None:
        pointer = self.root / f"{_STAGING}{token_hex(8)}.{name.lower()}"
        write_bytes(pointer, content)
        pointer.replace(self.root / name)
        sync_folder(self.root)

    def _manifest(self, generation: str) -> Manifest:
        try:
            raw = (self._folder(generation) / MANIFEST).read_bytes()
        except OSError as error:
            raise BrokenGeneration(str(error)) from error
        if not digest(raw).startswith(generation.partition("-")[2]):
            raise BrokenGeneration(f"{MANIFEST} is not what was published")
        return from_bytes(raw)

    def _folder(self, generation: str) -> Path:
        if not _NAME.fullmatch(generation):
            raise BrokenGeneration(f"{generation!r} is no name of a generation")
        return self.root / generation

    def _is_aside(self, generation: str) -> bool:
        with contextlib.suppress(BrokenGeneration):
            return self._manifest(generation).facts.get(ASIDE) is True
        return False

    def _by_preference(self) -> Iterator[str]:
        """CURRENT, then the others from the newest down; each name once.

        The pointer is read again at the end: a swap and a prune may have passed meanwhile.
        """
        tried = set()
        for names in (self._current_first, self._current_first):
            for name in names():
                if name not in tried:
                    tried.add(name)
                    yield name

    def _current_first(self) -> list[str]:
        current, names = self.current(), self._generations()
        return [name for name in names if name == current] + [n for n in names if n != current]

    def _generations(self) -> list[str]:
        """Ids on disk, newest first."""
        if not self.root.is_dir():
            return []
        names = [path.name for path in self.root.iterdir() if _NAME.fullmatch(path.name)]
        return sorted(names, key=_number, reverse=True)


class Pinned(Registry):
    """The same folder, where one generation is the current one, whatever CURRENT says."""

    def __init__(self, root: Path, generation: str) -> None:
        super().__init__(root)
        self._generation = generation

    def current(self) -> str:
        return self._generation

    def open_current(self) -> tuple[str, Model, dict[str, JsonValue]] | None:
        """This generation or none: another one would not be what was asked for."""
        with contextlib.suppress(BrokenGeneration):
            return self._generation, *self.open(self._generation)
        return None


def check_fit(model: Model) -> None:
    """Raise UnfitModel unless every number is finite (years may be NaN) and all shapes agree."""
    for name, array in arrays_of(model).items():
        numbers = array[~np.isnan(array)] if name == "published_year" else array
        if array.dtype.kind == "f" and not np.all(np.isfinite(numbers)):
            raise UnfitModel(f"{name} has values that are not finite")
    for what, holds in _shape_rules(model).items():
        if not holds():
            raise UnfitModel(f"{what}: shapes do not agree")


def _shape_rules(model: Model) -> Mapping[str, Callable[[], bool]]:
    m, v = len(model.item_ids), len(model.content.vocabulary)
    factors, content = model.factors, model.content
    similarity, f, d = model.similarity, factors.gram.shape[-1], model.similarity.items.shape[-1]
    embedded = similarity.term_map
    return {
        "item factors": lambda: factors.items.shape == (m, f),
        "gram": lambda: factors.gram.shape == (f, f),
        "term factors": lambda: (
            factors.term_factors.shape == factors.term_map.rows.shape == (len(factors.terms), f)
        ),
        "terms": lambda: bool(np.all((factors.terms >= 0) & (factors.terms < v))),
        "embeddings": lambda: (
            similarity.items.shape == (m, d) and embedded.rows.shape == (len(embedded.terms), d)
        ),
        "embedded terms": lambda: bool(np.all((embedded.terms >= 0) & (embedded.terms < v))),
        "weights": lambda: content.weights.shape == (m, v),
        "neighbours": lambda: model.neighbours.shape == (m, m),
        "columns of terms": lambda: (
            {len(content.idf), len(content.in_full), len(content.in_short)} == {v}
        ),
        "title keys": lambda: model.title_keys.shape == (m, 2),
        "columns of papers": lambda: (
            {
                len(column)
                for column in (
                    content.lengths,
                    content.n_terms,
                    model.people,
                    model.published_year,
                    model.added_days,
                    model.recency,
                    model.centrality,
                )
            }
            == {m}
        ),
    }


def _number(name: str) -> tuple[int, str]:
    number, _, fingerprint = name.partition("-")
    return int(number), fingerprint


def _age_s(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
