"""What happened, append-only: slates that were shown, and what people did with papers."""

import enum
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from service.db import Owned
from service.tables.base import Base, ByValue, Public, is_one_of
from service.tables.experiments import Arm


class InteractionKind(enum.StrEnum):
    SAVE = "save"
    UNSAVE = "unsave"
    STATUS = "status"
    OPEN = "open"
    RATE = "rate"
    UNRATE = "unrate"
    DISMISS = "dismiss"
    UNDISMISS = "undismiss"
    MORE_LIKE_THIS = "more_like_this"


class Slate(Public, Owned, Base):
    """A list of recommendations as it was answered, and by which model."""

    __tablename__ = "slate"

    at: Mapped[datetime]
    generation: Mapped[str | None]
    strategy: Mapped[str] = mapped_column(sa.String(32))
    library_version: Mapped[int] = mapped_column(sa.BigInteger)
    catalogue_version: Mapped[int] = mapped_column(sa.BigInteger)
    experiment_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("experiment.id", ondelete="SET NULL"), index=True
    )
    """The experiment that put it together from two generations, if one did."""


class Impression(Owned, Base):
    """A paper shown at a position of a slate, with the probability that it was chosen."""

    __tablename__ = "impression"
    __table_args__ = (sa.UniqueConstraint("slate_id", "position"), is_one_of("arm", Arm))

    slate_id: Mapped[int] = mapped_column(sa.ForeignKey("slate.id", ondelete="CASCADE"))
    position: Mapped[int]
    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    score: Mapped[float]
    propensity: Mapped[float | None]
    """Null where it is not known: in the slate of an experiment, if exploration drew as well."""
    arm: Mapped[Arm | None] = mapped_column(ByValue(Arm))
    """Who proposed it, in the slate of an experiment."""
    generation: Mapped[str | None]
    """The generation of the arm; null where the slate says it."""


class Interaction(Owned, Base):
    """One event of a person with a paper; never changed, never removed while the person stays.

    The four last columns are copied from the slate that showed the paper, where one did.
    """

    __tablename__ = "interaction"
    __table_args__ = (
        is_one_of("kind", InteractionKind),
        sa.Index(None, "user_id", "paper_id", "kind"),
    )

    paper_id: Mapped[int] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    kind: Mapped[InteractionKind] = mapped_column(ByValue(InteractionKind))
    value: Mapped[str | None] = mapped_column(sa.String(32))
    """Stars, the new status or the kind of feedback."""
    at: Mapped[datetime] = mapped_column(index=True)
    slate_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("slate.id", ondelete="SET NULL"), index=True
    )
    position: Mapped[int | None]
    generation: Mapped[str | None]
    propensity: Mapped[float | None]
