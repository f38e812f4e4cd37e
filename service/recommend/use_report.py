"""What people do with slates: opens and saves by position, and which arm they like better.

Sums only: nothing in here tells what one person did.

The unit of an experiment is a person's day. Of one person's slates of one day the saves of papers
that either arm had proposed are counted, and the arm with more of them has won that day; as many
are a tie and say nothing. So who saves fifty papers at a sitting has one voice, not fifty, as those
fifty are not independent. It is the day of the save, in UTC, and only days that are over count:
what was counted never changes, which a test that is looked at again and again needs. Opens are
compared in the same way, to be seen beside the saves; they decide nothing.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    SQLColumnExpression,
    and_,
    case,
    distinct,
    func,
    select,
)
from sqlalchemy.orm import Session

from models.artifacts.registry import Registry
from models.evaluation.sequential import Finding, interval, log_e_value, verdict
from service.db import system_scope
from service.recommend.experiments import why_alike, why_not_interleaved
from service.tables import (
    Arm,
    Decision,
    Experiment,
    Impression,
    Interaction,
    InteractionKind,
    Slate,
)

DONE_THERE = and_(
    Interaction.slate_id == Impression.slate_id, Interaction.position == Impression.position
)
"""An interaction came from the place where a paper was shown."""
LARGEST_EXPONENT = 700.0
"""e to a larger one is no float any more."""

DECISIONS = {
    Finding.OPEN: Decision.UNDECIDED,
    Finding.WINS: Decision.CHALLENGER,
    Finding.LOSES: Decision.CONTROL,
    Finding.NO_DIFFERENCE: Decision.NO_DIFFERENCE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceUse:
    """How a position was used; ``of`` is a generation, or the arm of an experiment."""

    of: str | None
    position: int
    impressions: int
    opens: int
    saves: int
    explored: int
    """Impressions of papers that had a chance below 1 to be there; none of an experiment, where it
    is the coin that leaves most to chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Days of people on which the challenger got more than the control, fewer, or as many.

    ``estimate`` is the challenger's share of the days that are no ties, None without any;
    ``low`` to ``high`` holds it at all looks together with the chance 1 - alpha.
    """

    wins: int
    losses: int
    ties: int
    days_not_over: int
    """Days of people that count from tomorrow on."""
    estimate: float | None
    low: float
    high: float
    e_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentReport:
    experiment: Experiment
    n_slates: int
    n_people: int
    n_alike: int
    """Slates while it ran that are not shared: both arms answered the same, or one of them could
    not answer or knew nothing of the person."""
    saves: Preference
    opens: Preference
    decision: Decision
    decided_on: date | None
    trouble: str | None
    """Why slates are not interleaved although it runs."""
    hint: str | None
    """Why there may be no difference to be found although they are."""
    places: tuple[PlaceUse, ...]

    @property
    def in_words(self) -> str:
        is_open = self.decision is Decision.UNDECIDED and not self.experiment.is_running
        return (_ENDED if is_open else _SENTENCES[self.decision]).format(
            margin=f"{50 - 100 * self.experiment.margin:g} to "
            f"{50 + 100 * self.experiment.margin:g} %",
            needed=f"{1 / self.experiment.alpha:g}",
        )


_ENDED = "Ended without a decision: neither arm had won, and a difference is not ruled out."
_SENTENCES = {
    Decision.UNDECIDED: "Keep watching: neither arm has won (an e-value of {needed} is needed), "
    "and a difference is not ruled out.",
    Decision.CHALLENGER: "The challenger wins: people save more of what it proposes.",
    Decision.CONTROL: "The control wins: people save more of what it proposes.",
    Decision.NO_DIFFERENCE: "No difference that matters: the challenger's share lies within "
    "{margin}.",
}


def experiment_report(
    session: Session, registry: Registry, experiment: Experiment, *, now: datetime
) -> ExperimentReport:
    """What came of an experiment so far, or up to its end."""
    until = min(now, experiment.stopped_at or now).date()
    with system_scope(session, "sums of an experiment"):
        n_slates, n_people = session.execute(
            select(func.count(), func.count(distinct(Slate.user_id)))
            .select_from(Slate)
            .where(Slate.experiment_id == experiment.id)
        ).one()
        n_alike = session.scalar(_n_alike(experiment, now)) or 0
        places = _places(session, Impression.arm, Slate.experiment_id == experiment.id)
        saves = _days(_credits(session, experiment, InteractionKind.SAVE))
        opens = _days(_credits(session, experiment, InteractionKind.OPEN))
    decision, decided_on = _decide(experiment, saves, until)
    return ExperimentReport(
        experiment=experiment,
        n_slates=n_slates,
        n_people=n_people,
        n_alike=n_alike,
        saves=_preference(saves, until, experiment.alpha),
        opens=_preference(opens, until, experiment.alpha),
        decision=experiment.decision or decision,
        decided_on=decided_on,
        trouble=why_not_interleaved(registry, experiment) if experiment.is_running else None,
        hint=why_alike(registry, experiment) if experiment.is_running else None,
        places=places,
    )


def use_of_slates(session: Session, *, since: datetime) -> tuple[PlaceUse, ...]:
    """How each position of each generation's slates was used, experiments left out."""
    with system_scope(session, "sums of the use of slates"):
        return _places(
            session, Slate.generation, and_(Slate.experiment_id.is_(None), Slate.at >= since)
        )


