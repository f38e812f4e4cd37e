"""Background jobs, with the real queue, the real database and real processes."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.config import Settings
from service.db import scope, system_scope
from service.importers.run import receive
from service.job_queue import MOST_ATTEMPTS, JobKind, claim, enqueue, fail, keep
from service.jobs.handlers import HANDLERS, IDEMPOTENCY_KEPT, queue_rebuild_if_due, tidy
from service.jobs.queue import JobRunner, _kept, run_job
from service.runtime import Runtime, build_runtime
from service.tables import (
    AnswerState,
    FailedLogin,
    IdempotencyKey,
    Import,
    ImportRow,
    Job,
    JobState,
)
from tests.factories import Person, make_papers
from tests.service.importers.test_run import LISTING
from tests.service.recommend.shelf import train

PATIENCE_S = 30.0
REDIS = "redis://127.0.0.1:6379"


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def environment(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a child of the worker reads: the same installation."""
    url = runtime.settings.database_url.render_as_string(hide_password=False)
    monkeypatch.setenv("PAPERSHELF_DATA", str(runtime.settings.data_folder))
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.delenv("REDIS_URL", raising=False)


@pytest.fixture
def trained(runtime: Runtime) -> Runtime:
    """With a model there is no training to be done at the start of a worker."""
    train(runtime, now=datetime.now(UTC))
    return runtime


@pytest.fixture(params=["sqlite-queue", "redis-queue"])
def settings_of_queue(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Settings]:
    if request.param == "sqlite-queue":
        yield replace(runtime.settings, redis_url=None)
        return
    redis = pytest.importorskip("redis")
    for number in range(15, 7, -1):
        server = redis.Redis.from_url(f"{REDIS}/{number}", socket_timeout=2)
        try:
            is_free = server.set("papershelf-test", "in use", nx=True) and server.dbsize() == 1
        except redis.exceptions.ConnectionError:
            pytest.skip("no Redis answers on 127.0.0.1:6379")
        if is_free:
            yield replace(runtime.settings, redis_url=f"{REDIS}/{number}")
            server.flushdb()
            server.close()
            return
        server.close()
    pytest.skip("no database of the Redis server is empty")


@pytest.fixture
def runner(settings_of_queue: Settings) -> Iterator[JobRunner]:
    made = JobRunner(settings_of_queue)
    yield made
    made.stop()


@pytest.fixture
def telling(runner: JobRunner, runtime: Runtime) -> Iterator[Runtime]:
    made = build_runtime(runtime.settings, tell=runner.tell)
    yield made
    made.close()


def bring(runtime: Runtime, person: Person, content: bytes = LISTING.encode()) -> int:
    """Receive a file; the key of its job."""
    with scope(runtime.writing(), person.id) as session:
        receive(session, person.id, file_name="list.txt", content=content, now=datetime.now(UTC))
        session.commit()
    with runtime.reading() as session:
        return session.scalars(
            sa.select(Job.id).where(Job.kind == JobKind.IMPORT).order_by(Job.id.desc())
        ).first()


def job(runtime: Runtime, job_id: int) -> Job:
    with runtime.reading() as session:
        return session.get_one(Job, job_id)


def is_done(runtime: Runtime, job_id: int) -> Callable[[], bool]:
    return lambda: job(runtime, job_id).state is JobState.DONE


def n_rows(runtime: Runtime) -> int:
    with runtime.reading() as session, system_scope(session, "a test"):
        return session.scalar(sa.select(sa.func.count(ImportRow.id)))


# ---- The queue carries news, the row is the truth -----------------------------------------------


def test_a_told_job_is_done(trained: Runtime, telling: Runtime, runner: JobRunner, alice: Person):
    runner.start(trained)
    job_id = bring(telling, alice)
    wait_until(is_done(trained, job_id))
    done = job(trained, job_id)
    assert (done.attempts, done.error, done.lease_until) == (1, None, None)
    assert done.finished_at is not None
    assert n_rows(trained) == 6


def test_a_lost_message_is_made_up_for(trained: Runtime, runner: JobRunner, alice: Person):
    job_id = bring(trained, alice)
    runner.start(trained)
    wait_until(is_done(trained, job_id))


def test_a_doubled_message_does_nothing(
    trained: Runtime, telling: Runtime, runner: JobRunner, alice: Person
):
    job_id = bring(telling, alice)
    for _ in range(5):
        runner.tell(job_id)
    runner.start(trained)
    wait_until(is_done(trained, job_id))
    runner.tell(job_id)
    last = bring(telling, alice)
    wait_until(is_done(trained, last))
    assert job(trained, job_id).attempts == 1
    assert n_rows(trained) == 12


