"""What each kind of job does. Every one may run twice: the rows tell what is left to do."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from service.db import scope, system_scope
from service.importers.run import give_up, run_import
from service.job_queue import JobKind, enqueue, is_first_running, may_begin
from service.recommend.dataset import high_water
from service.recommend.rebuild import why_rebuild
from service.runtime import Runtime
from service.tables import FailedLogin, IdempotencyKey, Job

IDEMPOTENCY_KEPT = timedelta(hours=48)
FAILED_LOGINS_KEPT = timedelta(days=1)
_LOOK_EVERY_S = 0.2

Handler = Callable[[Runtime, Job, threading.Event], dict[str, Any]]


def do_import(runtime: Runtime, job: Job, stopping: threading.Event) -> dict[str, Any]:
    import_id, user_id = int(job.payload["import_id"]), int(job.payload["user_id"])
    run_import(
        runtime.writing, import_id, user_id, now=datetime.now(UTC), is_cut_off=stopping.is_set
    )
    return {}


def give_up_import(session: Session, job: Job, error: str) -> None:
    import_id, user_id = int(job.payload["import_id"]), int(job.payload["user_id"])
    give_up(scope(session, user_id), import_id, error, now=datetime.now(UTC))


def consider_rebuild(runtime: Runtime, _job: Job, _stopping: threading.Event) -> dict[str, Any]:
    return {"why": queue_rebuild_if_due(runtime)}


def queue_rebuild_if_due(runtime: Runtime) -> str | None:
    """Queue a training when enough has changed since the last one; tells why, if it does."""
    now = datetime.now(UTC)
    with runtime.reading() as session:
        live = runtime.live_model.current(session, now=now)
        facts = dict(live.facts) if live.generation else None
        why = why_rebuild(facts, high_water(session), now=now)
    if why is not None:
        with runtime.writing() as session:
            if may_begin(session, JobKind.REBUILD, now=now):
                key = JobKind.REBUILD
                enqueue(session, JobKind.REBUILD, {"why": why}, now=now, waiting_key=key)
            session.commit()
    return why


def rebuild(runtime: Runtime, job: Job, stopping: threading.Event) -> dict[str, Any]:
    """Train in a child, which keeps this process small and its answers quick.

    The child reads the database and writes a generation; it never writes the database.
    """
    with runtime.reading() as session:
        if not is_first_running(session, job, now=datetime.now(UTC)):
            return {"skipped": "another worker is training"}
    _train_in_a_child(stopping)
    return {"why": job.payload.get("why"), "generation": runtime.live_model.registry.current()}


def tidy(runtime: Runtime) -> None:
    """Forget the answers to expired idempotency keys, and wrong passwords of long ago."""
    now = datetime.now(UTC)
    with runtime.writing() as session, system_scope(session, "what has expired"):
        session.execute(
            delete(IdempotencyKey).where(IdempotencyKey.created_at < now - IDEMPOTENCY_KEPT)
        )
        session.execute(
            delete(FailedLogin).where(FailedLogin.last_failed_at < now - FAILED_LOGINS_KEPT)
        )
        session.commit()


HANDLERS: Final[Mapping[JobKind, Handler]] = {
    JobKind.IMPORT: do_import,
    JobKind.CONSIDER_REBUILD: consider_rebuild,
    JobKind.REBUILD: rebuild,
}


WHEN_GIVEN_UP: Final[Mapping[JobKind, Callable[[Session, Job, str], None]]] = {
    JobKind.IMPORT: give_up_import,
}
"""What tells the owner of a job that nobody tries it any more."""


@contextmanager
def closing_descriptor(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)


def _train_in_a_child(stopping: threading.Event) -> None:
    # A low priority, so that answers stay quick; and one BLAS thread, as implicit has its own.
    command = ["nice", "-n", "10", sys.executable, "-m", "service.cli.main", "train", "--quiet"]
    # The child reads our end of a pipe: however this process ends, the pipe closes, and it with it.
    life_line, our_end = os.pipe()
    with (
        closing_descriptor(our_end),
        subprocess.Popen(  # noqa: S603 - our own command
            [*command, "--until-stdin-closes"],
            stdin=life_line,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # Out of reach of the terminal's Ctrl-C: this process decides when the child ends.
            start_new_session=True,
        ) as child,
    ):
        os.close(life_line)
        while True:
            try:
                _, complaint = child.communicate(timeout=_LOOK_EVERY_S)
                break
            except subprocess.TimeoutExpired:
                if stopping.is_set():
                    child.terminate()
    if child.returncode != 0:
        raise RuntimeError(complaint.strip()[-2_000:] or f"exit code {child.returncode}")
