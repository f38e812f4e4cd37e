"""Work for later, as rows in the caller's transaction.

A queue only carries the news that a row is there. A lost message is found by the next tick, and a
doubled one claims nothing, because the row can be claimed once.
"""

import enum
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy import event, func, or_, select, update
from sqlalchemy.orm import Session

from service.db import insert_if_new
from service.tables import Job, JobState

MOST_ATTEMPTS: Final = 5
LEASE: Final = timedelta(minutes=2)
"""After this without ``keep`` another worker takes the one that had the job for dead."""

AFTER_GIVING_UP: Final = timedelta(hours=1)
"""How long what failed five times is left alone before it is tried anew."""


class JobKind(enum.StrEnum):
    """What a worker can be asked to do."""

    IMPORT = "import"
    CONSIDER_REBUILD = "consider_rebuild"
    REBUILD = "rebuild"


_NEWS: Final = "job_queue_news"


def enqueue(
    session: Session,
    kind: JobKind,
    payload: dict[str, Any],
    *,
    now: datetime,
    waiting_key: str | None = None,
) -> Job | None:
    """Add a job to the caller's transaction; None if one with this key waits already."""
    job = insert_if_new(
        session,
        Job,
        {
            "public_id": uuid4(),
            "kind": kind,
            "payload": payload,
            "state": JobState.QUEUED,
            "waiting_key": waiting_key,
            "attempts": 0,
            "run_after": now,
            "created_at": now,
        },
        unique=["waiting_key"],
    )
    if job is not None:
        session.info.setdefault(_NEWS, []).append(job.id)
    return job


def tell_after_commit(session: Session, tell: Callable[[int], None]) -> None:
    """Have ``tell`` called with the id of each job of this session once it is committed."""

    def on_commit(committed: Session) -> None:
        if committed.in_nested_transaction():
            return  # a savepoint: nobody else can see the row yet
        for job_id in committed.info.pop(_NEWS, []):
            tell(job_id)

    def on_rollback(rolled_back: Session) -> None:
        rolled_back.info.pop(_NEWS, None)

    event.listen(session, "after_commit", on_commit)
    event.listen(session, "after_rollback", on_rollback)


def claim(session: Session, job_id: int, *, now: datetime) -> Job | None:
    """Take the job, if it waits or its worker is dead; None if somebody else has it."""
    claimed = session.execute(
        update(Job)
        .where(Job.id == job_id, Job.run_after <= now, _is_free(now))
        .values(
            state=JobState.RUNNING,
            waiting_key=None,
            attempts=Job.attempts + 1,
            lease_until=now + LEASE,
        )
        .returning(Job.id)
    ).one_or_none()
    return None if claimed is None else session.get(Job, job_id, populate_existing=True)


def due(session: Session, *, now: datetime, limit: int = 100) -> Sequence[int]:
    """Ids of the jobs that wait or were left by a dead worker, oldest first."""
    return session.scalars(
        select(Job.id).where(Job.run_after <= now, _is_free(now)).order_by(Job.id).limit(limit)
    ).all()


def finish(session: Session, job: Job, result: dict[str, Any], *, now: datetime) -> None:
    """Write down how a job ended, if it still is ours."""
    session.execute(
        update(Job)
        .where(*_ours(job))
        .values(state=JobState.DONE, result=result, error=None, finished_at=now, lease_until=None)
    )


def fail(session: Session, job: Job, error: str, *, now: datetime) -> bool:
    """Put the job back for later, each time later; after five attempts give it up.

    Tells whether it was given up. Does nothing if another worker has taken it meanwhile.
    """
    is_given_up = job.attempts >= MOST_ATTEMPTS
    end: dict[str, Any] = {"state": JobState.FAILED, "finished_at": now}
    later = {
        "state": JobState.QUEUED,
        "run_after": now + timedelta(seconds=5 * 3**job.attempts),
    }
    changed = session.execute(
        update(Job)
        .where(*_ours(job))
        .values(error=error, lease_until=None, **(end if is_given_up else later))
        .returning(Job.id)
    ).all()
    return is_given_up and bool(changed)


def hand_back(session: Session, job: Job, *, now: datetime) -> None:
    """Let go of a job that was cut off by our own stopping: that is no failed attempt."""
    session.execute(
        update(Job).where(*_ours(job)).values(lease_until=now, attempts=Job.attempts - 1)
    )


def find_job(session: Session, public_id: UUID) -> Job | None:
    return session.scalar(select(Job).where(Job.public_id == public_id))


def n_jobs(session: Session) -> dict[str, float]:
    """How many jobs are in each state, 0 where none is."""
    counted = session.execute(select(Job.state, func.count().label("n")).group_by(Job.state))
    return {**dict.fromkeys(JobState, 0), **{row.state: row.n for row in counted}}


def _ours(job: Job) -> tuple[Any, ...]:
    """The job as it was claimed: the number of attempts tells one claim from the next."""
    return Job.id == job.id, Job.state == JobState.RUNNING, Job.attempts == job.attempts


def _is_free(now: datetime) -> Any:
    return or_(
        Job.state == JobState.QUEUED,
        (Job.state == JobState.RUNNING) & (Job.lease_until <= now),
    )


def keep(session: Session, job: Job, *, now: datetime) -> None:
    """Renew the lease of a job that takes long."""
    session.execute(update(Job).where(*_ours(job)).values(lease_until=now + LEASE))


def release_all(session: Session, *, now: datetime) -> None:
    """End every lease: for the start of the only worker there is, after the last one died."""
    session.execute(update(Job).where(Job.state == JobState.RUNNING).values(lease_until=now))


def is_first_running(session: Session, job: Job, *, now: datetime) -> bool:
    """Whether no older job of its kind is being done."""
    return not session.scalar(
        select(Job.id)
        .where(
            Job.kind == job.kind,
            Job.id < job.id,
            Job.state == JobState.RUNNING,
            Job.lease_until >= now,
        )
        .limit(1)
    )


def may_begin(session: Session, kind: JobKind, *, now: datetime) -> bool:
    """Whether no job of the kind waits or runs, and none was given up a short while ago."""
    return not session.scalar(
        select(Job.id)
        .where(
            Job.kind == kind,
            or_(
                Job.state.in_([JobState.QUEUED, JobState.RUNNING]),
                (Job.state == JobState.FAILED) & (Job.finished_at > now - AFTER_GIVING_UP),
            ),
        )
        .limit(1)
    )


def job_with(session: Session, kind: JobKind, key: str, value: int) -> int:
    """The id of the latest job of the kind whose payload has this number under the key."""
    return session.scalars(
        select(Job.id)
        .where(Job.kind == kind, Job.payload[key].as_integer() == value)
        .order_by(Job.id.desc())
        .limit(1)
    ).one()