def test_a_message_about_nothing_and_nonsense_stop_nobody(
    trained: Runtime, telling: Runtime, runner: JobRunner, alice: Person
):
    runner.tell(4_711)
    for nonsense in (b"", b"\xff", b"[]", b'["id", "no_such_task", []]', b'{"a": 1}'):
        runner.huey.storage.enqueue(nonsense)
    runner.start(trained)
    job_id = bring(telling, alice)
    wait_until(is_done(trained, job_id))


class Trap:
    """Leaves a file behind where it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.file),)


def test_a_pickle_in_the_queue_is_never_opened(
    trained: Runtime, telling: Runtime, runner: JobRunner, alice: Person, tmp_path: Path
):
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    runner.huey.storage.enqueue(trap)
    runner.start(trained)
    job_id = bring(telling, alice)
    wait_until(is_done(trained, job_id))
    assert not (tmp_path / "sprung").exists()
    pickle.loads(trap)
    assert (tmp_path / "sprung").exists(), "the trap was a real one"


def test_a_queue_that_does_not_answer_loses_nothing(runtime: Runtime, alice: Person):
    deaf = JobRunner(replace(runtime.settings, redis_url="redis://127.0.0.1:1/0"))
    telling = build_runtime(runtime.settings, tell=deaf.tell)
    job_id = bring(telling, alice)
    telling.close()
    assert job(runtime, job_id).state is JobState.QUEUED


def test_a_runner_that_has_stopped_leaves_no_thread(trained: Runtime):
    before = set(threading.enumerate())
    runner = JobRunner(trained.settings)
    runner.start(trained)
    assert set(threading.enumerate()) > before
    runner.stop()
    wait_until(lambda: not set(threading.enumerate()) - before)


# ---- What fails ---------------------------------------------------------------------------------


def make_due(runtime: Runtime) -> None:
    with runtime.writing() as session:
        past = datetime.now(UTC) - timedelta(days=1)
        session.execute(sa.update(Job).values(run_after=past))
        session.commit()


def test_a_failing_job_is_tried_again_and_ends_with_its_error(runtime: Runtime):
    with runtime.writing() as session:
        payload = {"import_id": 4_711, "user_id": 4_711}
        queued = enqueue(session, JobKind.IMPORT, payload, now=datetime.now(UTC))
        assert queued is not None
        session.commit()
    states = []
    for _ in range(MOST_ATTEMPTS + 1):
        make_due(runtime)
        run_job(runtime, queued.id, threading.Event())
        states.append(job(runtime, queued.id).state.value)
    assert states == ["queued"] * (MOST_ATTEMPTS - 1) + ["failed"] * 2
    ended = job(runtime, queued.id)
    assert ended.attempts == MOST_ATTEMPTS
    assert ended.error is not None
    assert "NoResultFound" in ended.error
    assert ended.finished_at is not None


def test_a_job_of_a_kind_that_is_not_known_fails_like_any_other(runtime: Runtime):
    with runtime.writing() as session:
        queued = enqueue(session, JobKind.IMPORT, {}, now=datetime.now(UTC))
        assert queued is not None
        session.execute(sa.update(Job).values(kind="bake_bread"))
        session.commit()
    run_job(runtime, queued.id, threading.Event())
    assert "bake_bread" in (job(runtime, queued.id).error or "")


def test_a_job_that_was_cut_off_by_the_stop_is_no_failure(runtime: Runtime):
    with runtime.writing() as session:
        queued = enqueue(session, JobKind.IMPORT, {}, now=datetime.now(UTC))
        assert queued is not None
        session.commit()
    stopping = threading.Event()
    stopping.set()
    run_job(runtime, queued.id, stopping)
    left = job(runtime, queued.id)
    assert (left.state, left.error) == (JobState.RUNNING, None)


KILLED = """
import sys, time
from datetime import UTC, datetime
from service.config import Settings
from service.importers import run
from service.job_queue import claim
from service.runtime import build_runtime

run.ENTRIES_A_TURN = 1
runtime = build_runtime(Settings.from_environment())
with runtime.writing() as session:
    job = claim(session, int(sys.argv[1]), now=datetime.now(UTC))
    session.commit()

