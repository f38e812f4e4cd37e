"""Tokens: the keys of a person's programs.

A token can make and revoke only tokens that may do no more than itself; with e-mail address and
password a person can do it for all of theirs.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import marshmallow as ma
from flask import Response

from service.accounts.actions import create_token, revoke_token
from service.accounts.queries import get_user, tokens_of
from service.accounts.records import NewToken, Scope
from service.api.fields import Choice, Id, Text, Time
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import principal, session, user_id
from service.errors import InvalidInput, NotAllowed
from service.tables import ApiToken

blp = Blueprint(
    "tokens", __name__, url_prefix="/api/v1/tokens", description="The keys of your programs"
)

EXAMPLE = {"name": "bookmarklet", "scopes": ["library:read", "library:write", "recs:read"]}


class NewTokenSchema(Schema):
    name = Text(longest=100, shortest=1, required=True, metadata={"example": "bookmarklet"})
    scopes = ma.fields.List(
        Choice(Scope),
        required=True,
        validate=ma.validate.Length(min=1, max=len(Scope)),
        metadata={"example": ["library:read", "library:write", "recs:read"]},
    )
    expires_at = Time(
        load_default=None, metadata={"description": "Left out, it lasts until it is revoked."}
    )

    @ma.post_load
    def _new(self, data: dict[str, Any], **_: Any) -> NewToken:
        return NewToken(**{**data, "scopes": frozenset(data["scopes"])})


class TokenSchema(Schema):
    id = Id(required=True)
    name = ma.fields.String(required=True)
    starts_with = ma.fields.String(
        required=True, metadata={"description": "The part that is no secret; tells tokens apart."}
    )
    scopes = ma.fields.List(Choice(Scope), required=True)
    created_at = Time(required=True)
    expires_at = Time(required=True, allow_none=True)
    last_used_at = Time(required=True, allow_none=True, metadata={"description": "To the minute."})


class MadeTokenSchema(TokenSchema):
    token = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The token itself, shown this once; null when the answer is replayed."
        },
    )


class TokensSchema(Schema):
    items = ma.fields.List(ma.fields.Nested(TokenSchema), required=True)


def _shown(row: ApiToken) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "name": row.name,
        "starts_with": f"psh_{row.token_id}_",
        "scopes": row.scopes.split(),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
    }


@blp.get("")
@blp.needs(takes_password=True)
@blp.response(200, TokensSchema)
def list_tokens() -> dict[str, Any]:
    """List your tokens

    The oldest comes first; revoked ones are not shown, and no token is shown itself.
    """
    return {"items": [_shown(row) for row in tokens_of(session(), user_id())]}


@blp.post("")
@blp.needs(takes_password=True, errors=(403, 409), location=True)
@blp.arguments(NewTokenSchema, example=EXAMPLE)
@blp.response(201, MadeTokenSchema)
def make_token(new: NewToken) -> Any:
    """Make a token

    With e-mail address and password (Basic), or with a token, which can only give what it has
    itself. The answer is the only place where the token is ever shown.
    """
    _refuse_more_than_own(new)
    user = get_user(session(), user_id())
    row, token = create_token(session(), user, new, now=datetime.now(UTC))
    headers = {"Location": f"/api/v1/tokens/{row.public_id}"}
    return {**_shown(row), "token": str(token)}, 201, headers


@blp.delete("/<uuid:token_id>")
@blp.needs(takes_password=True, errors=(403,))
@blp.response(204)
def delete_token(token_id: UUID) -> Response:
    """Revoke a token

    It stops working at once. A token can revoke itself, and those that may do no more than it.
    """
    _refuse_stronger(token_id)
    revoke_token(session(), user_id(), token_id, now=datetime.now(UTC))
    return Response(status=204)


def _refuse_more_than_own(new: NewToken) -> None:
    who = principal()
    if more := new.scopes - who.scopes:
        raise NotAllowed(f"This token cannot give what it has not: {', '.join(sorted(more))}.")
    outlives = new.expires_at is None or (who.expires_at and new.expires_at > who.expires_at)
    if who.expires_at is not None and outlives:
        raise InvalidInput("A token cannot make one that outlives it.", field="expires_at")


def _refuse_stronger(token_id: UUID) -> None:
    row = next((t for t in tokens_of(session(), user_id()) if t.public_id == token_id), None)
    if row is None or row.public_id == principal().token_id:
        return
    if more := {Scope(scope) for scope in row.scopes.split()} - principal().scopes:
        raise NotAllowed(f"That token may do more than this one: {', '.join(sorted(more))}.")
