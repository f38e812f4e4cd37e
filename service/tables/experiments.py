"""Comparisons of two generations of the recommender by what people choose."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped, mapped_column

from service.tables.base import Base, ByValue, Public, is_one_of


class Arm(enum.StrEnum):
    """Who proposed a paper: what answers anyway, or what might take its place."""

    CONTROL = "control"
    CHALLENGER = "challenger"


class Decision(enum.StrEnum):
    UNDECIDED = "undecided"
    CONTROL = "control"
    CHALLENGER = "challenger"
    NO_DIFFERENCE = "no_difference"


class Experiment(Public, Base):
    """Two arms whose papers share each slate while it runs; at most one runs at a time."""

    __tablename__ = "experiment"
    __table_args__ = (is_one_of("decision", Decision), is_one_of("adopted", Arm))

    name: Mapped[str] = mapped_column(unique=True)
    is_running: Mapped[bool | None] = mapped_column(unique=True)
    """True or null, so that the database itself allows one only."""
    started_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    control_generation: Mapped[str]
    challenger_generation: Mapped[str]
    """Both as at the start; each impression names the generation that it came from."""
    control_settings: Mapped[dict[str, Any]]
    challenger_settings: Mapped[dict[str, Any]]
    """Where the arm's hyper-parameters differ from the defaults."""
    is_pinned: Mapped[bool]
    """Whether the arms stay these two generations; else each training makes both anew."""
    alpha: Mapped[float]
    margin: Mapped[float]
    decision: Mapped[Decision | None] = mapped_column(ByValue(Decision))
    """What the outcomes said when it was stopped."""
    adopted: Mapped[Arm | None] = mapped_column(ByValue(Arm))
    """The arm whose settings later trainings take."""
