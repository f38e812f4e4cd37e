"""Bookmarks: a person's reading list."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.records import Scope
from service.api import etags
from service.api.effects import EffectIfAsked, effect_field, tell_effect
from service.api.failures import naming
from service.api.fields import Choice, Id, Int, Text, Time
from service.api.pages import Answer, page_answer, place_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import session, user_id
from service.api.v1.paper_schemas import PaperSchema
from service.library.actions import change_bookmark, remove_bookmark, save_bookmark
from service.library.queries import bookmarks_page, get_bookmark
from service.library.records import BookmarkChange, BookmarkFilter, NewBookmark
from service.library.tags import MOST_TAGS
from service.tables import Bookmark, ReadingStatus

LONGEST_TAG = 100
LONGEST_NOTE = 20_000

blp = Blueprint(
    "bookmarks", __name__, url_prefix="/api/v1/bookmarks", description="Your reading list"
)

EXAMPLE = {
    "paper_id": "6f1d5c0e-4a7b-4a8e-9d57-3f0f9b8f2f10",
    "status": "to_read",
    "tags": ["diffusion", "to discuss"],
}


def _tags(**options: Any) -> ma.fields.List[Any]:
    return ma.fields.List(
        Text(longest=LONGEST_TAG, shortest=1),
        validate=ma.validate.Length(max=MOST_TAGS),
        metadata={"example": ["diffusion", "to discuss"]},
        **options,
    )


class BookmarkQuery(PageQuery):
    status = Choice(ReadingStatus, load_default=None)
    tag = Text(longest=LONGEST_TAG, shortest=1, load_default=None)

    @ma.post_load
    def _filter(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        data["which"] = BookmarkFilter(status=data.pop("status"), tag=data.pop("tag"))
        return data


class NewBookmarkSchema(Schema):
    paper_id = Id(required=True)
    status = Choice(ReadingStatus, load_default=ReadingStatus.TO_READ)
    note = Text(longest=LONGEST_NOTE, load_default="")
    tags = _tags(load_default=())
    slate_id = Id(
        load_default=None, metadata={"description": "The list of recommendations it was in."}
    )

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewBookmark:
        return NewBookmark(**{**data, "tags": tuple(data["tags"])})


class BookmarkChangeSchema(Schema):
    """What to change; what is left out stays as it is."""

    status = Choice(ReadingStatus)
    note = Text(longest=LONGEST_NOTE)
    tags = _tags()

    @ma.post_load
    def _change(self, data: dict[str, Any], **_: Any) -> BookmarkChange:
        if not data:
            raise ma.ValidationError("Name at least one of status, note and tags.")
        if "tags" in data:
            data["tags"] = tuple(data["tags"])
        return BookmarkChange(**data)


class BookmarkSchema(Schema):
    id = Id(required=True)
    status = Choice(ReadingStatus, required=True)
    note = ma.fields.String(required=True)
    tags = ma.fields.List(ma.fields.String(), required=True)
    saved_at = Time(required=True)
    changed_at = Time(required=True)
    version = Int(required=True)
    paper = ma.fields.Nested(PaperSchema, required=True)

    @ma.pre_dump
    def _shown(self, bookmark: Bookmark, **_: Any) -> dict[str, Any]:
        return {
            "id": bookmark.public_id,
            "status": bookmark.status,
            "note": bookmark.note,
            "tags": [tag.name for tag in bookmark.tags],
            "saved_at": bookmark.saved_at,
            "changed_at": bookmark.changed_at,
            "version": bookmark.version,
            "paper": bookmark.paper,
        }


class SavedBookmarkSchema(BookmarkSchema):
    effect = effect_field(metadata={"description": "Only if asked for."})


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(BookmarkQuery, location="query")
@blp.response(200, page_of(BookmarkSchema))
def list_bookmarks(query: dict[str, Any]) -> Answer:
    """List your bookmarks

    Saved last comes first; with ``status`` or ``tag`` only those.
    """
    page: Page = query["page"]
    rows = bookmarks_page(
        session(), user_id(), query["which"], after=place_after(page), limit=page.limit + 1
    )
    return page_answer(rows, page, lambda row: (row.saved_at, row.public_id))


@blp.post("")
@blp.needs(Scope.LIBRARY_WRITE, location=True, answers_etag=True)
@blp.arguments(EffectIfAsked, location="query")
@blp.arguments(NewBookmarkSchema, example=EXAMPLE)
@blp.response(201, SavedBookmarkSchema)
@blp.alt_response(200, schema=SavedBookmarkSchema, description="It was on the list already")
def create_bookmark(query: dict[str, Any], new: NewBookmark) -> Any:
    """Save a paper

    Saving it again changes nothing and answers with the bookmark that is there. Your next
    recommendations know of it.
    """
    if query["effect"]:
        tell_effect()
    with naming("paper_id"):
        bookmark, is_new = save_bookmark(session(), user_id(), new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/bookmarks/{bookmark.public_id}"}
    return bookmark, 201 if is_new else 200, {**headers, **etags.etag_header(bookmark)}


@blp.get("/<uuid:bookmark_id>")
@blp.needs(Scope.LIBRARY_READ, etag=True)
@blp.response(200, BookmarkSchema)
def show_bookmark(bookmark_id: UUID) -> Any:
    """Show a bookmark

    Its ETag is what a change of it needs in If-Match.
    """
    bookmark = get_bookmark(session(), user_id(), bookmark_id)
    return etags.not_modified(bookmark) or (bookmark, 200, etags.etag_header(bookmark))


@blp.patch("/<uuid:bookmark_id>")
@blp.needs(Scope.LIBRARY_WRITE, if_match=True)
@blp.arguments(BookmarkChangeSchema)
@blp.response(200, BookmarkSchema)
def update_bookmark(change: BookmarkChange, bookmark_id: UUID) -> Any:
    """Change a bookmark

    Its status, its note, or all of its tags.
    """
    bookmark = change_bookmark(
        session(),
        user_id(),
        bookmark_id,
        change,
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return bookmark, 200, etags.etag_header(bookmark)


@blp.delete("/<uuid:bookmark_id>")
@blp.needs(Scope.LIBRARY_WRITE, if_match=True)
@blp.response(204)
def delete_bookmark(bookmark_id: UUID) -> Response:
    """Take a paper off the list

    Its note and tags go with it; the paper and your rating of it stay.
    """
    remove_bookmark(
        session(),
        user_id(),
        bookmark_id,
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return Response(status=204)
