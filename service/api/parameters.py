"""Reads query strings: each name known, each value once, all of it UTF-8."""

from typing import Any, NoReturn
from urllib.parse import unquote_plus

import flask
import marshmallow as ma
from webargs.flaskparser import FlaskParser, abort

from service.api.bodies import read_json
from service.api.fields import Repeated
from service.errors import InvalidInput

MOST_PARAMETERS = 200
LONGEST_NAME = 200
"""Of a parameter that is not known, as far as the answer repeats it."""


class StrictParser(FlaskParser):
    """webargs with our own reading of bodies and query strings; unknown names are refused."""

    DEFAULT_UNKNOWN_BY_LOCATION = {"json": None, "query": None, "querystring": None}  # noqa: RUF012

    def load_json(self, req: flask.Request, schema: ma.Schema) -> Any:
        return read_json()

    def load_querystring(self, req: flask.Request, schema: ma.Schema) -> Any:
        return query_values(req.query_string, schema)


def require_known(*names: str) -> None:
    """Raises InvalidInput if the query string of the request has a parameter of another name.

    For what reads its query string without a schema.
    """
    for name in flask.request.args:
        if name not in names:
            there_is = f" There is {', '.join(names)}." if names else " None is read here."
            raise InvalidInput(
                f"There is no such parameter.{there_is}", field=f"query:{name[:LONGEST_NAME]}"
            )


def query_values(query: bytes, schema: ma.Schema) -> dict[str, Any]:
    """The parameters by name; one that is a list there may come again, or with commas."""
    values: dict[str, Any] = {}
    pairs = [pair for pair in query.split(b"&") if pair]
    if len(pairs) > MOST_PARAMETERS:
        _refuse({"_schema": f"At most {MOST_PARAMETERS} parameters are read."})
    for pair in pairs:
        raw_name, _, raw_value = pair.partition(b"=")
        name = _decoded(raw_name)
        if name is None:
            _refuse({ascii(raw_name)[2:-1][:100]: "The name is not UTF-8."})
        value = _decoded(raw_value)
        if value is None:
            _refuse({name: "The value is not UTF-8."})
        if isinstance(schema.fields.get(name), Repeated):
            values.setdefault(name, []).append(value)
        elif isinstance(schema.fields.get(name), ma.fields.List):
            values.setdefault(name, []).extend(part for part in value.split(",") if part)
        elif name in values:
            _refuse({name: "This parameter is there twice."})
        else:
            values[name] = value
    return values


def _decoded(raw: bytes) -> str | None:
    try:
        return unquote_plus(raw.decode(), errors="strict")
    except UnicodeDecodeError:
        return None


def _refuse(messages: dict[str, str]) -> NoReturn:
    abort(422, messages={"query": messages})
