"""Lists in pages, by cursors that only their own list understands and nobody can make up."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from flask import request
from itsdangerous import BadData, URLSafeSerializer

from service.api.schemas import Page
from service.api.state import runtime, user_id
from service.errors import InvalidInput

Row = TypeVar("Row")
Place = tuple[datetime, UUID]
Answer = tuple[dict[str, Any], int, dict[str, str]]


def place_after(page: Page) -> Place | None:
    """Where the page before ended. Raises InvalidInput for a cursor of another list."""
    found = _read(page)
    if found is None:
        return None
    try:
        at, public_id = found
        return datetime.fromisoformat(at), UUID(public_id)
    except (TypeError, ValueError) as error:
        raise _bad_cursor() from error


def position_after(page: Page) -> int:
    """The same for a list in which each row has its number."""
    found = _read(page)
    if found is None:
        return 0
    if not isinstance(found, int):
        raise _bad_cursor()
    return found


def page_answer(rows: Sequence[Row], page: Page, place: Callable[[Row], Place | int]) -> Answer:
    """The answer for ``limit + 1`` rows read: the last of them only tells that there are more."""
    shown = rows[: page.limit]
    if len(rows) <= page.limit:
        return {"items": shown, "next_cursor": None}, 200, {}
    ended = place(shown[-1])
    cursor = _write(ended if isinstance(ended, int) else (ended[0].isoformat(), ended[1].hex))
    others = [(k, v) for k, v in request.args.items(multi=True) if k != "cursor"]
    link = f"{request.path}?{urlencode([*others, ('cursor', cursor)])}"
    return {"items": shown, "next_cursor": cursor}, 200, {"Link": f'<{link}>; rel="next"'}


def _serializer() -> URLSafeSerializer:
    """Signs for this list of this person with these filters; another list's cursor does not fit."""
    filters = sorted(
        (k, v) for k, v in request.args.items(multi=True) if k not in {"cursor", "limit"}
    )
    about = repr((request.path, user_id(), filters)).encode("utf-8", "backslashreplace")
    return URLSafeSerializer(
        runtime().secret_key,
        salt=f"cursor:{hashlib.sha256(about).hexdigest()}",
        signer_kwargs={"digest_method": hashlib.sha256},
    )


def _write(place: Any) -> str:
    text = _serializer().dumps(place)
    return text if isinstance(text, str) else text.decode()


def _read(page: Page) -> Any:
    if page.cursor is None:
        return None
    try:
        return _serializer().loads(page.cursor)
    except BadData as error:
        raise _bad_cursor() from error


def _bad_cursor() -> InvalidInput:
    return InvalidInput(
        "This cursor does not belong to this list with these filters; start without one.",
        field="cursor",
    )
