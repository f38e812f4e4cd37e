"""Ratings: one to five stars for a paper, saved or not."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.records import Scope
from service.api import etags
from service.api.effects import EffectIfAsked, effect_field, tell_effect
from service.api.failures import naming
from service.api.fields import Id, Int, Time
from service.api.pages import Answer, page_answer, place_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import session, user_id
from service.api.v1.paper_schemas import PaperSchema
from service.library.actions import change_rating, remove_rating, save_rating
from service.library.queries import get_rating, ratings_page
from service.library.records import NewRating
from service.tables import Rating

blp = Blueprint("ratings", __name__, url_prefix="/api/v1/ratings", description="Your stars")

EXAMPLE = {"paper_id": "6f1d5c0e-4a7b-4a8e-9d57-3f0f9b8f2f10", "stars": 5}


def _stars() -> Int:
    return Int(1, 5, required=True, metadata={"example": 4})


class NewRatingSchema(Schema):
    paper_id = Id(required=True)
    stars = _stars()
    slate_id = Id(
        load_default=None, metadata={"description": "The list of recommendations it was in."}
    )

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewRating:
        return NewRating(**data)


class RatingChangeSchema(Schema):
    stars = _stars()


class RatingSchema(Schema):
    id = Id(required=True)
    stars = _stars()
    rated_at = Time(required=True)
    version = Int(required=True)
    paper = ma.fields.Nested(PaperSchema, required=True)

    @ma.pre_dump
    def _shown(self, rating: Rating, **_: Any) -> dict[str, Any]:
        return {
            "id": rating.public_id,
            "stars": rating.stars,
            "rated_at": rating.rated_at,
            "version": rating.version,
            "paper": rating.paper,
        }


class GivenRatingSchema(RatingSchema):
    effect = effect_field(metadata={"description": "Only if asked for."})


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(RatingSchema))
def list_ratings(query: dict[str, Any]) -> Answer:
    """List your ratings

    Rated last comes first.
    """
    page: Page = query["page"]
    rows = ratings_page(session(), user_id(), after=place_after(page), limit=page.limit + 1)
    return page_answer(rows, page, lambda row: (row.rated_at, row.public_id))


@blp.post("")
@blp.needs(Scope.FEEDBACK_WRITE, location=True, answers_etag=True)
@blp.arguments(EffectIfAsked, location="query")
@blp.arguments(NewRatingSchema, example=EXAMPLE)
@blp.response(201, GivenRatingSchema)
@blp.alt_response(
    200, schema=GivenRatingSchema, description="It was rated already; the new stars count"
)
def create_rating(query: dict[str, Any], new: NewRating) -> Any:
    """Rate a paper

    A paper has one rating of yours: the last stars count. 4 and 5 bring more of its kind, 1 and
    2 less.
    """
    if query["effect"]:
        tell_effect()
    with naming("paper_id"):
        rating, is_new = save_rating(session(), user_id(), new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/ratings/{rating.public_id}", **etags.etag_header(rating)}
    return rating, 201 if is_new else 200, headers


@blp.get("/<uuid:rating_id>")
@blp.needs(Scope.LIBRARY_READ, etag=True)
@blp.response(200, RatingSchema)
def show_rating(rating_id: UUID) -> Any:
    """Show a rating

    Its ETag is what a change of it needs in If-Match.
    """
    rating = get_rating(session(), user_id(), rating_id)
    return etags.not_modified(rating) or (rating, 200, etags.etag_header(rating))


@blp.patch("/<uuid:rating_id>")
@blp.needs(Scope.FEEDBACK_WRITE, if_match=True)
@blp.arguments(RatingChangeSchema)
@blp.response(200, RatingSchema)
def update_rating(change: dict[str, Any], rating_id: UUID) -> Any:
    """Change the stars of a rating

    Your next recommendations know of it.
    """
    rating = change_rating(
        session(),
        user_id(),
        rating_id,
        change["stars"],
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return rating, 200, etags.etag_header(rating)


@blp.delete("/<uuid:rating_id>")
@blp.needs(Scope.FEEDBACK_WRITE, if_match=True)
@blp.response(204)
def delete_rating(rating_id: UUID) -> Response:
    """Take a rating back

    The paper is then one that you have not judged.
    """
    remove_rating(
        session(),
        user_id(),
        rating_id,
        expected_version=etags.expected_version(),
        now=datetime.now(UTC),
    )
    return Response(status=204)
