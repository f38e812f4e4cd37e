"""Recommendations: what to read next, and why."""

from datetime import UTC, datetime
from typing import Any

import marshmallow as ma
import numpy as np

from service.accounts.records import Scope
from service.api.fields import (
    Id,
    Int,
    QueryDate,
    QueryFlag,
    QueryInt,
    QueryNumber,
    Repeated,
    Text,
)
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import close_session, open_session, principal, runtime, session, user_id
from service.api.v1.interests import InterestNameSchema, remember_my_interests
from service.api.v1.model_schemas import ModelSchema
from service.api.v1.paper_schemas import PaperSchema
from service.api.v1.taste_schemas import ReasonSchema, TasteQuery, shown_reason, wish_of
from service.config import MOST_EXPLORATION
from service.recommend.question import DEFAULT_DIVERSITY
from service.recommend.records import RecommendedPaper, Wish
from service.recommend.serve import log_slate, recommend

MOST_EXCLUDED = 100
MOST_VENUES = 20

blp = Blueprint(
    "recommendations",
    __name__,
    url_prefix="/api/v1/recommendations",
    description="What to read next",
)


class RecommendationQuery(TasteQuery):
    limit = QueryInt(1, 100, load_default=10)
    diversity = QueryNumber(
        smallest=0,
        largest=1,
        load_default=None,
        metadata={
            "description": "0: the best scores, whatever they are about; 1: many topics. "
            f"{DEFAULT_DIVERSITY} if not given."
        },
    )
    venue = Repeated(
        Text(longest=500, shortest=1),
        load_default=(),
        attribute="venues",
        validate=ma.validate.Length(max=MOST_VENUES),
        metadata={
            "description": "Only papers of this venue, capitals aside; may come again for one of "
            "several. A venue that no paper has is refused, with names near to it."
        },
    )
    year_from = QueryInt(
        1000,
        3000,
        load_default=None,
        metadata={"description": "Only papers of this year or later; none of unknown year."},
    )
    year_to = QueryInt(
        1000,
        3000,
        load_default=None,
        metadata={"description": "Only papers of this year or earlier; none of unknown year."},
    )
    published_after = QueryDate(
        load_default=None,
        metadata={
            "description": "Only papers that may have come out after this day. Of a paper the year "
            "is known: it is left out if its whole year was over by then, or if its year is "
            "unknown."
        },
    )
    list_name = Text(
        longest=500,
        shortest=1,
        load_default=None,
        metadata={
            "description": "Only papers of the listing with this heading. A heading that no paper "
            "has is refused, with names near to it."
        },
    )
    exclude_papers = ma.fields.List(
        Id(),
        load_default=(),
        attribute="exclude",
        validate=ma.validate.Length(max=MOST_EXCLUDED),
        metadata={"description": "Not these papers this time; says nothing of your taste."},
    )
    exploration = QueryNumber(
        smallest=0,
        largest=MOST_EXPLORATION,
        load_default=None,
        metadata={
            "description": "The share of the list that goes to papers drawn from below it, at its "
            "end, so that the recommender can learn what it underrates; they are marked "
            "`explored`. The service's setting if not given."
        },
    )
    explain = QueryFlag(
        load_default=True, metadata={"description": "Whether to say what brought the score."}
    )

    @ma.post_load
    def _wish(self, data: dict[str, Any], **_: Any) -> Wish:
        if data["exploration"] is None:
            data["exploration"] = runtime().settings.exploration
        return wish_of(data)


class RecommendedPaperSchema(Schema):
    rank = Int(
        required=True,
        metadata={
            "description": "From 1. Not quite the order of the scores: a paper much like one above "
            "it gives way, the more the higher `diversity` is."
        },
    )
    score = ma.fields.Float(
        required=True, metadata={"description": "Comparable within this list only."}
    )
    parts = ma.fields.Dict(
        keys=ma.fields.String(),
        values=ma.fields.Float(),
        required=True,
        metadata={"description": "What each part of the model brought; they add up to the score."},
    )
    because = ma.fields.List(
        ma.fields.Nested(ReasonSchema),
        required=True,
        metadata={"description": "The papers of yours that brought most, at most three."},
    )
    others = ma.fields.Float(
        required=True,
        metadata={
            "description": "What your other papers brought, for it or against: together with "
            "`because` and the parts `prior` and `freshness` it adds up to the score."
        },
    )
    interest = ma.fields.Nested(
        InterestNameSchema,
        required=True,
        allow_none=True,
        metadata={
            "description": "The interest of yours that it comes from; null for a paper that is "
            "near to none, and throughout a list that `interest`, `tag` or `seeds` steers."
        },
    )
    propensity = ma.fields.Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "The chance the paper had to be in this list; 1 if it is sure. While an "
            "experiment shares the list, its coins are in it; null if `exploration` draws as well, "
            "as the chance is not known then."
        },
    )
    explored = ma.fields.Boolean(
        required=True,
        metadata={"description": "It was drawn to be tried out, and is not here by its score."},
    )
    paper = ma.fields.Nested(PaperSchema, required=True)


class RecommendationsSchema(Schema):
    slate_id = Id(
        required=True,
        metadata={"description": "Send it along when you save, rate, open or dismiss from here."},
    )
    strategy = ma.fields.String(required=True, metadata={"example": "personal"})
    explanation = ma.fields.String(required=True)
    model = ma.fields.Nested(ModelSchema, required=True)
    items = ma.fields.List(ma.fields.Nested(RecommendedPaperSchema), required=True)


@blp.get("")
@blp.needs(Scope.RECS_READ)
@blp.arguments(RecommendationQuery, location="query")
@blp.response(200, RecommendationsSchema)
def list_recommendations(wish: Wish) -> dict[str, Any]:
    """Get recommendations

    What you saved, rated or dismissed a moment ago counts already. The list is remembered under
    its ``slate_id``, so that what you do with it can be learned from.
    """
    now = datetime.now(UTC)
    rng = np.random.default_rng()
    made = recommend(session(), runtime().live_model, user_id(), wish, now=now, rng=rng)
    if not made.interests_fit:
        remember_my_interests(now)
        made = recommend(session(), runtime().live_model, user_id(), wish, now=now, rng=rng)
    close_session()
    with open_session(principal(), to_write=True) as writing:
        log_slate(writing, user_id(), made, now=now)
        writing.commit()
    return {
        "slate_id": made.slate_id,
        "strategy": made.strategy,
        "explanation": made.explanation,
        "model": made.model,
        "items": [_shown(item) for item in made.items],
    }


def _shown(item: RecommendedPaper) -> dict[str, Any]:
    return {
        "rank": item.rank,
        "score": item.score,
        "parts": dict(item.parts),
        "because": [shown_reason(reason) for reason in item.because],
        "others": item.others,
        "interest": item.interest,
        "propensity": item.propensity,
        "explored": item.explored,
        "paper": item.paper,
    }
