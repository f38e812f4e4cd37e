"""Interests: what your library is about, and how much of each you want."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.records import Scope
from service.api import etags
from service.api.fields import Flag, Id, Int, Number, Text
from service.api.pages import Answer, page_answer, position_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import close_session, open_session, principal, runtime, session, user_id
from service.api.v1.model_schemas import ModelSchema
from service.api.v1.paper_schemas import PaperSchema
from service.interests.actions import (
    LONGEST_NAME,
    change_interest,
    merge_interest,
    undo_merge,
)
from service.interests.records import USUAL_WEIGHT, InterestChange
from service.recommend.interests import (
    MyInterests,
    papers_page,
    read_interests,
    remember_interests,
    summaries,
    summary_of,
)
from service.recommend.records import InterestSummary
from service.recommend.serve import model_facts
from service.tables import LARGEST_WEIGHT

blp = Blueprint(
    "interests", __name__, url_prefix="/api/v1/interests", description="What your library is about"
)


class InterestNameSchema(Schema):
    id = Id(required=True)
    name = ma.fields.String(required=True)


class InterestSchema(Schema):
    id = Id(required=True)
    name = ma.fields.String(required=True, metadata={"description": "Yours, or the derived one."})
    derived_name = ma.fields.String(required=True)
    terms = ma.fields.List(
        ma.fields.String(),
        required=True,
        metadata={"description": "What sets it apart from your others, most telling first."},
    )
    n_papers = Int(required=True)
    share = ma.fields.Float(
        required=True,
        metadata={
            "description": "Of a list of recommendations: it has at least the whole places of this "
            "share. From its papers, its weight and what you said was not your topic."
        },
    )
    weight = ma.fields.Float(required=True)
    muted = ma.fields.Boolean(required=True)
    merged = ma.fields.List(
        ma.fields.Nested(InterestNameSchema),
        required=True,
        metadata={"description": "The interests that are merged into this one."},
    )
    merged_into = Id(required=True, allow_none=True)
    version = Int(required=True)
    papers = ma.fields.List(
        ma.fields.Nested(PaperSchema),
        required=True,
        metadata={"description": "The most typical of your papers in it, at most three."},
    )


class InterestsSchema(Schema):
    model = ma.fields.Nested(ModelSchema, required=True)
    items = ma.fields.List(ma.fields.Nested(InterestSchema), required=True)


class InterestPaperSchema(Schema):
    position = Int(required=True, metadata={"description": "From 1, the most typical."})
    paper = ma.fields.Nested(PaperSchema, required=True)


class InterestChangeSchema(Schema):
    """What to change; what is left out stays as it is, and null goes back to the usual."""

    name = Text(
        longest=LONGEST_NAME,
        shortest=1,
        allow_none=True,
        metadata={"description": "Your name for it; null for the derived one."},
    )
    weight = Number(
        smallest=0,
        largest=LARGEST_WEIGHT,
        allow_none=True,
        metadata={
            "description": "How much it counts against your other interests; 1 is usual. 0 "
            "recommends nothing of it, as `muted` does, which stays as it is."
        },
    )
    muted = Flag(
        allow_none=True,
        metadata={"description": "Whether to recommend nothing of it."},
    )

    @ma.post_load
    def _change(self, data: dict[str, Any], **_: Any) -> InterestChange:
        if not data:
            raise ma.ValidationError("Name at least one of name, weight and muted.")
        usual: dict[str, Any] = {"weight": USUAL_WEIGHT, "muted": False}
        given = {key: usual.get(key) if value is None else value for key, value in data.items()}
        return InterestChange(renamed="name" in data, **given)


class MergeSchema(Schema):
    into = Id(required=True, metadata={"description": "The interest that it becomes a part of."})


def my_interests(now: datetime) -> MyInterests:
    """The caller's interests, each with a row; a GET that has to write one does it on its own.

    Which interests there are follows from the library, so it is a reader who notices a new one.
    """
    mine = read_interests(session(), runtime().live_model, user_id(), now=now)
    if mine.still_fit:
        return mine
    remember_my_interests(now)
    return read_interests(session(), runtime().live_model, user_id(), now=now)


def remember_my_interests(now: datetime) -> None:
    """Give each of them a row, for a GET that met one without; the session is a new one then."""
    close_session()
    with open_session(principal(), to_write=True) as writing:
        remember_interests(writing, runtime().live_model, user_id(), now=now)
        writing.commit()
    open_session(principal(), to_write=False)


@blp.get("")
@blp.needs(Scope.LIBRARY_READ)
@blp.response(200, InterestsSchema)
def list_interests() -> dict[str, Any]:
    """List your interests

    Found in what you like, the largest first; a small library, or one about one thing, is one
    interest. An interest keeps its id and your settings while your library changes. One whose
    papers have all gone is not listed; its settings are there again when such papers are.
    """
    now = datetime.now(UTC)
    mine = my_interests(now)  # first: it may open another session
    model = model_facts(session(), runtime().live_model, now=now)
    return {"model": model, "items": summaries(session(), mine)}


@blp.get("/<uuid:interest_id>")
@blp.needs(Scope.LIBRARY_READ, etag=True)
@blp.response(200, InterestSchema)
def show_interest(interest_id: UUID) -> Any:
    """Show an interest

    Its ETag is what a change of it needs in If-Match.
    """
    mine = my_interests(datetime.now(UTC))
    shown = summary_of(session(), mine, interest_id)
    return etags.not_modified(shown) or (shown, 200, etags.etag_header(shown))


@blp.get("/<uuid:interest_id>/papers")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(InterestPaperSchema))
def list_interest_papers(query: dict[str, Any], interest_id: UUID) -> Answer:
    """List your papers of an interest

    The most typical first. Pages go by position: a save between two of them can shift one.
    """
    page: Page = query["page"]
    mine = my_interests(datetime.now(UTC))
    after = position_after(page)
    rows = papers_page(session(), mine, interest_id, after=after, limit=page.limit + 1)
    body, status, headers = page_answer(rows, page, lambda row: row[0])
    body["items"] = [{"position": position, "paper": paper} for position, paper in body["items"]]
    return body, status, headers


@blp.patch("/<uuid:interest_id>")
@blp.needs(Scope.LIBRARY_WRITE, if_match=True, errors=(409,))
@blp.arguments(InterestChangeSchema)
@blp.response(200, InterestSchema)
def update_interest(change: InterestChange, interest_id: UUID) -> Any:
    """Change an interest

    Its name, its weight, or whether it is muted. Your next recommendations know of it.
    """
    change_interest(
        session(), user_id(), interest_id, change, expected_version=etags.expected_version()
    )
    return _as_it_is_now(interest_id)


@blp.post("/<uuid:interest_id>/merge")
@blp.needs(Scope.LIBRARY_WRITE, answers_etag=True, errors=(409,))
@blp.arguments(MergeSchema)
@blp.response(200, InterestSchema)
def create_merge(new: dict[str, Any], interest_id: UUID) -> Any:
    """Merge an interest into another

    The other one's name and settings hold for both from then on, also when your library has
    changed. The answer is the other one.
    """
    merge_interest(session(), user_id(), interest_id, new["into"])
    return _as_it_is_now(new["into"])


@blp.delete("/<uuid:interest_id>/merge")
@blp.needs(Scope.LIBRARY_WRITE, if_match=True)
@blp.response(204)
def delete_merge(interest_id: UUID) -> Response:
    """Undo the merge of an interest

    It is one of its own again, with the settings that it had. The ETag is that of the interest
    that was merged, not of the one that it was merged into.
    """
    undo_merge(session(), user_id(), interest_id, expected_version=etags.expected_version())
    _renamed()
    return Response(status=204)


def _renamed() -> MyInterests:
    return remember_interests(session(), runtime().live_model, user_id(), now=datetime.now(UTC))


def _as_it_is_now(interest_id: UUID) -> tuple[InterestSummary, int, dict[str, str]]:
    shown = summary_of(session(), _renamed(), interest_id)
    return shown, 200, etags.etag_header(shown)
