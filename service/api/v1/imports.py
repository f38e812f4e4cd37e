"""Imports: bring a file with papers, watch it come in."""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response, make_response, request

from service.accounts.records import Scope
from service.api.bodies import WrongMediaType, read_body, refuse_encoding
from service.api.fields import Choice, Id, Int, QueryFlag, Text, Time
from service.api.pages import Answer, page_answer, place_after, position_after
from service.api.schemas import Page, PageQuery, Schema, page_of
from service.api.smorest import Blueprint
from service.api.state import after_commit, close_session, principal, session, user_id
from service.api.waiting import applied, wait_for_import, wanted_wait_s
from service.errors import InvalidInput
from service.importers.formats import FORMATS
from service.importers.queries import get_import, import_rows, imports_page, rejected
from service.importers.run import LARGEST_FILE, receive
from service.tables import Import, ImportRow, ImportState, Outcome, Paper, clean_text

ENVELOPE = 2**16
"""Bytes that a multipart body may have around its file."""
LONGEST_FILE_NAME = 255
BODY_TYPES = ("text/plain", "text/markdown")
"""Of a body that is the file itself. What it really is, is found out from what is in it."""

blp = Blueprint(
    "imports", __name__, url_prefix="/api/v1/imports", description="Papers out of your files"
)


class UploadQuery(Schema):
    file_name = Text(
        longest=LONGEST_FILE_NAME,
        shortest=1,
        load_default="upload.txt",
        metadata={"description": "What to call a body that is the file itself."},
    )
    format = Text(
        longest=32,
        shortest=1,
        load_default=None,
        metadata={
            "description": "What it is, where that is not to be found out: "
            f"{', '.join(format_.name for format_ in FORMATS)}.",
            "example": "bibtex",
        },
    )
    encoding = Text(
        longest=32,
        shortest=1,
        load_default=None,
        metadata={
            "description": "Its characters, where that is not to be found out.",
            "example": "utf-8",
        },
    )
    saves = QueryFlag(
        load_default=None,
        metadata={
            "description": "Whether its papers go to your library, too. Without it, those of your "
            "own reference manager or bookmarks do, and those of a conference do not."
        },
    )


class ImportSchema(Schema):
    id = Id(required=True)
    file_name = ma.fields.String(required=True)
    state = Choice(ImportState, required=True)
    list_name = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "The heading of the listing."}
    )
    error = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "Why it failed as a whole."}
    )
    format = ma.fields.String(
        required=True, allow_none=True, metadata={"description": "What it is read as."}
    )
    encoding = ma.fields.String(required=True, allow_none=True)
    saves = ma.fields.Boolean(
        required=True,
        allow_none=True,
        metadata={"description": "Whether its papers go to your library, too."},
    )
    percent = Int(required=True, metadata={"description": "How much of it is done."})
    n_entries = Int(required=True)
    n_done = Int(required=True)
    n_saved = Int(
        required=True, metadata={"description": "Papers that were not in your library before."}
    )
    n_created = Int(required=True)
    n_known = Int(required=True)
    n_skipped = Int(required=True)
    n_failed = Int(required=True)
    created_at = Time(required=True)
    finished_at = Time(required=True, allow_none=True)

    @ma.pre_dump
    def _shown(self, brought: Import, **_: Any) -> dict[str, Any]:
        return {
            "id": brought.public_id,
            **{name: getattr(brought, name) for name in self.fields if name != "id"},
        }


class ImportRowSchema(Schema):
    position = Int(required=True, metadata={"description": "The entry's place, from 1."})
    line = Int(required=True)
    end_line = Int(required=True)
    outcome = Choice(Outcome, required=True)
    is_saved = ma.fields.Boolean(
        required=True, metadata={"description": "Whether it is new in your library."}
    )
    paper_id = Id(required=True, allow_none=True)
    display_title = ma.fields.String(required=True, allow_none=True)
    excerpt = ma.fields.String(required=True)
    reason = ma.fields.String(required=True, allow_none=True)
    remedy = ma.fields.String(required=True, allow_none=True)

    @ma.pre_dump
    def _shown(self, entry: tuple[ImportRow, Paper | None], **_: Any) -> dict[str, Any]:
        row, paper = entry
        return {
            "position": row.position,
            "line": row.line,
            "end_line": row.end_line,
            "outcome": row.outcome,
            "is_saved": row.is_saved,
            "paper_id": paper.public_id if paper else None,
            "display_title": paper.display_title if paper else None,
            "excerpt": row.excerpt,
            "reason": row.reason,
            "remedy": row.remedy,
        }


UPLOAD = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
                "required": ["file"],
                "additionalProperties": False,
            }
        },
        **{kind: {"schema": {"type": "string", "minLength": 1}} for kind in BODY_TYPES},
    },
}


