"""Explanations: why a paper has its score for you."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma

from service.accounts.records import Scope
from service.api.fields import Choice, Int, QueryInt
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import runtime, session, user_id
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
from service.catalogue.queries import get_paper
from service.recommend.explanations import COUNTERFACTUALS, explain_paper
from service.recommend.records import PaperExplanation, Standing, Wish

MOST_COUNTERFACTUALS = 20
"""Each ranks the whole catalogue once more."""
MOST_SHOWN = 500

blp = Blueprint(
    "explanations",
    __name__,
    url_prefix="/api/v1/papers",
    description="Why a paper is recommended, or is not",
)


class ExplanationQuery(TasteQuery, RestrictionQuery):
    counterfactuals = QueryInt(
        0,
        MOST_COUNTERFACTUALS,
        load_default=COUNTERFACTUALS,
        metadata={"description": "How many of your papers are left out for trial, one at a time."},
    )
    limit = QueryInt(
        1,
        MOST_SHOWN,
        load_default=50,
        metadata={
            "description": "How many papers and terms are shown; the rest come as a sum. A paper "
            "that was left out for trial is always shown."
        },
    )

    @ma.post_load
    def _wish(self, data: dict[str, Any], **_: Any) -> tuple[Wish, int]:
        counterfactuals = data.pop("counterfactuals")
        return wish_of(data), counterfactuals


class ExplainedPartSchema(Schema):
    name = ma.fields.String(required=True, metadata={"example": "content"})
    raw = ma.fields.Float(
        required=True, metadata={"description": "The score on the part's own scale."}
    )
    gain = ma.fields.Float(
        required=True,
        metadata={
            "description": "The weight of the part for this paper, divided by the scale of its "
            "scores for you."
        },
    )
    amount = ma.fields.Float(required=True, metadata={"description": "`raw` · `gain`."})


class ExplainedReasonSchema(ReasonSchema):
    rank_without = Int(
        required=True,
        allow_none=True,
        metadata={
            "description": "The `rank` if you had never met this paper of yours, by ranking "
            "everything anew. Null where that was not tried."
        },
    )


class ExplanationSchema(Schema):
    """One score, taken apart in three ways: by part, by paper of yours, by term of the paper.

    Each of the three sums to `score`: `parts`; `papers` + `other_papers` + `not_from_papers`;
    `terms` + `other_terms` + `not_from_words`.
    """

    paper = ma.fields.Nested(PaperSchema, required=True)
    summary = ma.fields.String(required=True, metadata={"description": "All of it in a paragraph."})
    strategy = ma.fields.String(required=True, metadata={"example": "personal"})
    standing = Choice(
        Standing,
        required=True,
        metadata={
            "description": "Whether lists may recommend it (`candidate`), and if not, why: what "
            "you have, rated, opened or dismissed is in none."
        },
    )
    score = ma.fields.Float(required=True)
    rank = Int(
        required=True,
        allow_none=True,
        metadata={
            "description": "From 1, by score among the candidates, before a list is made varied. "
            "Null for a paper that is no candidate."
        },
    )
    n_candidates = Int(required=True)
    parts = ma.fields.List(ma.fields.Nested(ExplainedPartSchema), required=True)
    papers = ma.fields.List(
        ma.fields.Nested(ExplainedReasonSchema),
        required=True,
        metadata={"description": "What your papers bring or take away, the largest first."},
    )
    n_papers = Int(
        required=True, metadata={"description": "How many of your papers count, shown or not."}
    )
    other_papers = ma.fields.Float(
        required=True, metadata={"description": "What your papers bring that are not shown."}
    )
    not_from_papers = ma.fields.Float(
        required=True,
        metadata={
            "description": "What does not come from your papers: `prior`, `freshness`, and recency "
            "and centrality as long as nothing you like says anything."
        },
    )
    terms = ma.fields.List(
        ma.fields.Nested(TermSchema),
        required=True,
        metadata={
            "description": "What the words of the paper bring, the largest first. A compound such "
            "as “low-rank” is one term with its parts, unless a part mostly stands by itself."
        },
    )
    other_terms = ma.fields.Float(
        required=True, metadata={"description": "What its words bring that are not shown."}
    )
    not_from_words = ma.fields.Float(
        required=True,
        metadata={
            "description": "What its words do not account for: the readers that it has, and what "
            "they add to or take from what its words alone would give; and `freshness`."
        },
    )
    model = ma.fields.Nested(ModelSchema, required=True)


@blp.get("/<uuid:paper_id>/explanation")
@blp.needs(Scope.RECS_READ)
@blp.arguments(ExplanationQuery, location="query")
@blp.response(200, ExplanationSchema)
def explain_recommendation(query: tuple[Wish, int], paper_id: UUID) -> dict[str, Any]:
    """Explain the score of a paper

    Any paper of the catalogue, also one that you have or dismissed. The numbers are those of a list
    made at this moment by the live model; while an experiment runs, a list takes half of its papers
    from another model, whose numbers are others. Of other people it says at most how many of them,
    if three or more, keep two papers together.
    """
    wish, counterfactuals = query
    explanation = explain_paper(
        session(),
        runtime().live_model,
        user_id(),
        get_paper(session(), paper_id),
        wish,
        now=datetime.now(UTC),
        counterfactuals=counterfactuals,
    )
    return _shown(explanation)


def _shown(explanation: PaperExplanation) -> dict[str, Any]:
    own = ("paper", "summary", "strategy", "standing", "score", "rank", "n_candidates", "parts")
    sums = ("n_papers", "other_papers", "not_from_papers")
    rest = ("terms", "other_terms", "not_from_words", "model")
    return {
        **{name: getattr(explanation, name) for name in (*own, *sums, *rest)},
        "papers": [
            {**shown_reason(reason), "rank_without": reason.rank_without}
            for reason in explanation.papers
        ],
    }
