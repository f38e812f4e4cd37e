"""The page at ``/``: what this is, and where to go on."""

from base64 import b64encode
from hashlib import sha256

from flask import Flask, Response

from service.api.headers import CLOSED
from service.api.state import runtime
from service.catalogue.queries import n_papers

STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 12vh auto 3rem;
  padding: 0 1.25rem; }
h1 { font-size: 2.2rem; line-height: 1.2; margin: 0 0 .5rem; }
p { margin: 0 0 1.5rem; }
ul { list-style: none; margin: 0; padding: 0; border-top: 1px solid #8885; }
li { padding: .75rem 0; border-bottom: 1px solid #8885; }
a { color: light-dark(#0b57b0, #8ab8ff); text-underline-offset: .2em; }
code { font-size: .9em; }
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Papershelf</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>Papershelf</h1>
<p>Papershelf decides what paper to read next: it keeps what you bookmark and rate, and recommends
from the whole catalogue, which has {n_papers:,} papers now.</p>
<ul>
<li><a href="/docs">Read about the API and try it</a> with the token that the first start printed
(<code>first-login.txt</code> in the data folder)</li>
<li><a href="/openapi.json">The description of the API for programs</a> (OpenAPI 3.1)</li>
<li><a href="/health/ready">Is everything in order?</a></li>
</ul>
</main>
</body>
</html>
"""

POLICY = f"{CLOSED}; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
"""Nothing but this very style."""


def register_start_page(app: Flask) -> None:
    @app.get("/")
    def start() -> Response:
        with runtime().reading() as session:
            page = PAGE.format(style=STYLE, n_papers=n_papers(session))
        return Response(page, mimetype="text/html", headers={"Content-Security-Policy": POLICY})