@blp.get("")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(ImportSchema))
def list_imports(query: dict[str, Any]) -> Answer:
    """List your imports

    The latest comes first.
    """
    page: Page = query["page"]
    rows = imports_page(session(), user_id(), after=place_after(page), limit=page.limit + 1)
    return page_answer(rows, page, lambda row: (row.created_at, row.public_id))


@blp.post("")
@blp.needs(
    Scope.LIBRARY_WRITE,
    largest_body=LARGEST_FILE + ENVELOPE,
    location=True,
    prefer_wait=True,
)
@blp.doc(requestBody=UPLOAD)
@blp.arguments(UploadQuery, location="query")
@blp.response(202, ImportSchema)
def create_import(query: dict[str, Any]) -> Any:
    """Bring a file

    Either as a form with the field ``file``, or as the body itself. It is kept first and read
    afterwards; ``Location`` is where to look how far it is. ``Prefer: wait=10`` holds the answer
    until it is done, or for as many seconds.
    """
    file_name, content = _upload(query["file_name"])
    brought = receive(
        session(),
        user_id(),
        file_name=file_name,
        content=content,
        now=datetime.now(UTC),
        format_name=query["format"],
        encoding=query["encoding"],
        saves=query["saves"],
    )
    seconds, import_id = wanted_wait_s(), brought.public_id
    if seconds:
        after_commit(lambda answer: _answer_later(answer, import_id, seconds))
    return brought, 202, {"Location": f"/api/v1/imports/{brought.public_id}"}


@blp.get("/<uuid:import_id>")
@blp.needs(Scope.LIBRARY_READ, prefer_wait=True)
@blp.response(200, ImportSchema)
def show_import(import_id: UUID) -> Any:
    """Show how far an import is

    ``Prefer: wait=10`` holds the answer until it is done, or for as many seconds.
    """
    brought = get_import(session(), user_id(), import_id)
    seconds = wanted_wait_s()
    if not seconds:
        return brought
    close_session()
    done = wait_for_import(principal(), import_id, seconds)
    return (brought, 200, {}) if done is None else (done, 200, applied(seconds))


@blp.get("/<uuid:import_id>/rows")
@blp.needs(Scope.LIBRARY_READ, page=True)
@blp.arguments(PageQuery, location="query")
@blp.response(200, page_of(ImportRowSchema))
def list_import_rows(query: dict[str, Any], import_id: UUID) -> Answer:
    """List what became of each entry

    In the order of the file. What could not be used has a reason, and what to do about it.
    """
    page: Page = query["page"]
    brought = get_import(session(), user_id(), import_id)
    rows = import_rows(
        session(), user_id(), brought.id, after_position=position_after(page), limit=page.limit + 1
    )
    return page_answer(rows, page, lambda entry: entry[0].position)


@blp.get("/<uuid:import_id>/rejected")
@blp.needs(Scope.LIBRARY_READ, errors=[404])
@blp.response(200, {"type": "string"}, content_type="text/plain")
def show_rejected(import_id: UUID) -> Response:
    """Get what was not taken, as a file to mend and send again

    It is in the format of the file that was brought, in UTF-8. 404 where all of it was taken.
    """
    brought = get_import(session(), user_id(), import_id)
    answer = Response(rejected(session(), brought), mimetype="text/plain")
    name = f"rejected-{brought.file_name}"
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    return answer


def _upload(name_of_text: str) -> tuple[str, bytes]:
    refuse_encoding()
    if request.mimetype in BODY_TYPES:
        return name_of_text, read_body()
    if request.mimetype != "multipart/form-data":
        raise WrongMediaType(
            f"Send the file as multipart/form-data, or its text as {' or '.join(BODY_TYPES)}."
        )
    names = [*request.form, *request.files.keys()]
    if unknown := [name for name in names if name != "file"]:
        raise InvalidInput("There is no such field.", field=clean_text(unknown[0])[:100])
    files = request.files.getlist("file")
    if len(files) != 1:
        raise InvalidInput("One file is needed, in the field “file”.", field="file")
    with files[0].stream as stream:
        content = stream.read()
    name = (files[0].filename or "").replace("\\", "/").rpartition("/")[2]
    return clean_text(name, field="file")[:LONGEST_FILE_NAME] or "upload.txt", content


def _answer_later(answer: Response, import_id: UUID, seconds: int) -> Response:
    done = wait_for_import(principal(), import_id, seconds)
    if done is None:
        return answer
    headers = {"Location": answer.headers["Location"], **applied(seconds)}
    return make_response(ImportSchema().dump(done), HTTPStatus.ACCEPTED, headers)
