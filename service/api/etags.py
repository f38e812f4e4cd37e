"""ETags from versions, so that nobody overwrites what they have not seen."""

import re

from flask import Response, request
from werkzeug.datastructures import ETags

from service.errors import PreconditionFailed, PreconditionRequired
from service.recommend.interests import state_of
from service.recommend.records import InterestSummary
from service.tables import Bookmark, Feedback, Paper, Rating

Mutable = Bookmark | Rating | Feedback | Paper | InterestSummary

_FORM = re.compile(r"(\d{1,9})(?:-\d{1,9})?", re.ASCII)


def etag_of(row: Mutable) -> str:
    """The version of the row; then, where the paper is shown with it, that of the paper."""
    if isinstance(row, InterestSummary):
        return f"{row.version}-{state_of(row)}"
    return str(row.version) if isinstance(row, Paper) else f"{row.version}-{row.paper.version}"


def etag_header(row: Mutable) -> dict[str, str]:
    return {"ETag": f'"{etag_of(row)}"'}


def expected_version() -> int | None:
    """The version that If-Match names; None for ``*``, whichever it is.

    Of several the last is meant: versions only grow, so whoever saw it knows the others are gone.
    A tag that is none of ours is a version that nothing has. Raises PreconditionRequired without
    the header.
    """
    if "If-Match" not in request.headers:
        raise PreconditionRequired("Send the ETag that you read in If-Match.")
    tags: ETags = request.if_match
    if tags.star_tag:
        return None
    versions = [int(found[1]) for tag in tags.as_set() if (found := _FORM.fullmatch(tag or ""))]
    if not versions:
        raise PreconditionFailed("If-Match holds no ETag of this service; read it again.")
    return max(versions)


def not_modified(row: Mutable) -> Response | None:
    """The answer 304, if the caller has this version already."""
    tags = request.if_none_match
    tag = etag_of(row)
    if not (tags.star_tag or tags.contains_weak(tag)):
        return None
    return Response(status=304, headers=etag_header(row))
