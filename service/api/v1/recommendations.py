"""Recommendations: what to read next, and why."""

from datetime import UTC, datetime
from typing import Any

import marshmallow as ma
import numpy as np

from service.accounts.records import Scope
from service.api.fields import Id, Int, QueryFlag, QueryInt, QueryNumber, Text, Time
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import close_session, open_session, principal, runtime, session, user_id
from service.api.v1.interests import InterestNameSchema, my_interests
from service.api.v1.paper_schemas import PaperSchema
from service.recommend.records import Reason, RecommendedPaper, Wish
from service.recommend.serve import DEFAULT_DIVERSITY, log_slate, recommend

MOST_SEEDS = 50

blp = Blueprint(
    "recommendations",
    __name__,
    url_prefix="/api/v1/recommendations",
    description="What to read next",
)


class RecommendationQuery(Schema):
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
    tag = Text(
        longest=100,
        shortest=1,
        load_default=None,
        metadata={"description": "Go by your bookmarks with this tag instead of all."},
    )
    interest = Id(
        load_default=None,
        metadata={"description": "Go by your papers of this interest instead of all."},
    )
    seeds = ma.fields.List(
        Id(),
        load_default=(),
        validate=ma.validate.Length(max=MOST_SEEDS),
        metadata={
            "description": "Go by these papers instead of those you like; what you dislike "
            "still counts."
        },
    )
    venue = Text(longest=500, shortest=1, load_default=None)
    year_from = QueryInt(1000, 3000, load_default=None)
    list_name = Text(longest=500, shortest=1, load_default=None)
    explain = QueryFlag(
        load_default=True, metadata={"description": "Whether to say what brought the score."}
    )

    @ma.post_load
    def _wish(self, data: dict[str, Any], **_: Any) -> tuple[Wish, bool]:
        explain = data.pop("explain")
        return Wish(**{**data, "seeds": tuple(data["seeds"])}), explain


class ReasonSchema(Schema):
    paper_id = Id(required=True)
    display_title = ma.fields.String(required=True)
    amount = ma.fields.Float(
        required=True, metadata={"description": "What this paper of yours brought of the score."}
    )
    text = ma.fields.String(required=True, metadata={"description": "The same in a sentence."})


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
            "`because` it adds up to the score."
        },
    )
    interest = ma.fields.Nested(
        InterestNameSchema,
        required=True,
        allow_none=True,
        metadata={
            "description": "The interest of yours that it comes from; null for a paper that is "
            "near to none."
        },
    )
    paper = ma.fields.Nested(PaperSchema, required=True)


class ModelSchema(Schema):
    """How old is what stands behind a list."""

    generation = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "Null before the first training."}
    )
    trained_at = Time(required=True, allow_none=True)
    catalogue_as_of = Time(required=True)
    stale = ma.fields.Boolean(required=True)
    stale_because = ma.fields.String(required=True, allow_none=True)


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
def list_recommendations(query: tuple[Wish, bool]) -> dict[str, Any]:
    """Get recommendations

    What you saved, rated or dismissed a moment ago counts already. The list is remembered under
    its ``slate_id``, so that what you do with it can be learned from.
    """
    wish, explain = query
    now = datetime.now(UTC)
    my_interests(now)
    rng = np.random.default_rng()
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
        "items": [_shown(item, explain=explain) for item in made.items],
    }


def _shown(item: RecommendedPaper, *, explain: bool) -> dict[str, Any]:
    return {
        "rank": item.rank,
        "score": item.score,
        "parts": dict(item.parts),
        "because": [_reason(one, item.score) for one in item.because] if explain else [],
        "others": item.others,
        "interest": item.interest,
        "paper": item.paper,
    }


def _reason(reason: Reason, score: float) -> dict[str, Any]:
    return {
        "paper_id": reason.paper.public_id,
        "display_title": reason.paper.display_title,
        "amount": reason.amount,
        "text": f"“{reason.paper.display_title}” brings {reason.amount:.2f} of {score:.2f}.",
    }
