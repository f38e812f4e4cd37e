"""Feedback: what a person says of a paper, and what the recommendations make of it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import marshmallow as ma

from service.accounts.records import Scope
from service.api import etags
from service.api.effects import EffectUnlessRefused, effect_field, tell_effect
from service.api.failures import naming
from service.api.fields import Choice, Id, Int, Time
from service.api.pages import Answer, page_answer, place_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import session, user_id
from service.api.v1.paper_schemas import PaperSchema
from service.library.feedback import change_feedback, give_feedback, undo_feedback
from service.library.queries import feedback_page, get_feedback
from service.library.records import FeedbackChange, NewFeedback
from service.tables import Feedback, FeedbackKind

LONGEST_SNOOZE_DAYS = 365

blp = Blueprint(
    "feedback", __name__, url_prefix="/api/v1/feedback", description="What you say of papers"
)

EXAMPLE = {
    "paper_id": "6f1d5c0e-4a7b-4a8e-9d57-3f0f9b8f2f10",
    "kind": "later",
    "snooze_days": 30,
}


KINDS = (
    "``seen``: known already, which says nothing of your taste; ``later``: not for "
    "``snooze_days``, nor does that; ``not_my_topic``: a dislike, less of its kind; "
    "``low_quality``: not this one, its topic may be right; ``more_like_this``: as good a sign as "
    "a bookmark, without one. None of these papers is recommended while that stands."
)


def _kind() -> Choice:
    return Choice(FeedbackKind, required=True, metadata={"description": KINDS})


def _snooze_days() -> Int:
    description = "Goes with ``later``, and only with it."
    return Int(1, LONGEST_SNOOZE_DAYS, load_default=None, metadata={"description": description})


def _with_snooze(data: dict[str, Any]) -> dict[str, Any]:
    days = data.pop("snooze_days")
    return {**data, "snooze": None if days is None else timedelta(days=days)}


class NewFeedbackSchema(Schema):
    paper_id = Id(required=True)
    kind = _kind()
    snooze_days = _snooze_days()
    slate_id = Id(
        load_default=None, metadata={"description": "The list of recommendations it was in."}
    )

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewFeedback:
        return NewFeedback(**_with_snooze(data))


class FeedbackChangeSchema(Schema):
    kind = _kind()
    snooze_days = _snooze_days()

    @ma.post_load
    def _change(self, data: dict[str, Any], **_: Any) -> FeedbackChange:
        return FeedbackChange(**_with_snooze(data))


class FeedbackSchema(Schema):
    id = Id(required=True)
    kind = Choice(FeedbackKind, required=True)
    until = Time(required=True, allow_none=True, metadata={"description": "When a ``later`` ends."})
    given_at = Time(required=True)
    version = Int(required=True)
    paper = ma.fields.Nested(PaperSchema, required=True)

    @ma.pre_dump
    def _shown(self, said: Feedback, **_: Any) -> dict[str, Any]:
        return {
            "id": said.public_id,
            "kind": said.kind,
            "until": said.until,
            "given_at": said.given_at,
            "version": said.version,
            "paper": said.paper,
        }


class AnsweredFeedbackSchema(FeedbackSchema):
    effect = effect_field(dump_default=None)


class UndoneFeedbackSchema(Schema):
    effect = effect_field(required=True)


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(FeedbackSchema))
def list_feedback(query: dict[str, Any]) -> Answer:
    """List what you said of papers

    What you said last comes first.
    """
    page: Page = query["page"]
    rows = feedback_page(session(), user_id(), after=place_after(page), limit=page.limit + 1)
    return page_answer(rows, page, lambda row: (row.given_at, row.public_id))


@blp.post("")
@blp.needs(Scope.FEEDBACK_WRITE, location=True, answers_etag=True)
@blp.arguments(EffectUnlessRefused, location="query")
@blp.arguments(NewFeedbackSchema, example=EXAMPLE)
@blp.response(201, AnsweredFeedbackSchema)
@blp.alt_response(
    200, schema=AnsweredFeedbackSchema, description="Something was said already; this counts"
)
def create_feedback(query: dict[str, Any], new: NewFeedback) -> Any:
    """Say something of a paper

    Said again of the same paper, the last word counts. Your next recommendations know of it, and
    ``effect`` says what it changed.
    """
    if query["effect"]:
        tell_effect()
    with naming("paper_id"):
        said, is_new = give_feedback(session(), user_id(), new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/feedback/{said.public_id}", **etags.etag_header(said)}
    return said, 201 if is_new else 200, headers


@blp.get("/<uuid:feedback_id>")
@blp.needs(Scope.LIBRARY_READ, etag=True)
@blp.response(200, FeedbackSchema)
def show_feedback(feedback_id: UUID) -> Any:
    """Show what you said of a paper

    And until when it counts. Its ETag is what a change of it needs in If-Match.
    """
    said = get_feedback(session(), user_id(), feedback_id)
    return etags.not_modified(said) or (said, 200, etags.etag_header(said))


@blp.patch("/<uuid:feedback_id>")
@blp.needs(Scope.FEEDBACK_WRITE, if_match=True)
@blp.arguments(EffectUnlessRefused, location="query")
@blp.arguments(FeedbackChangeSchema)
@blp.response(200, AnsweredFeedbackSchema)
def update_feedback(query: dict[str, Any], change: FeedbackChange, feedback_id: UUID) -> Any:
    """Say something else of a paper

    It takes the place of what you said before, with all its effects.
    """
    if query["effect"]:
        tell_effect()
    said = change_feedback(
        session(),
        user_id(),
        feedback_id,
        change,
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return said, 200, etags.etag_header(said)


@blp.delete("/<uuid:feedback_id>")
@blp.needs(Scope.FEEDBACK_WRITE, if_match=True)
@blp.arguments(EffectUnlessRefused, location="query")
@blp.response(200, UndoneFeedbackSchema)
def delete_feedback(query: dict[str, Any], feedback_id: UUID) -> dict[str, Any]:
    """Take back what you said of a paper

    Everything is then as if you had never said it.
    """
    if query["effect"]:
        tell_effect()
    undo_feedback(
        session(),
        user_id(),
        feedback_id,
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return {"effect": None}
