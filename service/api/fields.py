"""The fields that requests and answers are made of, each strict, each true in the description."""

import enum
import re
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from apispec.ext.marshmallow.field_converter import FieldConverterMixin
from marshmallow.validate import Length, Range

from service.catalogue.identifiers import normalise_url
from service.errors import InvalidInput
from service.tables import LARGEST_INT, clean_text

SMALLEST_INT = -LARGEST_INT - 1

NO_CONTROLS = r"^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$"
"""How the description says what ``clean_text`` refuses; surrogates are no text to begin with."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_DIGITS = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def says(**messages: str) -> dict[str, Any]:
    """What a field says is needed, by marshmallow's name of the mistake."""
    return dict(messages)


class Text(ma.fields.String):
    """Text under the one text policy, its length counted in code points after normalising."""

    default_error_messages = says(invalid="Text is needed.")

    def __init__(
        self, *, longest: int, shortest: int = 0, strip: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(validate=Length(min=shortest or None, max=longest), **kwargs)
        self.strip = strip

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            text = clean_text(text or "")
        except InvalidInput as error:
            raise ma.ValidationError(str(error)) from error
        return text.strip() if self.strip else text


class Link(Text):
    """The address of a page, http or https; ``javascript:`` and its like never get in."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"format": "uri", **kwargs.pop("metadata", {})}
        super().__init__(longest=2_000, shortest=1, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            normalise_url(text)
        except InvalidInput as error:
            raise ma.ValidationError(str(error)) from error
        return text


class Int(ma.fields.Integer):
    """A JSON number without a fraction, within what an INTEGER column holds."""

    default_error_messages = says(invalid="A whole number is needed.")

    def __init__(
        self, smallest: int = SMALLEST_INT, largest: int = LARGEST_INT, **kwargs: Any
    ) -> None:
        super().__init__(strict=True, validate=Range(min=smallest, max=largest), **kwargs)


class Number(ma.fields.Float):
    """A JSON number; a text with digits in it is none, and neither is true."""

    default_error_messages = says(invalid="A number is needed.")

    def __init__(self, *, smallest: float, largest: float, **kwargs: Any) -> None:
        super().__init__(validate=Range(min=smallest, max=largest), **kwargs)

    def _validated(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Flag(ma.fields.Boolean):
    """JSON's true or false."""

    default_error_messages = says(invalid="Either true or false is needed.")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class QueryInt(Int):
    """A whole number in a query string: ASCII digits and nothing else."""

    def _validated(self, value: Any) -> int:
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        return super()._validated(value)


class QueryNumber(Number):
    """A decimal number in a query string."""

    default_error_messages = says(invalid="A number like 0.5 is needed.")

    def _validated(self, value: Any) -> float:
        if not (isinstance(value, str) and _DECIMAL.fullmatch(value)):
            raise self.make_error("invalid", input=value)
        return super()._validated(float(value))


class QueryFlag(ma.fields.Boolean):
    """``true`` or ``false`` in a query string."""

    default_error_messages = says(invalid="Either true or false is needed.")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise self.make_error("invalid")
        return bool(value == "true")


class QueryDate(ma.fields.Date):
    """A day as ISO 8601 writes it, 2026-12-01."""

    default_error_messages = says(invalid="A date like 2026-12-01 is needed.")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> date:
        if not (isinstance(value, str) and _DATE.fullmatch(value)):
            raise self.make_error("invalid", input=value, obj_type=self.OBJ_TYPE)
        return super()._deserialize(value, attr, data, **kwargs)


class Repeated(ma.fields.List[Any]):
    """A parameter that may come again; unlike those of other lists its values may hold commas."""


class Id(ma.fields.UUID):
    """The public id of a thing, in its one canonical form."""

    default_error_messages = says(invalid_uuid="A UUID like 3f2b8c1e-… is needed.")

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> UUID:
        if not (isinstance(value, str) and _UUID.fullmatch(value)):
            raise self.make_error("invalid_uuid")
        return UUID(value)


class Choice(ma.fields.Field[enum.StrEnum]):
    """One of the values of a StrEnum."""

    default_error_messages = says(unknown="One of {choices} is needed.")

    def __init__(self, of: type[enum.StrEnum], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.of = of

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else str(self.of(value).value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> enum.StrEnum:
        if not isinstance(value, str) or value not in set(self.of):
            raise self.make_error("unknown", choices=", ".join(self.of))
        return self.of(value)


class Time(ma.fields.Field[datetime]):
    """An instant as RFC 3339 writes it; answers are in UTC with a ``Z``."""

    default_error_messages = says(invalid="A time like 2026-12-01T09:00:00Z is needed.")

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else rfc_3339(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if not (isinstance(value, str) and _RFC_3339.fullmatch(value)):
            raise self.make_error("invalid")
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self.make_error("invalid") from error


def rfc_3339(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def describe_choice(
    _self: FieldConverterMixin, field: ma.fields.Field[Any], ret: dict[str, Any]
) -> dict[str, Any]:
    """For the description: what a Choice can be."""
    if not isinstance(field, Choice):
        return {}
    values: list[str | None] = [member.value for member in field.of]
    return {"enum": [*values, None] if field.allow_none else values}


def describe_text(
    _self: FieldConverterMixin, field: ma.fields.Field[Any], ret: dict[str, Any]
) -> dict[str, Any]:
    """For the description: which characters a Text can have."""
    if isinstance(field, Text) and "format" not in field.metadata and not field.dump_only:
        return {"pattern": NO_CONTROLS}
    return {}
