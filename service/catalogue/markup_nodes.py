"""What markup is read into: a small tree of texts, styles, formulas and links."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["em", "strong", "code", "smallcaps", "plain"]


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Styled:
    style: Style
    children: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """What stands between the dollars, as written."""

    source: str
    is_display: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    children: tuple["Node", ...]


Node: TypeAlias = Text | Styled | Formula | Link
