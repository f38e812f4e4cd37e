"""Huey carries the news of jobs between processes; the rows in the database are the truth.

A message that is lost is made up for by the next tick, one that comes twice claims nothing, so
none of Huey's own promises is relied on.
"""

import contextlib
import json
import logging
import threading
from datetime import UTC, datetime
from typing import Any

from huey import Huey, RedisHuey, SqliteHuey, crontab
from huey.consumer import Consumer
from huey.registry import Message
from huey.serializer import Serializer
from sqlalchemy.exc import SQLAlchemyError

from service import job_queue
from service.config import Settings
from service.db import system_scope
from service.job_queue import JobKind
from service.jobs.handlers import HANDLERS, WHEN_GIVEN_UP, queue_rebuild_if_due, tidy
from service.runtime import Runtime
from service.tables import Job

logger = logging.getLogger(__name__)

WORKERS = 2
"""One for the long jobs that wait for a child, one for the short ones."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.05, 0.5
"""How often the embedded queue looks for news: soon after some, rarely when nothing happens."""
KEEP_EVERY_S = 30.0


class JobRunner:
    """The queue of one process: announces jobs, and runs them where ``start`` was called."""

    def __init__(self, settings: Settings) -> None:
        self.huey = _make_huey(settings)
        self.stopping = threading.Event()
        self._is_only_worker = settings.is_embedded
        self._runtime: Runtime | None = None
        self._consumer: Consumer | None = None
        self._run_job = self.huey.task(name="run_job")(self._run_one)
        self._tick = self.huey.periodic_task(crontab(minute="*"), name="tick")(self._tick_once)

    def tell(self, job_id: int) -> None:
        """Announce a committed job; where the queue does not answer, the next tick finds it."""
        try:
            self._run_job(job_id)
        except Exception:
            logger.warning("job %s could not be announced; a tick will find it", job_id)

    def start(self, runtime: Runtime) -> None:
        """Run jobs in threads of this process, beginning with those that an earlier one left."""
        self._runtime = runtime
        if self._is_only_worker:
            with runtime.writing() as session:
                job_queue.release_all(session, now=datetime.now(UTC))
                session.commit()
        self._consumer = _EmbeddedConsumer(
            self.huey,
            workers=WORKERS,
            worker_type="thread",
            initial_delay=FIRST_WAIT_S,
            max_delay=LONGEST_WAIT_S,
        )
        self._consumer.start()
        self._tick()

    def stop(self) -> None:
        """Stop after the job at hand; a training is ended, and begun anew at the next start."""
        self.stopping.set()
        if self._consumer is not None:
            self._consumer.stop(graceful=True)
        with contextlib.suppress(Exception):
            self.huey.storage.close()

    def _tick_once(self) -> None:
        runtime = self._require_runtime()
        tidy(runtime)
        queue_rebuild_if_due(runtime)
        with runtime.reading() as session:
            waiting = job_queue.due(session, now=datetime.now(UTC))
        for job_id in waiting:
            self.tell(job_id)

    def _run_one(self, job_id: int) -> None:
        run_job(self._require_runtime(), job_id, self.stopping)

    def _require_runtime(self) -> Runtime:
        if self._runtime is None:
            raise RuntimeError("start() gives the runner what it needs to run jobs")
        return self._runtime


def run_job(runtime: Runtime, job_id: int, stopping: threading.Event) -> None:
    """Claim a job, do it, and write down how it ended."""
    with runtime.writing() as session:
        job = job_queue.claim(session, job_id, now=datetime.now(UTC))
        session.commit()
    if job is None:
        return
    if job.attempts > job_queue.MOST_ATTEMPTS:
        # It never came to fail(): whoever had it died, each time.
        _fail(runtime, job, "the process that did it died, again and again")
        return
    try:
        with _kept(runtime, job):
            result = HANDLERS[JobKind(job.kind)](runtime, job, stopping)
    except Exception as error:
        if stopping.is_set():
            logger.info("job %s (%s) was cut off; the next start does it", job_id, job.kind)
            with runtime.writing() as session:
                job_queue.hand_back(session, job, now=datetime.now(UTC))
                session.commit()
            return
        logger.exception("job %s (%s) failed", job_id, job.kind)
        _fail(runtime, job, f"{type(error).__name__}: {error}")
        return
    with runtime.writing() as session, system_scope(session, "a job is done"):
        job_queue.finish(session, job, result, now=datetime.now(UTC))
        session.commit()


def _fail(runtime: Runtime, job: Job, error: str) -> None:
    with runtime.writing() as session:
        is_given_up = job_queue.fail(session, job, error, now=datetime.now(UTC))
        session.commit()
    if is_given_up and (tell_owner := WHEN_GIVEN_UP.get(JobKind(job.kind))):
        with runtime.writing() as session:
            tell_owner(session, job, error)
            session.commit()


@contextlib.contextmanager
def _kept(runtime: Runtime, job: Job) -> Any:
    """Renew the job's lease for as long as it is worked on."""
    is_over = threading.Event()

    def renew() -> None:
        while not is_over.wait(KEEP_EVERY_S):
            try:
                with runtime.writing() as session:
                    job_queue.keep(session, job, now=datetime.now(UTC))
                    session.commit()
            except SQLAlchemyError as error:
                logger.warning("the lease of job %s was not renewed yet: %s", job.id, error)

    renewing = threading.Thread(target=renew, name=f"keep-job-{job.id}", daemon=True)
    renewing.start()
    try:
        yield
    finally:
        is_over.set()
        renewing.join()


class _EmbeddedConsumer(Consumer):  # type: ignore[misc]
    """A consumer inside a server, which has signal handlers of its own."""

    def _set_signal_handlers(self) -> None:
        pass


class _JsonSerializer(Serializer):  # type: ignore[misc]
    """Messages as JSON: Huey's own pickles would let whoever writes to the queue run code here."""

    def _serialize(self, data: Message) -> bytes:
        return json.dumps([data.id, data.name, list(data.args)]).encode()

    def _deserialize(self, data: bytes) -> Message:
        task_id, name, args = json.loads(data)
        return Message(task_id, name, args=tuple(args))


def _make_huey(settings: Settings) -> Huey:
    options: dict[str, Any] = {"results": False, "utc": True, "serializer": _JsonSerializer()}
    if settings.redis_url:
        return RedisHuey("papershelf", url=settings.redis_url, **options)
    return SqliteHuey("papershelf", filename=str(settings.jobs_database), **options)