def summed(places: Iterable[PlaceUse], *, by_position: bool) -> list[PlaceUse]:
    """The same by position alone (``of`` None), or by generation or arm alone (position 0)."""
    groups: dict[tuple[str | None, int], list[PlaceUse]] = defaultdict(list)
    for place in places:
        groups[(None, place.position) if by_position else (place.of, 0)].append(place)
    return [
        PlaceUse(
            of=of,
            position=position,
            impressions=sum(one.impressions for one in group),
            opens=sum(one.opens for one in group),
            saves=sum(one.saves for one in group),
            explored=sum(one.explored for one in group),
        )
        for (of, position), group in sorted(
            groups.items(), key=lambda it: (it[0][0] or "", it[0][1])
        )
    ]


def _n_alike(experiment: Experiment, now: datetime) -> Select[int]:
    return (
        select(func.count())
        .select_from(Slate)
        .where(
            Slate.experiment_id.is_(None),
            Slate.at >= experiment.started_at,
            Slate.at <= (experiment.stopped_at or now),
        )
    )


def _places(
    session: Session, of: SQLColumnExpression[Any], which: ColumnElement[bool]
) -> tuple[PlaceUse, ...]:
    """An impression counts once, however often it was opened or saved."""

    def with_(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.count(distinct(case((condition, Impression.id))))

    rows = session.execute(
        select(
            of,
            Impression.position,
            func.count(distinct(Impression.id)),
            with_(Interaction.kind == InteractionKind.OPEN),
            with_(Interaction.kind == InteractionKind.SAVE),
            with_(and_(Impression.arm.is_(None), Impression.propensity < 1)),
        )
        .join(Slate, Slate.id == Impression.slate_id)
        .outerjoin(Interaction, DONE_THERE)
        .where(which)
        .group_by(of, Impression.position)
        .order_by(of, Impression.position)
    )
    return tuple(
        PlaceUse(
            of=None if name is None else str(name),
            position=position,
            impressions=impressions,
            opens=opens,
            saves=saves,
            explored=explored,
        )
        for name, position, impressions, opens, saves, explored in rows
    )


def _credits(
    session: Session, experiment: Experiment, kind: InteractionKind
) -> Sequence[Row[int, int, datetime, Arm | None]]:
    """Person, paper, time and arm of what was done from this experiment's slates, in order."""
    return session.execute(
        select(Interaction.user_id, Interaction.paper_id, Interaction.at, Impression.arm)
        .join(Slate, Slate.id == Interaction.slate_id)
        .join(Impression, DONE_THERE)
        .where(Slate.experiment_id == experiment.id, Interaction.kind == kind)
        .order_by(Interaction.id)
    ).all()


def _days(
    credits_: Sequence[Row[int, int, datetime, Arm | None]],
) -> Mapping[date, list[int]]:
    """For each day that something was done, the challenger's lead with each person of that day.

    A paper counts the first time: saving it again after second thoughts is no second vote.
    """
    leads: dict[date, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    counted: set[tuple[int, int]] = set()
    for user_id, paper_id, at, arm in credits_:
        if (user_id, paper_id) not in counted:
            counted.add((user_id, paper_id))
            leads[at.date()][user_id] += 1 if arm is Arm.CHALLENGER else -1
    return {day: list(leads[day].values()) for day in sorted(leads)}


def _decide(
    experiment: Experiment, days: Mapping[date, list[int]], until: date
) -> tuple[Decision, date | None]:
    """What was found first, and at the end of which day."""
    over = [day for day in days if day < until]
    wins = np.cumsum([sum(lead > 0 for lead in days[day]) for day in over], dtype=np.int64)
    losses = np.cumsum([sum(lead < 0 for lead in days[day]) for day in over], dtype=np.int64)
    found = verdict(wins, losses, alpha=experiment.alpha, margin=experiment.margin)
    return DECISIONS[found.finding], None if found.look is None else over[found.look]


def _preference(days: Mapping[date, list[int]], until: date, alpha: float) -> Preference:
    leads = [lead for day, those in days.items() if day < until for lead in those]
    wins, losses = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    low, high = interval(wins, losses, alpha=alpha)
    return Preference(
        wins=wins,
        losses=losses,
        ties=len(leads) - wins - losses,
        days_not_over=sum(len(those) for day, those in days.items() if day >= until),
        estimate=wins / (wins + losses) if wins + losses else None,
        low=low,
        high=high,
        e_value=math.exp(min(float(log_e_value(wins, losses)), LARGEST_EXPONENT)),
    )
