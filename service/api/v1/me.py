"""Who asks."""

from typing import Any

import marshmallow as ma

from service.accounts.queries import get_user
from service.accounts.records import Scope
from service.api.fields import Choice, Id, Int, Time
from service.api.schemas import Schema
from service.api.smorest import Blueprint
from service.api.state import principal, session

blp = Blueprint("me", __name__, url_prefix="/api/v1/me", description="Who you are")


class MeSchema(Schema):
    id = Id(required=True)
    email = ma.fields.String(required=True)
    name = ma.fields.String(required=True)
    zone = ma.fields.String(required=True, metadata={"example": "Europe/Berlin"})
    is_admin = ma.fields.Boolean(required=True)
    created_at = Time(required=True)
    library_version = Int(
        required=True, metadata={"description": "Grows with each change of your library."}
    )
    token_id = Id(required=True, metadata={"description": "The token that you used."})
    scopes = ma.fields.List(Choice(Scope), required=True)


@blp.get("")
@blp.needs()
@blp.response(200, MeSchema)
def show_me() -> dict[str, Any]:
    """Show who you are

    And what the token you used may do.
    """
    user = get_user(session(), principal().user_id)
    return {
        "id": user.public_id,
        "email": user.email,
        "name": user.name,
        "zone": user.zone,
        "is_admin": user.is_admin,
        "created_at": user.created_at,
        "library_version": user.library_version,
        "token_id": principal().token_id,
        "scopes": sorted(principal().scopes),
    }
