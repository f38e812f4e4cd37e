"""What a list of recommendations and the explanation of one share: by what papers are scored, and
the reasons that are shown."""

from typing import Any

import marshmallow as ma

from service.api.fields import Choice, Id, Int, QueryDate, QueryInt, QueryNumber, Repeated, Text
from service.api.schemas import Schema
from service.recommend.readers import FEWEST_READERS
from service.recommend.records import Deed, Reason, Wish

MOST_SEEDS = 50
MOST_EXCLUDED_TAGS = 20
MOST_EXCLUDED = 100
MOST_VENUES = 20
UNITED = (
    "Of `tag`, `collection`, `seeds` and `interest` none wins: given together, all their papers "
    "are gone by."
)


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
    collection = Text(
        longest=1_000,
        shortest=1,
        load_default=None,
        metadata={
            "description": "Go by your papers in this collection and those inside it instead of "
            "all; its names from the outermost in, with a slash between. " + UNITED,
            "example": "Thesis/Chapter 2",
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


class RestrictionQuery(Schema):
    """Which papers are ranked."""

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


def wish_of(data: dict[str, Any]) -> Wish:
    """What is wished for, from the fields of a query that was read."""
    fields: dict[str, Any] = {
        name: tuple(x) if isinstance(x, list) else x for name, x in data.items()
    }
    return Wish(**fields)


class TermSchema(Schema):
    term = ma.fields.String(
        required=True, metadata={"description": "As the paper writes it.", "example": "LoRA"}
    )
    amount = ma.fields.Float(required=True)


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
