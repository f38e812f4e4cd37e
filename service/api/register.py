"""Puts the API into a Flask application."""

from typing import Any

import orjson
from flask import Flask
from flask.json.provider import JSONProvider

from service.api.documentation import register_documentation
from service.api.failures import register_failures
from service.api.fields import Choice, Time, describe_choice, describe_text
from service.api.headers import register_headers
from service.api.health import register_health
from service.api.metrics import register_metrics
from service.api.problems import register_problem_pages
from service.api.smorest import Api
from service.api.start_page import register_start_page
from service.api.state import register_state
from service.api.v1 import (
    bookmarks,
    explanations,
    feedback,
    imports,
    interests,
    me,
    papers,
    ratings,
    recommendations,
    tokens,
)
from service.importers.run import LARGEST_FILE
from service.runtime import Runtime

ABOUT = (
    "Papershelf keeps what you bookmark and rate, and recommends what to read next. Errors are "
    "RFC 9457 problems. Lists come in pages by an opaque cursor. Changes need the ETag that was "
    "read. A POST with an Idempotency-Key is carried out once. Unknown fields are refused."
)
RESOURCES = (
    papers,
    bookmarks,
    ratings,
    feedback,
    interests,
    recommendations,
    explanations,
    imports,
    tokens,
    me,
)


class OrjsonProvider(JSONProvider):
    """Answers by orjson: several times faster, and never NaN."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)


def register_api(app: Flask, runtime: Runtime) -> None:
    app.json = OrjsonProvider(app)
    app.config.update(
        API_TITLE="Papershelf",
        API_VERSION="1",
        OPENAPI_VERSION="3.1.0",
        MAX_CONTENT_LENGTH=LARGEST_FILE + imports.ENVELOPE,
        # Werkzeug holds its buffer for file parts to this too; MAX_CONTENT_LENGTH is the bound.
        MAX_FORM_MEMORY_SIZE=None,
        MAX_FORM_PARTS=10,
    )
    register_headers(app)
    register_state(app, runtime)
    api = Api(app, spec_kwargs={"info": {"description": ABOUT}})
    api.register_field(Choice, "string", None)
    api.register_field(Time, "string", "date-time")
    api.ma_plugin.converter.add_attribute_function(describe_choice)
    api.ma_plugin.converter.add_attribute_function(describe_text)
    for resource in RESOURCES:
        api.register_blueprint(resource.blp)
    register_failures(app)
    register_problem_pages(app)
    register_health(app)
    register_metrics(app)
    register_start_page(app)
    register_documentation(app, api)