def progress(done, total):
    if done == 3:
        print("halfway", flush=True)
        time.sleep(60)

keys = job.payload
run.run_import(
    runtime.writing, keys["import_id"], keys["user_id"], now=datetime.now(UTC), progress=progress
)
"""


def test_the_job_of_a_killed_worker_is_taken_up_where_it_stopped(
    trained: Runtime, alice: Person, environment: None
):
    job_id = bring(trained, alice)
    command = [sys.executable, "-c", KILLED, str(job_id)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "halfway\n"
        worker.send_signal(signal.SIGKILL)
    assert (job(trained, job_id).state, n_rows(trained)) == (JobState.RUNNING, 3)
    if not trained.settings.is_embedded:
        # Several workers: this one waits for the lease to end, and the test does not.
        with trained.writing() as session:
            session.execute(sa.update(Job).values(lease_until=datetime.now(UTC)))
            session.commit()
    runner = JobRunner(trained.settings)
    runner.start(trained)
    try:
        wait_until(is_done(trained, job_id))
    finally:
        runner.stop()
    assert job(trained, job_id).attempts == 2
    assert n_rows(trained) == 6
    with scope(trained.reading(), alice.id) as session:
        done = session.scalars(sa.select(Import)).one()
    assert (done.state, done.n_created, done.n_known) == ("done", 6, 0)


# ---- Training -----------------------------------------------------------------------------------


def test_the_first_worker_trains_in_a_child_and_the_service_answers_with_it(
    runtime: Runtime, environment: None
):
    make_papers(runtime, 5)
    runner = JobRunner(runtime.settings)
    runner.start(runtime)
    try:
        wait_until(lambda: runtime.live_model.registry.current() is not None)
        wait_until(lambda: not unfinished(runtime))
    finally:
        runner.stop()
    with runtime.reading() as session:
        done = session.scalars(sa.select(Job).where(Job.kind == JobKind.REBUILD)).one()
        live = runtime.live_model.current(session, now=datetime.now(UTC))
    assert done.state is JobState.DONE
    assert done.result == {
        "why": "there is no model yet",
        "generation": runtime.live_model.registry.current(),
    }
    assert live.generation == runtime.live_model.registry.current()


def unfinished(runtime: Runtime) -> list[int]:
    with runtime.reading() as session:
        left = Job.state.in_([JobState.QUEUED, JobState.RUNNING])
        return list(session.scalars(sa.select(Job.id).where(left)))


def test_a_training_that_fails_says_why(
    runtime: Runtime, environment: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PAPERSHELF_SECRET_KEY", "short")
    with runtime.writing() as session:
        queued = enqueue(session, JobKind.REBUILD, {}, now=datetime.now(UTC))
        assert queued is not None
        session.commit()
    run_job(runtime, queued.id, threading.Event())
    failed = job(runtime, queued.id)
    assert failed.state is JobState.QUEUED
    assert "PAPERSHELF_SECRET_KEY" in (failed.error or "")
    assert "Traceback" not in (failed.error or "")


def test_a_training_is_queued_once_however_often_it_is_considered(runtime: Runtime):
    make_papers(runtime, 3)
    assert queue_rebuild_if_due(runtime) == "there is no model yet"
    (waiting,) = unfinished(runtime)
    queue_rebuild_if_due(runtime)
    assert unfinished(runtime) == [waiting]
    with runtime.writing() as session:
        session.execute(sa.update(Job).values(state=JobState.RUNNING, waiting_key=None))
        session.commit()
    queue_rebuild_if_due(runtime)
    assert unfinished(runtime) == [waiting], "while it runs"
    with runtime.writing() as session:
        fail(session, job(runtime, waiting), "ModelRefused", now=datetime.now(UTC))
        session.commit()
    queue_rebuild_if_due(runtime)
    assert unfinished(runtime) == [waiting], "while it waits to be tried again"


def test_a_training_that_was_given_up_is_left_alone_for_a_while(runtime: Runtime):
    make_papers(runtime, 3)
    queue_rebuild_if_due(runtime)

    def gave_up(ago: timedelta) -> None:
        with runtime.writing() as session:
            session.execute(
                sa.update(Job).values(
                    state=JobState.FAILED, waiting_key=None, finished_at=datetime.now(UTC) - ago
                )
            )
            session.commit()

    gave_up(timedelta(minutes=30))
    queue_rebuild_if_due(runtime)
    assert unfinished(runtime) == []
    gave_up(timedelta(hours=2))
    queue_rebuild_if_due(runtime)
    assert len(unfinished(runtime)) == 1


# ---- Tidying ------------------------------------------------------------------------------------


def test_answers_are_forgotten_when_their_keys_have_expired(runtime: Runtime, alice: Person):
    now = datetime.now(UTC)
    ages = {"young": IDEMPOTENCY_KEPT - timedelta(minutes=1), "old": IDEMPOTENCY_KEPT * 2}
    with scope(runtime.writing(), alice.id) as session:
        session.add_all(
            IdempotencyKey(
                user_id=alice.id,
                key=key,
                request_hash="x",
                state=AnswerState.ANSWERED,
                created_at=now - age,
            )
            for key, age in ages.items()
        )
        session.commit()
    tidy(runtime)
    with scope(runtime.reading(), alice.id) as session:
        assert session.scalars(sa.select(IdempotencyKey.key)).all() == ["young"]


def test_wrong_passwords_of_long_ago_are_forgotten(runtime: Runtime):
    now = datetime.now(UTC)
    with runtime.writing() as session:
        for name, days in {"fresh": 0, "old": 2}.items():
            at = now - timedelta(days=days)
            session.add(FailedLogin(address_hash=name, failures=9, last_failed_at=at))
        session.commit()
    tidy(runtime)
    with runtime.reading() as session:
        assert session.scalars(sa.select(FailedLogin.address_hash)).all() == ["fresh"]


# ---- The end of a job that cannot be done --------------------------------------------------------


def test_a_job_whose_worker_always_dies_is_given_up_and_its_owner_is_told(
    trained: Runtime, alice: Person
):
    job_id = bring(trained, alice)
    with trained.writing() as session:
        session.execute(sa.update(Job).where(Job.id == job_id).values(attempts=MOST_ATTEMPTS))
        session.commit()
    run_job(trained, job_id, threading.Event())
    ended = job(trained, job_id)
    assert ended.state is JobState.FAILED
    assert "died" in ended.error
    with scope(trained.reading(), alice.id) as session:
        brought = session.scalars(sa.select(Import)).one()
    assert brought.state == "failed"
    assert "died" in brought.error
    assert brought.content is not None, "what was sent is kept"


def test_a_job_cut_off_by_our_own_stopping_counts_as_no_attempt(
    trained: Runtime, alice: Person, monkeypatch: pytest.MonkeyPatch
):
    job_id = bring(trained, alice)
    stopping = threading.Event()

    def cut_off(*_: object) -> dict[str, object]:
        stopping.set()
        raise RuntimeError("the child was ended")

    monkeypatch.setitem(HANDLERS, JobKind.IMPORT, cut_off)
    run_job(trained, job_id, stopping)
    assert job(trained, job_id).attempts == 0
    monkeypatch.undo()
    run_job(trained, job_id, threading.Event())
    assert job(trained, job_id).state is JobState.DONE


def test_a_training_ends_with_its_worker_however_that_ended(runtime: Runtime, environment: None):
    make_papers(runtime, 3)
    life_line, our_end = os.pipe()
    command = [sys.executable, "-m", "service.cli.main", "train", "--quiet", "--until-stdin-closes"]
    os.close(our_end)
    with subprocess.Popen(command, stdin=life_line) as child:
        os.close(life_line)
        assert child.wait(PATIENCE_S) == 1
    assert runtime.live_model.registry.current() is None


def test_a_lease_is_renewed_again_after_the_database_was_away(
    trained: Runtime, alice: Person, monkeypatch: pytest.MonkeyPatch
):
    job_id = bring(trained, alice)
    with trained.writing() as session:
        held = claim(session, job_id, now=datetime.now(UTC))
        run_out = datetime.now(UTC) - timedelta(hours=1)
        session.execute(sa.update(Job).where(Job.id == job_id).values(lease_until=run_out))
        session.commit()
    tries = []

    def away_at_first(*args: object, **options: object) -> None:
        tries.append(None)
        if len(tries) == 1:
            raise sa.exc.OperationalError("UPDATE job", {}, Exception("database is locked"))
        keep(*args, **options)

    monkeypatch.setattr("service.jobs.queue.KEEP_EVERY_S", 0.02)
    monkeypatch.setattr("service.jobs.queue.job_queue.keep", away_at_first)
    with _kept(trained, held):
        wait_until(lambda: job(trained, job_id).lease_until > datetime.now(UTC))
    assert len(tries) > 1
