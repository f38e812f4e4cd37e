"""``/metrics``: figures for those who watch the service, in Prometheus' text format 0.0.4.

An administrator's token reads it. The address a request comes from would be no protection: behind a
proxy on the same machine everybody comes from there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import Flask, Response
from sqlalchemy.orm import Session

from service import job_queue
from service.accounts.queries import n_users
from service.accounts.records import Scope
from service.api.auth import authenticate, require
from service.api.parameters import require_known
from service.api.state import runtime
from service.catalogue.queries import n_papers
from service.db import system_scope
from service.library.queries import n_bookmarks
from service.recommend.serve import training_facts

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Gauge:
    """A figure as it is now; several values differ by the label."""

    name: str
    help: str
    values: Mapping[str, float]
    """By the value of ``label``; one without a label has the key ""."""
    label: str = ""

    def lines(self) -> Iterator[str]:
        name = f"papershelf_{self.name}"
        yield f"# HELP {name} {self.help}"
        yield f"# TYPE {name} gauge"
        for value, figure in self.values.items():
            # Numbers as Python writes them are numbers to Prometheus, too.
            yield f"{name}{self._labels(value)} {figure!r}"

    def _labels(self, value: str) -> str:
        quoted = value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
        return f'{{{self.label}="{quoted}"}}' if self.label else ""


def register_metrics(app: Flask) -> None:
    @app.get("/metrics")
    def metrics() -> Response:
        now = datetime.now(UTC)
        require(authenticate(takes_password=False, now=now), (Scope.ADMIN,))
        require_known()
        with runtime().reading() as session:
            lines = [line for gauge in _gauges(session, now=now) for line in gauge.lines()]
        answer = Response("\n".join([*lines, ""]), content_type=MEDIA_TYPE)
        answer.headers["Cache-Control"] = "no-store"
        return answer


def _gauges(session: Session, *, now: datetime) -> Iterator[Gauge]:
    yield from _of_the_model(session, now=now)
    with system_scope(session, "figures about everybody"):
        bookmarks = n_bookmarks(session)
    yield Gauge("papers", "Papers in the catalogue.", {"": n_papers(session)})
    yield Gauge("people", "People with an account.", {"": n_users(session)})
    yield Gauge("bookmarks", "Bookmarks of all people.", {"": bookmarks})
    yield Gauge("jobs", "Jobs by state.", job_queue.n_jobs(session), label="state")


def _of_the_model(session: Session, *, now: datetime) -> Iterator[Gauge]:
    facts = training_facts(session, runtime().live_model, now=now)
    if facts.generation is not None:
        yield Gauge("model_info", "The generation at work.", {facts.generation: 1}, "generation")
    if facts.trained_at is not None:
        age = (now - facts.trained_at).total_seconds()
        yield Gauge("model_age_seconds", "Time since the last training.", {"": age})
    if facts.seconds is not None:
        yield Gauge("training_seconds", "How long the last training took.", {"": facts.seconds})
    late = {"": int(facts.late_because is not None)}
    yield Gauge("training_late", "1 if a training was due two hours ago and did not come.", late)
    lag = {"": facts.catalogue_lag}
    yield Gauge("model_catalogue_lag", "Catalogue changes since the last training.", lag)
