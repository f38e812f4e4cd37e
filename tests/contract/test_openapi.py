"""schemathesis on the description: whatever it makes up, the answers are as described.

On SQLite only; what comes is data, not sessions, and the doors' own tests run on both databases.
"""

import atexit
from pathlib import Path
from tempfile import TemporaryDirectory

import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from sqlalchemy.engine import make_url

from service.app import create_app
from service.runtime import build_runtime
from tests.databases import migrated_sqlite, settings_for
from tests.factories import Person, make_papers, make_person

EXAMPLES = 10
"""An operation; all of them together take well under a minute."""

CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]


class Application:
    """The application on a database of its own: schemathesis needs it when tests are collected."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        self.runtime = build_runtime(
            settings_for(
                make_url(f"sqlite:///{migrated_sqlite(Path(self.folder.name) / 'papershelf.db')}"),
                Path(self.folder.name),
            )
        )
        self.app: Flask = create_app(self.runtime)
        self.alice: Person = make_person(self.runtime, "Alice")
        self.paper_ids = [str(paper.public_id) for paper in make_papers(self.runtime, 3)]

    def close(self) -> None:
        self.runtime.close()
        self.folder.cleanup()


application = Application()
schema = schemathesis.openapi.from_wsgi("/openapi.json", application.app)
atexit.register(application.close)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case: schemathesis.Case) -> None:
    _make_real(case)
    case.headers = {**(case.headers or {}), **application.alice.headers}
    # Nobody works here, so an import that is waited for would only be late.
    case.headers.pop("Prefer", None)
    case.call_and_validate(checks=CHECKS)


def _make_real(case: schemathesis.Case) -> None:
    """A paper that exists, for about half of the bodies that name one."""
    body = case.body if isinstance(case.body, dict) else {}
    if len(str(body.get("paper_id"))) == 36 and str(body["paper_id"])[-1] in "02468ace":
        body["paper_id"] = application.paper_ids[0]
