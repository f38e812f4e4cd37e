"""What a list of recommendations and the explanation of one share: by what papers are scored, and
the reasons that are shown."""

from typing import Any

import marshmallow as ma

from service.api.fields import Choice, Id, Int, QueryNumber, Repeated, Text
from service.api.schemas import Schema
from service.recommend.readers import FEWEST_READERS
from service.recommend.records import Deed, Reason, Wish

MOST_SEEDS = 50
MOST_EXCLUDED_TAGS = 20
UNITED = "Of `tag`, `seeds` and `interest` none wins: given together, all their papers are gone by."


class TasteQuery(Schema):
    """By what papers are scored: the same for a list and for the explanation of a score."""

    tag = Text(
        longest=100,
        shortest=1,
        load_default=None,
        metadata={
            "description": "Go by your bookmarks with this tag instead of all. " + UNITED,
        },
    )
    seeds = ma.fields.List(
        Id(),
        load_default=(),
        validate=ma.validate.Length(max=MOST_SEEDS),
        metadata={
            "description": "Go by these papers instead of those you like; what you dislike "
            "still counts. " + UNITED
        },
    )
    interest = Id(
        load_default=None,
        metadata={"description": "Go by your papers of this interest instead of all. " + UNITED},
    )
    exclude_tag = Repeated(
        Text(longest=100, shortest=1),
        load_default=(),
        attribute="exclude_tags",
        validate=ma.validate.Length(max=MOST_EXCLUDED_TAGS),
        metadata={
            "description": "Go by your library without the bookmarks that have this tag; may come "
            "again."
        },
    )
    freshness = QueryNumber(
        smallest=0,
        largest=1,
        load_default=0.0,
        metadata={
            "description": "How much recent papers gain: a paper of the newest year in the "
            "catalogue gets this share of its score on top, one two years older half of that, and "
            "so on. It is shown as the part `freshness`."
        },
    )


def wish_of(data: dict[str, Any]) -> Wish:
    """What is wished for, from the fields of a query that was read."""
    fields: dict[str, Any] = {
        name: tuple(x) if isinstance(x, list) else x for name, x in data.items()
    }
    return Wish(**fields)


class ReasonSchema(Schema):
    paper_id = Id(required=True)
    display_title = ma.fields.String(required=True)
    amount = ma.fields.Float(
        required=True,
        metadata={"description": "What this paper of yours brought of the score, for or against."},
    )
    did = ma.fields.List(
        Choice(Deed),
        required=True,
        metadata={"description": "What you did with it, what says most first."},
    )
    stars = Int(required=True, allow_none=True, metadata={"description": "Your rating."})
    terms = ma.fields.List(
        ma.fields.String(),
        required=True,
        metadata={
            "description": "The words of both papers that count most, at most three.",
            "example": ["federated", "LoRA"],
        },
    )
    readers = Int(
        required=True,
        allow_none=True,
        metadata={
            "description": "How many other people have both papers in their libraries. Null if "
            f"fewer than {FEWEST_READERS}, who could be guessed."
        },
    )
    text = ma.fields.String(required=True, metadata={"description": "The same in a sentence."})


def shown_reason(reason: Reason) -> dict[str, Any]:
    return {
        "paper_id": reason.paper.public_id,
        "display_title": reason.paper.display_title,
        "amount": reason.amount,
        "did": reason.deeds,
        "stars": reason.stars,
        "terms": reason.terms,
        "readers": reason.readers,
        "text": reason.text,
    }
