"""Recommendations: what to read next, and why."""

from datetime import UTC, datetime
from typing import Any

import marshmallow as ma
import numpy as np

from service.accounts.records import Scope
from service.api.fields import (
    Id,
    Int,
    QueryFlag,
    QueryInt,
    QueryNumber,
)
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import close_session, open_session, principal, runtime, session, user_id
from service.api.v1.interests import InterestNameSchema, remember_my_interests
from service.api.v1.model_schemas import ModelSchema
from service.api.v1.paper_schemas import PaperSchema
from service.api.v1.taste_schemas import (
    ReasonSchema,
    RestrictionQuery,
    TasteQuery,
    TermSchema,
    shown_reason,
    wish_of,
)
from service.config import MOST_EXPLORATION
from service.recommend.question import DEFAULT_DIVERSITY
from service.recommend.records import RecommendedPaper, Wish
from service.recommend.serve import log_slate, recommend

blp = Blueprint(
    "recommendations",
    __name__,
    url_prefix="/api/v1/recommendations",
    description="What to read next",
)


class RecommendationQuery(TasteQuery, RestrictionQuery):
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
    terms = ma.fields.List(
        ma.fields.Nested(TermSchema),
        required=True,
        metadata={
            "description": "What its words brought, the largest first, at most five: with "
            "`other_terms` and `not_from_words` they add up to the score, too."
        },
    )
    other_terms = ma.fields.Float(
        required=True,
        allow_none=True,
        metadata={
            "description": "What its other words brought. Null like `not_from_words` where the "
            "score was not taken apart: with `explain=false`, and as long as you like nothing."
        },
    )
    not_from_words = ma.fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "What its words do not account for: its readers, and freshness."},
    )
    interest = ma.fields.Nested(
        InterestNameSchema,
        required=True,
        allow_none=True,
        metadata={
            "description": "The interest of yours that it comes from; null for a paper that is "
            "near to none, and throughout a list that `interest`, `tag`, `collection` or `seeds` "
            "steers."
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
        "terms": item.terms,
        "other_terms": item.other_terms,
        "not_from_words": item.not_from_words,
        "interest": item.interest,
        "propensity": item.propensity,
        "explored": item.explored,
        "paper": item.paper,
    }
