"""The model that answers now: the newest good generation, with the papers that came since."""

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from models.artifacts.registry import Pinned, Registry
from models.feedback import History
from models.ranking.interests import Interests
from models.ranking.model import Model
from models.training import TrainingSet, train
from service.catalogue.queries import catalogue_version
from service.recommend.dataset import documents
from service.recommend.recent import Recent

MOST_PEOPLE = 32
"""Whose interests are kept at hand: each is a few numbers for each word of the catalogue."""
DAMAGED = "Generation {} is damaged; {} answers in its place until the next training."


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """One model and all that is said of it; never changed, only replaced."""

    model: Model
    generation: str | None
    facts: Mapping[str, Any] = field(default_factory=dict)
    catalogue_version: int = 0
    """The model knows the papers up to here."""
    trouble: str | None = None
    """Why this is not the generation that it should be."""

    @property
    def trained_at(self) -> datetime | None:
        at = self.facts.get("trained_at")
        return datetime.fromisoformat(at) if at else None


class LiveModel:
    """Hands out one immutable model at a time and swaps it when there is a newer one."""

    def __init__(self, folder: Path, *, only: str | None = None) -> None:
        """With ``only`` it is this generation for good, or a model of the texts if it is broken."""
        self.registry = Registry(folder) if only is None else Pinned(folder, only)
        self._live: Live | None = None
        self._pointed_at: str | None = None
        """What CURRENT said when the model was opened; the generation may be an older good one."""
        self._lock = threading.Lock()
        self._pinned: Mapping[str, LiveModel] = {}
        self.interests: Recent[Interests] = Recent(MOST_PEOPLE)

    def pinned(self, generations: Collection[str]) -> Mapping[str, "LiveModel"]:
        """Each of these generations by name, whatever CURRENT says; others are let go."""
        there = self._pinned
        if there.keys() == set(generations):
            return there
        with self._lock:
            there = self._pinned  # another thread may have been quicker
            self._pinned = {
                name: there.get(name) or LiveModel(self.registry.root, only=name)
                for name in generations
            }
            return self._pinned

    @property
    def generation(self) -> str | None:
        """The generation that answers, opened if need be; None if there is no good one."""
        live = self._live
        if live is None or self._pointed_at != self.registry.current():
            live = self._open(live)
        return live.generation

    def current(self, session: Session, *, now: datetime) -> Live:
        """The model for this request; take it once, since the next call may give another.

        It knows every paper that the session can see: whoever sees a new one first lets the model
        grow by it, and only those who see it, too, wait for that. Without any good generation it is
        a model of the texts alone.
        """
        live = self._live
        if live is None or self._pointed_at != self.registry.current():
            live = self._open(live)
        if live.catalogue_version < catalogue_version(session):
            live = self._extend(session, now=now)
        return live

    def _open(self, seen: Live | None) -> Live:
        if seen is not None and self._lock.locked():
            return seen  # somebody is at it, and a model that is a training older answers as well
        with self._lock:
            if self._live is not None and self._live is not seen:
                return self._live
            pointed_at = self.registry.current()
            opened = self.registry.open_current()
            if opened is None:
                live = replace(
                    seen or Live(model=_untrained(), generation=None),
                    trouble=DAMAGED.format(pointed_at, "nothing older") if pointed_at else None,
                )
            else:
                generation, model, facts = opened
                live = Live(
                    model=model,
                    generation=generation,
                    facts=facts,
                    catalogue_version=int(str(facts.get("catalogue_version", 0))),
                    trouble=(
                        None if generation == pointed_at else DAMAGED.format(pointed_at, generation)
                    ),
                )
            self._live, self._pointed_at = live, pointed_at
            return live

    def _extend(self, session: Session, *, now: datetime) -> Live:
        with self._lock:
            live = self._live
            version = catalogue_version(session)
            if live is None or live.catalogue_version >= version:
                return live or Live(model=_untrained(), generation=None)
            new = documents(session, now=now, above=live.catalogue_version)
            live = replace(
                live,
                model=live.model.extend(
                    new.item_ids, new.texts, new.published_year, new.added_days, new.title_keys
                ),
                catalogue_version=version,
            )
            self._live = live
            return live


def _untrained() -> Model:
    """A model that knows nothing yet, to be extended with texts."""
    nothing = np.zeros(0, np.float32)
    return train(
        TrainingSet(
            user_ids=np.zeros(0, np.int64),
            history=History.empty(),
            item_ids=np.zeros(0, np.int64),
            documents=(),
            published_year=nothing,
            added_days=nothing,
        )
    )
