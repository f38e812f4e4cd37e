"""How a paper looks in JSON, wherever it is shown."""

from functools import lru_cache
from typing import Any

import marshmallow as ma

from service.api.fields import Choice, Id, Int, Time
from service.api.schemas import Schema
from service.catalogue.text import to_html, to_plain
from service.tables import Paper, PaperSource

_plain = lru_cache(maxsize=4096)(to_plain)
"""The same abstracts are shown again and again; a few megabytes."""


class IdentifierSchema(Schema):
    """A name that the world knows a paper by."""

    scheme = ma.fields.String(required=True, metadata={"example": "arxiv"})
    value = ma.fields.String(required=True, metadata={"example": "2406.14514"})


class PaperSchema(Schema):
    """A paper as it is shown in lists and inside other things."""

    id = Id(required=True)
    title = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "Null until somebody knows it."}
    )
    display_title = ma.fields.String(
        required=True,
        metadata={
            "description": "The title in plain text, or one derived from the abstract.",
            "example": "Attention Is All You Need",
        },
    )
    title_is_derived = ma.fields.Boolean(required=True)
    title_confidence = ma.fields.Float(
        required=True, metadata={"description": "1 for a real title, less for a derived one."}
    )
    name = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The name coined in the abstract, where the title is not known."},
    )
    authors = ma.fields.List(ma.fields.String(), required=True)
    venue = ma.fields.String(required=True, allow_none=True)
    year = Int(required=True, allow_none=True)
    published = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "As exactly as it is known: a year, a month or a day.",
            "example": "2026-12",
        },
    )
    kind = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "A type of CSL.", "example": "paper-conference"},
    )
    withdrawal = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Why it was withdrawn or retracted, if it was."},
    )
    abstract = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "As written, LaTeX and Markdown included."},
    )
    abstract_text = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "The abstract in plain text."}
    )
    url = ma.fields.String(required=True, allow_none=True)
    pdf_url = ma.fields.String(required=True, allow_none=True)
    code_url = ma.fields.String(required=True, allow_none=True)
    identifiers = ma.fields.List(ma.fields.Nested(IdentifierSchema), required=True)
    list_name = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "The list that brought it."}
    )
    source = Choice(PaperSource, required=True)
    added_at = Time(required=True)

    @ma.pre_dump
    def _shown(self, paper: Paper, **_: Any) -> dict[str, Any]:
        return shown_paper(paper)


class FullPaperSchema(PaperSchema):
    """A paper by itself, with its abstract as HTML."""

    abstract_html = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The abstract as a safe HTML fragment, formulas as MathML."},
    )
    details = ma.fields.Dict(
        keys=ma.fields.String(),
        required=True,
        metadata={
            "description": "What else is known of it, under the names of CSL's variables.",
            "example": {"volume": "7", "page": "11-19"},
        },
    )

    @ma.pre_dump
    def _shown(self, paper: Paper, **_: Any) -> dict[str, Any]:
        html = None if paper.abstract is None else to_html(paper.abstract)
        return {**shown_paper(paper), "abstract_html": html, "details": paper.details or {}}


def shown_paper(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.public_id,
        "title": paper.title,
        "display_title": paper.display_title,
        "title_is_derived": paper.title is None,
        "title_confidence": paper.title_confidence,
        "name": paper.derived_name,
        "authors": [author.name for author in paper.authors],
        "venue": paper.venue,
        "year": paper.year,
        "published": paper.published,
        "kind": paper.kind,
        "withdrawal": paper.withdrawal,
        "abstract": paper.abstract,
        "abstract_text": None if paper.abstract is None else _plain(paper.abstract),
        "url": paper.url,
        "pdf_url": paper.pdf_url,
        "code_url": paper.code_url,
        "identifiers": paper.identifiers,
        "list_name": paper.list_name,
        "source": paper.source,
        "added_at": paper.added_at,
    }
