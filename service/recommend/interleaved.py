"""The slate while an experiment runs: one list of two generations, each paper with its arm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.evaluation.interleaving import draft_chances, team_draft
from models.ranking.model import Model
from models.ranking.twins import twins
from models.recommending import Slate
from service.recommend.live_model import Live, LiveModel
from service.tables import Arm, Experiment

Asked: TypeAlias = Callable[[Live], Slate]
"""Puts the request to one model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Which experiment put a slate together, and which arm and generation each work is from."""

    experiment_id: int
    name: str
    arms: Mapping[int, Arm]
    generations: Mapping[Arm, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A slate, the model that speaks for it, and whom it is shared by, if by two.

    ``propensities`` has the chance of each work to be in this slate; None where it is not known,
    which is while an experiment and exploration both draw.
    """

    slate: Slate
    live: Live
    propensities: Mapping[int, float | None]
    shared: Shared | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arms:
    """The two models of a running experiment."""

    experiment_id: int
    name: str
    lives: Mapping[Arm, Live] = field(default_factory=dict)


def propose(
    session: Session,
    live_model: LiveModel,
    live: Live,
    ask: Asked,
    *,
    limit: int,
    now: datetime,
    rng: np.random.Generator,
) -> Proposal:
    """The answer of the live model; while an experiment runs, that of both arms by team draft.

    Where the arms agree on every place, or one of them knows nothing of the person, there is
    nothing to compare, and the control answers. A missing or damaged arm leaves the live model.
    """
    arms = _running_arms(session, live_model, live, now=now)
    if arms is None:
        slate = ask(live)
        return Proposal(slate=slate, live=live, propensities=_own_chances(slate))
    control, challenger = (ask(arms.lives[arm]) for arm in Arm)
    speaks = arms.lives[Arm.CONTROL]
    if control.strategy != challenger.strategy:
        return Proposal(slate=control, live=speaks, propensities=_own_chances(control))
    challenger = _named_alike(speaks.model, control, challenger)
    chances = _chances(control, challenger, limit=limit)
    if _ids(control) == _ids(challenger):
        return Proposal(slate=control, live=speaks, propensities=chances)
    slate, by = _draft(control, challenger, limit=limit, rng=rng)
    shared = Shared(
        experiment_id=arms.experiment_id,
        name=arms.name,
        arms=by,
        generations={arm: one.generation for arm, one in arms.lives.items()},
    )
    return Proposal(slate=slate, live=speaks, propensities=chances, shared=shared)


def _running_arms(
    session: Session, live_model: LiveModel, live: Live, *, now: datetime
) -> _Arms | None:
    """Without an experiment this looks for one file that is not there, and no more."""
    named = live_model.registry.arms()
    pinned = live_model.pinned((named.control, named.challenger) if named else ())
    if named is None:
        return None
    row = session.execute(
        select(Experiment.id, Experiment.public_id, Experiment.name).where(
            Experiment.is_running.is_(True)
        )
    ).one_or_none()
    if row is None or str(row.public_id) != named.experiment:
        return None
    lives = {}
    for arm, generation in ((Arm.CONTROL, named.control), (Arm.CHALLENGER, named.challenger)):
        if generation == live.generation:
            lives[arm] = live
        elif pinned[generation].generation == generation:
            lives[arm] = pinned[generation].current(session, now=now)
        else:
            return None
    return _Arms(experiment_id=row.id, name=row.name, lives=lives)


def _named_alike(model: Model, control: Slate, challenger: Slate) -> Slate:
    """The challenger's slate with the control's paper in the place of a twin of it: two versions of
    a work are one proposal of both, and never stand in one list."""
    own, other = _ranked(challenger, control)
    own, other = (ids[model.items.look_up(ids)[1]] for ids in (own, other))
    found, of = twins(
        model.content, model.title_keys, model.items.positions(own), model.items.positions(other)
    )
    same = dict(zip(own[found].tolist(), other[of].tolist(), strict=True))
    same |= {item_id: item_id for item_id in other.tolist()}
    items = {
        same.get(item.item_id, item.item_id): item
        for item in reversed(challenger.items)  # of two that become one the better is left
    }
    renamed = [replace(item, item_id=item_id) for item_id, item in items.items()]
    return replace(challenger, items=tuple(sorted(renamed, key=lambda item: item.rank)))


def _own_chances(slate: Slate) -> Mapping[int, float | None]:
    return {item.item_id: item.propensity for item in slate.items}


def _chances(control: Slate, challenger: Slate, *, limit: int) -> Mapping[int, float | None]:
    """Exact where the coins of the draft are all that is left to chance. Where exploration draws,
    too, either list is one of very many, and the chance over all of them is not worked out."""
    items = (*control.items, *challenger.items)
    if any(item.propensity < 1 for item in items):
        return {item.item_id: None for item in items}
    return {**draft_chances(*_ranked(control, challenger), limit=limit)}


def _ranked(*slates: Slate) -> list[NDArray[np.int64]]:
    return [np.array(_ids(slate), np.int64) for slate in slates]


def _draft(
    control: Slate, challenger: Slate, *, limit: int, rng: np.random.Generator
) -> tuple[Slate, Mapping[int, Arm]]:
    """Each paper as the arm proposed it that it is from: its score, its parts and its reasons."""
    mixed = team_draft(*_ranked(control, challenger), limit=limit, rng=rng)
    of = {
        Arm.CONTROL: {item.item_id: item for item in control.items},
        Arm.CHALLENGER: {item.item_id: item for item in challenger.items},
    }
    by = {
        item_id: Arm.CHALLENGER if second else Arm.CONTROL
        for item_id, second in zip(mixed.item_ids.tolist(), mixed.second.tolist(), strict=True)
    }
    items = tuple(
        replace(of[arm][item_id], rank=place)
        for place, (item_id, arm) in enumerate(by.items(), start=1)
    )
    return replace(control, items=items), by


def _ids(slate: Slate) -> list[int]:
    return [item.item_id for item in slate.items]
