"""The page at ``/``: what this is, and where to go on."""

from flask import Flask, Response

from service.api.headers import CLOSED
from service.api.state import runtime
from service.catalogue.queries import n_papers

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Papershelf</title>
</head>
<body>
<h1>Papershelf</h1>
<p>Papershelf decides what paper to read next: it keeps what you bookmark and rate, and recommends
from the whole catalogue, which has {n_papers:,} papers now.</p>
<ul>
<li><a href="/docs">Read about the API and try it</a></li>
<li><a href="/openapi.json">The description of the API for programs</a> (OpenAPI 3.1)</li>
<li><a href="/health/ready">Is everything in order?</a></li>
</ul>
</body>
</html>
"""


def register_start_page(app: Flask) -> None:
    @app.get("/")
    def start() -> Response:
        with runtime().reading() as session:
            page = PAGE.format(n_papers=n_papers(session))
        return Response(page, mimetype="text/html", headers={"Content-Security-Policy": CLOSED})
