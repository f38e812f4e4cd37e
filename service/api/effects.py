"""The answer to a change says what became of the person's recommendations by it.

Ranking the catalogue twice takes longer than the change itself, and on SQLite whoever writes keeps
all others from writing. So what stood before is read ahead of the first write, and the arithmetic
is done after the commit.
"""

import logging
from datetime import UTC, datetime
from typing import Any

import marshmallow as ma
import orjson
from flask import Response
from sqlalchemy.orm import Session

from service.accounts.records import Principal
from service.api import idempotency
from service.api.fields import Id, Int, QueryFlag
from service.api.schemas import Schema
from service.api.state import after_commit, principal, runtime
from service.db import scope
from service.recommend.effect import MOST_NAMED, Basis, basis, effect_since
from service.recommend.records import Effect
from service.tables import Paper

logger = logging.getLogger(__name__)


class EffectPaperSchema(Schema):
    paper_id = Id(required=True)
    display_title = ma.fields.String(required=True)


def _papers(which: str) -> ma.fields.List[Any]:
    description = f"Papers {which}; at most {MOST_NAMED}."
    return ma.fields.List(
        ma.fields.Nested(EffectPaperSchema), required=True, metadata={"description": description}
    )


class EffectSchema(Schema):
    """What a change did to your 50 best papers."""

    changed_of_top_50 = Int(
        required=True,
        metadata={
            "description": "How many of them are others than before, by score and by the same "
            "model."
        },
    )
    text = ma.fields.String(
        required=True, metadata={"example": "14 of your top 50 changed.", "description": "In words"}
    )
    entered = _papers("that are among them now and were not, the best first")
    left = _papers("that are among them no more, as they ranked before")


def effect_field(**options: object) -> ma.fields.Nested:
    """Null where it was not asked for, or could not be found out though the change was made."""
    return ma.fields.Nested(EffectSchema, allow_none=True, **options)  # type: ignore[arg-type]


def _query(name: str, *, usual: bool) -> type[ma.Schema]:
    description = "Whether to say what changed in your recommendations; it costs two rankings."
    flag = QueryFlag(load_default=usual, metadata={"description": description})
    return Schema.from_dict({"effect": flag}, name=name)


EffectUnlessRefused = _query("EffectUnlessRefusedSchema", usual=True)
"""The parameter ``effect`` of feedback, whose effect people want to see."""
EffectIfAsked = _query("EffectIfAskedSchema", usual=False)
"""That of saving and rating, which programs do by the hundred."""


def tell_effect() -> None:
    """Have the answer to this request say what its change does; to be called before the change."""
    who, now = principal(), datetime.now(UTC)
    with _reading(who) as session:
        before = basis(session, who.user_id, now=now)
    after_commit(lambda answer: _with_effect(answer, who, before, now))


def _with_effect(answer: Response, who: Principal, before: Basis, now: datetime) -> Response:
    try:
        with _reading(who) as session:
            effect = effect_since(session, runtime().live_model, who.user_id, before, now=now)
        _put_in(answer, effect)
        _keep(answer, who)
    except Exception:
        # The change is made and kept; to say now that it failed would be wrong, whatever happened.
        logger.exception("the effect of a change was not found out")
    return answer


def _put_in(answer: Response, effect: Effect) -> None:
    shown = {
        "changed_of_top_50": effect.changed_of_top_50,
        "text": effect.text,
        "entered": [_shown(paper) for paper in effect.entered],
        "left": [_shown(paper) for paper in effect.left],
    }
    answer.set_data(orjson.dumps({**orjson.loads(answer.get_data()), "effect": shown}))


def _shown(paper: Paper) -> dict[str, object]:
    return {"paper_id": paper.public_id, "display_title": paper.display_title}


def _keep(answer: Response, who: Principal) -> None:
    """So that a repetition under the same Idempotency-Key gets the same answer."""
    if key := idempotency.key_of_request():
        with scope(runtime().writing(), who.user_id) as session:
            idempotency.keep_answer(session, who.user_id, key, answer)
            session.commit()


def _reading(who: Principal) -> Session:
    return scope(runtime().reading(), who.user_id)
