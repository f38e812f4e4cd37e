"""What a person's interests are called and how much each counts; what they are made of is computed.

A training or a save makes the clusters anew. A row outlives that: its anchors say which of the new
clusters it is now.
"""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from service.db import Owned
from service.tables.base import Base, Public, Versioned

LARGEST_WEIGHT = 4.0


class Interest(Public, Versioned, Owned, Base):
    """One interest of one person, by what it is recognised, and what the person set.

    A row without papers today keeps its settings for the day when they come back.
    """

    __tablename__ = "interest"
    __table_args__ = (
        sa.CheckConstraint(f"weight BETWEEN 0 AND {LARGEST_WEIGHT:g}", name="weight_range"),
    )

    name: Mapped[str | None]
    """The person's own; without one the derived name is shown."""
    weight: Mapped[float] = mapped_column(sa.Double)
    muted: Mapped[bool]
    merged_into_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("interest.id", ondelete="SET NULL"), index=True
    )
    anchors: Mapped[list[int]] = mapped_column(sa.JSON)
    """Works that were in it when it was last looked at, a bounded sample; some may be gone."""
    terms: Mapped[list[str]] = mapped_column(sa.JSON)
    """What sets it apart, in words as people write them, the most telling first."""
    created_at: Mapped[datetime]
    matched_at: Mapped[datetime]
    """When anchors and terms were last brought up to date."""
