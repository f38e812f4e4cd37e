"""Papers: look for them, add them, see what is like them."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.records import Scope
from service.api import etags
from service.api.fields import Id, Int, Link, QueryInt, Text
from service.api.pages import Answer, page_answer, place_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import runtime, session, user_id
from service.api.v1.model_schemas import ModelSchema
from service.api.v1.paper_schemas import FullPaperSchema, PaperSchema
from service.catalogue.actions import add_paper
from service.catalogue.identifiers import Identifier, Scheme, find_identifier, normalise
from service.catalogue.queries import get_paper, papers_page
from service.catalogue.records import Author, NewPaper, PaperFilter
from service.errors import InvalidInput
from service.library.actions import note_opening
from service.recommend.serve import related
from service.tables import PaperSource

EARLIEST, LATEST = 1000, 3000
MOST_WORDS = 10

blp = Blueprint("papers", __name__, url_prefix="/api/v1/papers", description="The shared catalogue")

EXAMPLE = {
    "title": "Attention Is All You Need",
    "authors": ["Ashish Vaswani", "Noam Shazeer"],
    "year": 2017,
    "arxiv_id": "1706.03762",
}


class PaperQuery(PageQuery):
    q = Text(
        longest=200,
        load_default=None,
        metadata={"description": "Words that all must occur in the title or the abstract."},
    )
    venue = Text(longest=500, shortest=1, load_default=None)
    year = QueryInt(EARLIEST, LATEST, load_default=None)
    list_name = Text(longest=500, shortest=1, load_default=None)

    @ma.post_load
    def _filter(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        words = tuple((data.pop("q") or "").split())
        if len(words) > MOST_WORDS:
            raise ma.ValidationError(f"At most {MOST_WORDS} words are looked for.", "q")
        data["which"] = PaperFilter(
            words=words,
            venue=data.pop("venue"),
            year=data.pop("year"),
            list_name=data.pop("list_name"),
        )
        return data


class NewPaperSchema(Schema):
    """What is known of a paper: its title, its abstract or one of its names there must be."""

    title = Text(
        longest=1_000, load_default=None, metadata={"example": "Attention Is All You Need"}
    )
    abstract = Text(longest=50_000, load_default=None)
    authors = ma.fields.List(
        Text(longest=300, shortest=1), load_default=(), validate=ma.validate.Length(max=1_000)
    )
    venue = Text(longest=500, load_default=None)
    year = Int(EARLIEST, LATEST, load_default=None)
    url = Link(load_default=None)
    pdf_url = Link(load_default=None)
    doi = Text(
        longest=500,
        shortest=1,
        load_default=None,
        metadata={"example": "10.48550/arXiv.1706.03762"},
    )
    arxiv_id = Text(longest=500, shortest=1, load_default=None, metadata={"example": "1706.03762"})

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewPaper:
        names = _identifiers(data.pop("doi"), data.pop("arxiv_id"), data["url"], data["pdf_url"])
        return NewPaper(
            source=PaperSource.PERSON,
            title=data["title"] or None,
            abstract=data["abstract"] or None,
            authors=tuple(map(Author, data["authors"])),
            venue=data["venue"] or None,
            year=data["year"],
            url=data["url"],
            pdf_url=data["pdf_url"],
            identifiers=names,
        )


class RelatedQuery(Schema):
    limit = QueryInt(1, 100, load_default=10)


class RelatedPaperSchema(Schema):
    paper = ma.fields.Nested(PaperSchema, required=True)
    score = ma.fields.Float(
        required=True, metadata={"description": "Comparable within this list only."}
    )


class RelatedPapersSchema(Schema):
    model = ma.fields.Nested(ModelSchema, required=True)
    items = ma.fields.List(ma.fields.Nested(RelatedPaperSchema), required=True)


class OpeningSchema(Schema):
    slate_id = Id(
        load_default=None, metadata={"description": "The list of recommendations it was in."}
    )


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PaperQuery, location="query")
@blp.response(200, page_of(PaperSchema))
def list_papers(query: dict[str, Any]) -> Answer:
    """Look through the catalogue

    The papers added last come first. Without parameters these are all papers.
    """
    page: Page = query["page"]
    rows = papers_page(session(), query["which"], after=place_after(page), limit=page.limit + 1)
    return page_answer(rows, page, lambda paper: (paper.added_at, paper.public_id))


@blp.post("")
@blp.needs(Scope.LIBRARY_WRITE, location=True, answers_etag=True)
@blp.arguments(NewPaperSchema, example=EXAMPLE)
@blp.response(201, FullPaperSchema)
@blp.alt_response(200, schema=FullPaperSchema, description="It was in the catalogue already")
def create_paper(new: NewPaper) -> Answer:
    """Add a paper to the catalogue

    A paper is known by its DOI, its arXiv number, another name found in its links, or its
    abstract. What is known already is answered as it is, and nothing is changed. Adding a paper
    does not bookmark it.
    """
    paper, is_new = add_paper(session(), new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/papers/{paper.public_id}", **etags.etag_header(paper)}
    return paper, 201 if is_new else 200, headers  # type: ignore[return-value]


@blp.get("/<uuid:paper_id>")
@blp.needs(Scope.LIBRARY_READ, etag=True)
@blp.response(200, FullPaperSchema)
def show_paper(paper_id: UUID) -> Any:
    """Show a paper

    With its abstract as written, in plain text, and as HTML that is safe to show.
    """
    paper = get_paper(session(), paper_id)
    return etags.not_modified(paper) or (paper, 200, etags.etag_header(paper))


@blp.get("/<uuid:paper_id>/related")
@blp.needs(Scope.RECS_READ)
@blp.arguments(RelatedQuery, location="query")
@blp.response(200, RelatedPapersSchema)
def list_related(query: dict[str, Any], paper_id: UUID) -> dict[str, Any]:
    """Show what is like a paper

    The nearest comes first; the paper itself is not among them.
    """
    paper = get_paper(session(), paper_id)
    found = related(
        session(), runtime().live_model, paper, limit=query["limit"], now=datetime.now(UTC)
    )
    return {
        "model": found.model,
        "items": [{"paper": near, "score": score} for near, score in found.items],
    }


@blp.post("/<uuid:paper_id>/opens")
@blp.needs(Scope.FEEDBACK_WRITE)
@blp.arguments(OpeningSchema, required=False)
@blp.response(204)
def open_paper(opening: dict[str, Any], paper_id: UUID) -> Response:
    """Tell that you opened a paper

    Weak evidence that you like it; the next recommendations take it into account. With a
    ``slate_id`` it counts once for that list, however often you tell. If nothing comes of it, it is
    forgotten after 30 days, and the paper may be recommended again.
    """
    note_opening(
        session(), user_id(), paper_id, slate_id=opening["slate_id"], now=datetime.now(UTC)
    )
    return Response(status=204)


def _identifiers(
    doi: str | None, arxiv_id: str | None, *links: str | None
) -> tuple[Identifier, ...]:
    """The names given, and those in the links; the link of any other page names no paper."""
    found = []
    for field, scheme, value in (("doi", Scheme.DOI, doi), ("arxiv_id", Scheme.ARXIV, arxiv_id)):
        if value is None:
            continue
        try:
            found.append(normalise(scheme, value))
        except InvalidInput as error:
            raise ma.ValidationError(str(error), field) from error
    in_links = (find_identifier(link) for link in links if link is not None)
    found += [name for name in in_links if name is not None and name.scheme != Scheme.URL]
    return tuple(dict.fromkeys(found))
