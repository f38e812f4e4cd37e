"""The same POST sent twice is carried out once.

The key is taken, the write done and the answer kept in one transaction. Whoever comes second with
the same key waits in the database until the first has committed, and then gets its answer: on
SQLite at the write lock, on PostgreSQL at the unique index. After five seconds the wait is given
up, with 503 or 409. A request that failed leaves no key behind, so it may be repeated.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime, timedelta

import orjson
from flask import Response, request
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from service.db import BUSY_TIMEOUT_MS, insert_if_new
from service.errors import Conflict, IdempotencyMismatch, InvalidInput
from service.tables import AnswerState, IdempotencyKey

HEADER = "Idempotency-Key"
KEPT_FOR = timedelta(hours=48)
KEPT_HEADERS = ("Content-Type", "Location", "ETag")
SECRETS = ("token",)
"""Members of an answer that are shown once; what is kept has null in their place."""

_KEY = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


def key_of_request() -> str | None:
    """Raises InvalidInput for a key that is none."""
    key = request.headers.get(HEADER)
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidInput(
            "An Idempotency-Key is 1 to 255 visible ASCII characters, such as a UUID.",
            field=f"header:{HEADER}",
        )
    return key


def answer_once(
    session: Session, user_id: int, key: str, carry_out: Callable[[], Response], *, now: datetime
) -> Response:
    """The answer of ``carry_out``, or the one that the same request got before; commits nothing.

    Raises IdempotencyMismatch if the key was used for something else.
    """
    # Read first: a slow upload must not hold the write lock.
    request_hash = _hash_of_request()
    _forget_expired(session, user_id, now=now)
    if not _take(session, user_id, key, request_hash, now=now):
        return _answer_of(session, user_id, key, request_hash)
    answer = carry_out()
    keep_answer(session, user_id, key, answer)
    return answer


def _take(session: Session, user_id: int, key: str, request_hash: str, *, now: datetime) -> bool:
    values = {
        "user_id": user_id,
        "key": key,
        "request_hash": request_hash,
        "state": AnswerState.IN_FLIGHT,
        "created_at": now,
    }
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"SET LOCAL lock_timeout = {BUSY_TIMEOUT_MS}"))
    try:
        return insert_if_new(session, IdempotencyKey, values, unique=["user_id", "key"]) is not None
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) == "55P03":
            raise _in_flight() from error
        raise


def _answer_of(session: Session, user_id: int, key: str, request_hash: str) -> Response:
    kept = session.scalars(
        select(IdempotencyKey).where(IdempotencyKey.user_id == user_id, IdempotencyKey.key == key)
    ).one()
    if kept.request_hash != request_hash:
        raise IdempotencyMismatch(
            "This Idempotency-Key was used for another request; take a new one."
        )
    if kept.state is AnswerState.IN_FLIGHT:
        raise _in_flight()
    answer = Response(kept.body or b"", status=kept.status or 200)
    answer.headers.pop("Content-Type", None)
    answer.headers.update(kept.headers or {})
    answer.headers["Idempotency-Replayed"] = "true"
    return answer


def keep_answer(session: Session, user_id: int, key: str, answer: Response) -> None:
    """Keep what the same request gets when it comes again; the last that was kept counts."""
    session.execute(
        update(IdempotencyKey)
        .where(IdempotencyKey.user_id == user_id, IdempotencyKey.key == key)
        .values(
            state=AnswerState.ANSWERED,
            status=answer.status_code,
            headers={n: answer.headers[n] for n in KEPT_HEADERS if n in answer.headers},
            body=_without_secrets(answer),
        )
    )


def _without_secrets(answer: Response) -> bytes:
    body = answer.get_data()
    if answer.mimetype != "application/json" or not body:
        return body
    document = orjson.loads(body)
    if not any(name in document for name in SECRETS):
        return body
    return orjson.dumps({k: None if k in SECRETS else v for k, v in document.items()})


def _forget_expired(session: Session, user_id: int, *, now: datetime) -> None:
    session.execute(
        delete(IdempotencyKey).where(
            IdempotencyKey.user_id == user_id, IdempotencyKey.created_at < now - KEPT_FOR
        )
    )


def _hash_of_request() -> str:
    """Of what was asked; an upload by its parts, as each sending has its own boundary."""
    digest = hashlib.sha256()

    def add(*parts: str | bytes) -> None:
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            digest.update(len(data).to_bytes(8) + data)

    add(request.method, request.path, request.query_string)
    if request.mimetype != "multipart/form-data":
        add(request.mimetype, request.get_data(cache=True))
        return digest.hexdigest()
    for name, value in sorted(request.form.items(multi=True)):
        add("field", name, value)
    for name, file in request.files.items(multi=True):
        add("file", name, file.filename or "", file.stream.read())
        file.stream.seek(0)
    return digest.hexdigest()


def _in_flight() -> Conflict:
    return Conflict("A request with this Idempotency-Key is still being carried out; ask again.")
