"""``/openapi.json``, and ``/docs`` to read it and try it: from our own files only."""

import hashlib
from importlib.resources import as_file, files
from pathlib import Path

import orjson
from flask import Flask, Response, abort, request, send_from_directory

from service.api.smorest import Api
from service.api.specification import complete

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Papershelf API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<noscript>The description of the API is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
START = """window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
"""
ASSETS = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""Swagger UI works with it: its scripts and styles are files, its icons ``data:`` images."""


def register_documentation(app: Flask, api: Api) -> None:
    """After all blueprints: the description is made once, here."""
    document = orjson.dumps(complete(api.spec.to_dict()), option=orjson.OPT_INDENT_2)
    tag = hashlib.sha256(document).hexdigest()[:16]

    @app.get("/openapi.json")
    def openapi_json() -> Response:
        answer = Response(document, mimetype="application/json")
        answer.set_etag(tag)
        answer.headers["Cache-Control"] = "no-cache"
        answer.make_conditional(request)
        return answer

    @app.get("/docs")
    def docs() -> Response:
        return _guarded(Response(PAGE, mimetype="text/html"))

    @app.get("/docs/start.js")
    def docs_start() -> Response:
        return _guarded(Response(START, mimetype="text/javascript"))

    @app.get("/docs/<name>")
    def docs_asset(name: str) -> Response:
        if name not in ASSETS:
            abort(404)
        return _guarded(send_from_directory(_folder(), name, max_age=86_400))


def _folder() -> Path:
    with as_file(files("flask_swagger_ui") / "dist") as folder:
        return folder


def _guarded(answer: Response) -> Response:
    answer.headers["Content-Security-Policy"] = POLICY
    return answer
