"""Feedback: papers that are not to be recommended, and why."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.records import Scope
from service.api.failures import naming
from service.api.fields import Choice, Id, Int, Time
from service.api.pages import Answer, page_answer, place_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import session, user_id
from service.api.v1.paper_schemas import PaperSchema
from service.library.actions import give_feedback, undo_feedback
from service.library.queries import dismissals_page, get_dismissal
from service.library.records import NewFeedback
from service.tables import Dismissal, FeedbackKind

LONGEST_SNOOZE_DAYS = 365

blp = Blueprint(
    "feedback", __name__, url_prefix="/api/v1/feedback", description="What you do not want to see"
)

EXAMPLE = {
    "paper_id": "6f1d5c0e-4a7b-4a8e-9d57-3f0f9b8f2f10",
    "kind": "later",
    "snooze_days": 30,
}


class NewFeedbackSchema(Schema):
    paper_id = Id(required=True)
    kind = Choice(
        FeedbackKind,
        required=True,
        metadata={
            "description": "``seen``: known already; ``later``: not for ``snooze_days``; "
            "``not_my_topic``: less of its kind; ``low_quality``: not this one."
        },
    )
    snooze_days = Int(
        1,
        LONGEST_SNOOZE_DAYS,
        load_default=None,
        metadata={"description": "Goes with ``later``, and only with it."},
    )
    slate_id = Id(
        load_default=None, metadata={"description": "The list of recommendations it was in."}
    )

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewFeedback:
        days = data.pop("snooze_days")
        return NewFeedback(**data, snooze=None if days is None else timedelta(days=days))


class FeedbackSchema(Schema):
    id = Id(required=True)
    kind = Choice(FeedbackKind, required=True)
    until = Time(required=True, allow_none=True, metadata={"description": "When a ``later`` ends."})
    dismissed_at = Time(required=True)
    paper = ma.fields.Nested(PaperSchema, required=True)

    @ma.pre_dump
    def _shown(self, dismissal: Dismissal, **_: Any) -> dict[str, Any]:
        return {
            "id": dismissal.public_id,
            "kind": dismissal.kind,
            "until": dismissal.until,
            "dismissed_at": dismissal.dismissed_at,
            "paper": dismissal.paper,
        }


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(FeedbackSchema))
def list_feedback(query: dict[str, Any]) -> Answer:
    """List what you dismissed

    Dismissed last comes first.
    """
    page: Page = query["page"]
    rows = dismissals_page(session(), user_id(), after=place_after(page), limit=page.limit + 1)
    return page_answer(rows, page, lambda row: (row.dismissed_at, row.public_id))


@blp.post("")
@blp.needs(Scope.FEEDBACK_WRITE, location=True)
@blp.arguments(NewFeedbackSchema, example=EXAMPLE)
@blp.response(201, FeedbackSchema)
@blp.alt_response(200, schema=FeedbackSchema, description="It was dismissed already; this counts")
def create_feedback(new: NewFeedback) -> Any:
    """Dismiss a paper

    Said again of the same paper, the last word counts. Your next recommendations know of it.
    """
    with naming("paper_id"):
        dismissal, is_new = give_feedback(session(), user_id(), new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/feedback/{dismissal.public_id}"}
    return dismissal, 201 if is_new else 200, headers


@blp.get("/<uuid:feedback_id>")
@blp.needs(Scope.LIBRARY_READ)
@blp.response(200, FeedbackSchema)
def show_feedback(feedback_id: UUID) -> Dismissal:
    """Show what you said of a paper

    And until when it counts.
    """
    return get_dismissal(session(), user_id(), feedback_id)


@blp.delete("/<uuid:feedback_id>")
@blp.needs(Scope.FEEDBACK_WRITE)
@blp.response(204)
def delete_feedback(feedback_id: UUID) -> Response:
    """Undo a dismissal

    The paper may be recommended again.
    """
    undo_feedback(session(), user_id(), feedback_id, now=datetime.now(UTC))
    return Response(status=204)
