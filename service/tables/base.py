"""What every table is made of: names, times, texts and ids that mean the same on both databases."""

import enum
import re
import unicodedata
import uuid
from datetime import UTC, datetime
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from service.errors import InvalidInput

LARGEST_INT = 2**31 - 1
"""The largest value of an INTEGER column; SQLite would take more, PostgreSQL would not."""

_REFUSED_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff￾￿]")


def clean_text(text: str, *, field: str | None = None) -> str:
    """The text as both databases keep it: NFC, with ``\\n`` line ends.

    Raises InvalidInput at a control character other than tab and newline, and at a lone surrogate.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if found := _REFUSED_CHARACTERS.search(text):
        raise InvalidInput(
            f"Character U+{ord(found.group()):04X} at position {found.start()} is not allowed; "
            "send text without control characters.",
            field=field,
        )
    return unicodedata.normalize("NFC", text)


class CleanText(TypeDecorator[str]):
    """Text under the one text policy; what breaks it never reaches a database."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else clean_text(value)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware times, kept in UTC; a naive one is refused. SQLite forgets the zone, this does not."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a naive datetime has no place in the database; give it a zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ByValue(TypeDecorator[Any]):
    """A StrEnum kept as its value in a plain text column, the allowed values in a CHECK.

    Native enums need their own migrations on PostgreSQL and do not exist on SQLite.
    """

    impl = sa.String(32)
    cache_ok = True

    def __init__(self, of: type[enum.StrEnum]) -> None:
        super().__init__()
        self.of = of

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else self.of(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> enum.StrEnum | None:
        return None if value is None else self.of(value)


def is_one_of(column: str, of: type[enum.StrEnum]) -> sa.CheckConstraint:
    """The CHECK that goes with a ByValue column."""
    values = ", ".join(f"'{member.value}'" for member in of)
    return sa.CheckConstraint(f"{column} IN ({values})", name=f"{column}_known")


class Base(DeclarativeBase):
    """All tables share these names, so that both databases and every migration agree."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: CleanText(),
        datetime: UtcDateTime(),
        uuid.UUID: sa.Uuid(),
        dict[str, Any]: sa.JSON(),
        bytes: sa.LargeBinary(),
    }

    id: Mapped[int] = mapped_column(primary_key=True, sort_order=-3)


class Public:
    """Mixin of rows that are named outside: a random 128-bit id, never the primary key."""

    public_id: Mapped[uuid.UUID] = mapped_column(default=uuid.uuid4, unique=True, sort_order=-2)


class Versioned:
    """Mixin of rows that people change: ``version`` is the ETag and grows with each change."""

    version: Mapped[int] = mapped_column(default=1)
