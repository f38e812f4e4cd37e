"""The base of all schemas: what is not asked for is refused, and the description says so."""

from dataclasses import dataclass
from typing import Any

import marshmallow as ma

from service.api.fields import QueryInt, Text, says

USUAL_WORDS = says(required="This is needed.", null="This cannot be null.")
LIST_WORDS = says(invalid="A list is needed.")
NOT_A_LIST = ma.fields.List.default_error_messages["invalid"]

SMALLEST_PAGE, USUAL_PAGE, LARGEST_PAGE = 1, 20, 100


class Schema(ma.Schema):
    """Unknown fields are refused by name, and every mistake is told in our own words."""

    class Meta:
        unknown = ma.RAISE

    error_messages = says(unknown="There is no such field.", type="A JSON object is needed.")

    def on_bind_field(self, field_name: str, field_obj: ma.fields.Field[Any]) -> None:
        field: ma.fields.Field[Any] | None = field_obj
        while field is not None:
            words = USUAL_WORDS | (LIST_WORDS if isinstance(field, ma.fields.List) else {})
            generic = {**ma.fields.Field.default_error_messages, "invalid": NOT_A_LIST}
            for mistake, said in words.items():
                if field.error_messages.get(mistake) == generic[mistake]:
                    field.error_messages[mistake] = said
            field = field.inner if isinstance(field, ma.fields.List) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of a list is wanted."""

    limit: int
    cursor: str | None


class PageQuery(Schema):
    """The parameters of every list; a subclass adds its filters."""

    limit = QueryInt(
        SMALLEST_PAGE,
        LARGEST_PAGE,
        load_default=USUAL_PAGE,
        metadata={"description": "How many at most."},
    )
    cursor = Text(
        longest=1_000,
        shortest=1,
        load_default=None,
        metadata={"description": "Where to go on: ``next_cursor`` of the page before."},
    )

    @ma.post_load
    def _page(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        data["page"] = Page(limit=data.pop("limit"), cursor=data.pop("cursor"))
        return data


def page_of(item: type[Schema]) -> type[ma.Schema]:
    """The schema of a list of these."""
    name = item.__name__.removesuffix("Schema")
    return Schema.from_dict(
        {
            "items": ma.fields.List(ma.fields.Nested(item), required=True),
            "next_cursor": ma.fields.String(
                required=True,
                allow_none=True,
                metadata={
                    "description": "Send it as ``cursor`` for the next page; null at the end."
                },
            ),
        },
        name=f"{name}PageSchema",
    )
