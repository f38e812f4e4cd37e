"""What crosses the door of the interests."""

from dataclasses import dataclass

from service.tables import Interest

USUAL_WEIGHT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestChange:
    """What to change; None leaves it as it is, but a name has ``renamed`` for that."""

    renamed: bool = False
    name: str | None = None
    """The person's own, or None for the derived one."""
    weight: float | None = None
    muted: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A group of papers as it is found today, and which interest it is."""

    interest: Interest | None
    """None for one that was not there before."""
    anchors: list[int]
    broken_off: Interest | None = None
    """The interest that most of a new one's papers were in until now."""
