"""Work for later: each job done once at a time, none lost, none announced too early."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from service import job_queue
from service.job_queue import LEASE, MOST_ATTEMPTS, JobKind, claim, due, enqueue, fail, finish
from service.runtime import Runtime, build_runtime
from service.tables import Job, JobState
from tests.factories import NOW
from tests.service.threads import all_at_once


@pytest.fixture
def told() -> list[int]:
    """Ids of jobs that were announced."""
    return []


@pytest.fixture
def telling(runtime: Runtime, told: list[int]) -> Iterator[Runtime]:
    made = build_runtime(runtime.settings, tell=told.append)
    yield made
    made.close()


def add_job(runtime: Runtime, *, now: datetime = NOW, key: str | None = None) -> int:
    with runtime.writing() as session:
        job = enqueue(session, JobKind.IMPORT, {"import_id": 1}, now=now, waiting_key=key)
        assert job is not None
        session.commit()
        return job.id


def take(runtime: Runtime, job_id: int, *, now: datetime = NOW) -> bool:
    with runtime.writing() as session:
        job = claim(session, job_id, now=now)
        session.commit()
        return job is not None


def break_down(runtime: Runtime, job_id: int, *, now: datetime) -> bool:
    with runtime.writing() as session:
        is_given_up = fail(session, row(runtime, job_id), "ValueError: no", now=now)
        session.commit()
        return is_given_up


def waiting(runtime: Runtime, *, now: datetime) -> list[int]:
    with runtime.reading() as session:
        return list(due(session, now=now))


def row(runtime: Runtime, job_id: int) -> Job:
    with runtime.reading() as session:
        return session.get_one(Job, job_id)


def test_a_job_is_claimed_by_one_of_eight(runtime: Runtime):
    job_id, taken = add_job(runtime), []
    assert all_at_once([lambda: taken.append(take(runtime, job_id))] * 8) == []
    assert sorted(taken) == [False] * 7 + [True]
    assert row(runtime, job_id).attempts == 1


def test_a_job_waits_for_its_time(runtime: Runtime):
    later = NOW + timedelta(hours=1)
    job_id = add_job(runtime, now=later)
    assert waiting(runtime, now=NOW) == []
    assert not take(runtime, job_id)
    assert waiting(runtime, now=later) == [job_id]
    assert take(runtime, job_id, now=later)


def test_jobs_come_due_oldest_first_and_bounded(runtime: Runtime):
    ids = [add_job(runtime) for _ in range(4)]
    assert waiting(runtime, now=NOW) == ids
    with runtime.reading() as session:
        assert list(due(session, now=NOW, limit=2)) == ids[:2]


def test_a_job_that_is_worked_on_is_nobody_elses(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    before_the_end = NOW + LEASE - timedelta(seconds=1)
    assert waiting(runtime, now=before_the_end) == []
    assert not take(runtime, job_id, now=before_the_end)


def test_the_job_of_a_dead_worker_is_taken_up(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    assert waiting(runtime, now=NOW + LEASE) == [job_id]
    assert take(runtime, job_id, now=NOW + LEASE)
    assert row(runtime, job_id).attempts == 2


def test_a_kept_lease_goes_on(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    with runtime.writing() as session:
        job_queue.keep(session, row(runtime, job_id), now=NOW + timedelta(minutes=1))
        session.commit()
    assert not take(runtime, job_id, now=NOW + LEASE)
    assert take(runtime, job_id, now=NOW + timedelta(minutes=1) + LEASE)


def test_keeping_does_not_wake_a_job_that_is_done(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    with runtime.writing() as session:
        finish(session, row(runtime, job_id), {}, now=NOW)
        job_queue.keep(session, row(runtime, job_id), now=NOW)
        session.commit()
    assert row(runtime, job_id).lease_until is None


def test_a_worker_that_lost_its_job_to_another_changes_nothing_any_more(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    first = row(runtime, job_id)
    assert take(runtime, job_id, now=NOW + LEASE), "the first was slow to renew its lease"
    with runtime.writing() as session:
        assert not fail(session, first, "ValueError: late", now=NOW + LEASE)
        finish(session, first, {}, now=NOW + LEASE)
        job_queue.hand_back(session, first, now=NOW + LEASE)
        job_queue.keep(session, first, now=NOW + timedelta(days=1))
        session.commit()
    now_held = row(runtime, job_id)
    assert (now_held.state, now_held.attempts) == (JobState.RUNNING, 2)
    assert now_held.lease_until == NOW + 2 * LEASE
    assert now_held.error is None


def test_the_only_worker_takes_up_everything_at_its_start(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    with runtime.writing() as session:
        job_queue.release_all(session, now=NOW)
        session.commit()
    assert take(runtime, job_id)


def test_a_finished_job_is_never_done_again(runtime: Runtime):
    job_id = add_job(runtime)
    take(runtime, job_id)
    with runtime.writing() as session:
        finish(session, row(runtime, job_id), {"n": 1}, now=NOW)
        session.commit()
    much_later = NOW + timedelta(days=365)
    assert waiting(runtime, now=much_later) == []
    assert not take(runtime, job_id, now=much_later)
    done = row(runtime, job_id)
    assert (done.state, done.result, done.finished_at) == (JobState.DONE, {"n": 1}, NOW)


def test_a_failing_job_waits_longer_each_time_and_is_given_up(runtime: Runtime):
    job_id, now, waits = add_job(runtime), NOW, []
    for attempt in range(1, MOST_ATTEMPTS + 1):
        assert take(runtime, job_id, now=now)
        assert break_down(runtime, job_id, now=now) == (attempt == MOST_ATTEMPTS)
        waits.append((row(runtime, job_id).run_after - now).total_seconds())
        if attempt < MOST_ATTEMPTS:
            assert not take(runtime, job_id, now=now), "it waits"
            now = row(runtime, job_id).run_after
    assert waits[:-1] == [15, 45, 135, 405]
    end = row(runtime, job_id)
    assert (end.state, end.error, end.finished_at) == (JobState.FAILED, "ValueError: no", now)
    assert waiting(runtime, now=now + timedelta(days=365)) == []


def test_of_the_jobs_with_one_key_one_waits(runtime: Runtime):
    added = []

    def add() -> None:
        with runtime.writing() as session:
            job = enqueue(session, JobKind.REBUILD, {}, now=NOW, waiting_key="rebuild")
            added.append(job is not None)
            session.commit()

    assert all_at_once([add] * 8) == []
    assert sorted(added) == [False] * 7 + [True]


def test_a_key_is_free_again_once_its_job_runs(runtime: Runtime):
    first = add_job(runtime, key="rebuild")
    take(runtime, first)
    assert add_job(runtime, key="rebuild") != first


def test_a_job_is_told_after_its_commit(telling: Runtime, told: list[int]):
    with telling.writing() as session:
        job = enqueue(session, JobKind.IMPORT, {}, now=NOW)
        assert job is not None
        session.flush()
        assert told == []
        session.commit()
        assert told == [job.id]
        session.execute(sa.select(Job.id))
        session.commit()
        assert told == [job.id], "once"


def test_a_savepoint_announces_nothing(telling: Runtime, told: list[int]):
    with telling.writing() as session:
        job = enqueue(session, JobKind.IMPORT, {}, now=NOW)
        assert job is not None
        with session.begin_nested():
            session.execute(sa.select(Job.id))
        assert told == [], "nobody else can see the row yet"
        session.commit()
    assert told == [job.id]


def test_a_job_that_was_rolled_back_is_not_told(telling: Runtime, told: list[int]):
    with telling.writing() as session:
        enqueue(session, JobKind.IMPORT, {}, now=NOW)
        session.rollback()
        session.execute(sa.select(Job.id))
        session.commit()
    assert told == []
    assert waiting(telling, now=NOW) == []


def test_a_job_that_waits_already_is_not_told_again(telling: Runtime, told: list[int]):
    for _ in range(2):
        with telling.writing() as session:
            enqueue(session, JobKind.REBUILD, {}, now=NOW, waiting_key="rebuild")
            session.commit()
    assert len(told) == 1


def test_the_first_of_a_kind_goes_on_and_the_second_stands_back(runtime: Runtime):
    first, second = add_job(runtime), add_job(runtime)
    take(runtime, first)
    take(runtime, second)
    with runtime.reading() as session:
        jobs = [session.get_one(Job, job_id) for job_id in (first, second)]
        assert [job_queue.is_first_running(session, job, now=NOW) for job in jobs] == [True, False]
        after = NOW + LEASE + timedelta(seconds=1)
        assert job_queue.is_first_running(session, jobs[1], now=after), "the first one is dead"


def test_the_latest_job_about_a_thing_is_found(runtime: Runtime):
    add_job(runtime)
    latest = add_job(runtime)
    with runtime.reading() as session:
        assert job_queue.job_with(session, JobKind.IMPORT, "import_id", 1) == latest
