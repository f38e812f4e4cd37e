"""What a person says of a paper without keeping or rating it: each word with its line in the
interaction log."""

from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.orm import Session

from service.catalogue.queries import get_paper
from service.db import insert_if_new
from service.errors import InvalidInput
from service.library.changes import bury, expect_version, log, next_library_version
from service.library.queries import get_feedback
from service.library.records import FeedbackChange, NewFeedback
from service.tables import Feedback, FeedbackKind, InteractionKind


def give_feedback(
    session: Session, user_id: int, new: NewFeedback, *, now: datetime
) -> tuple[Feedback, bool]:
    """Say something of a paper; said again, the last word counts. The flag tells whether it is
    the first."""
    until = _until(new, now=now)
    paper = get_paper(session, new.paper_id)
    version = next_library_version(session, user_id)
    made = insert_if_new(
        session,
        Feedback,
        {
            "public_id": uuid4(),
            "user_id": user_id,
            "paper_id": paper.id,
            "kind": new.kind,
            "until": until,
            "given_at": now,
            "version": 1,
            "library_version": version,
        },
        unique=["user_id", "paper_id"],
    )
    if made is not None:
        said = get_feedback(session, user_id, made.public_id)
    else:
        there = session.scalars(
            select(Feedback.public_id).where(
                Feedback.user_id == user_id, Feedback.paper_id == paper.id
            )
        ).one()
        said = get_feedback(session, user_id, there)
        _say(said, new.kind, until, version, now=now)
    log(
        session,
        user_id,
        paper,
        _line_of(new.kind),
        now=now,
        value=new.kind,
        slate_id=new.slate_id,
    )
    return said, made is not None


def change_feedback(
    session: Session,
    user_id: int,
    feedback_id: UUID,
    change: FeedbackChange,
    *,
    expected_version: int | None,
    now: datetime,
) -> Feedback:
    """Raises NotFound, and PreconditionFailed if it is not at the expected version any more."""
    until = _until(change, now=now)
    library_version = next_library_version(session, user_id)
    said = get_feedback(session, user_id, feedback_id)
    expect_version(said, expected_version)
    _say(said, change.kind, until, library_version, now=now)
    log(session, user_id, said.paper, _line_of(change.kind), now=now, value=change.kind)
    return said


def undo_feedback(
    session: Session,
    user_id: int,
    feedback_id: UUID,
    *,
    expected_version: int | None,
    now: datetime,
) -> None:
    """Leave the paper as if nothing had been said of it. Raises NotFound and PreconditionFailed."""
    library_version = next_library_version(session, user_id)
    said = get_feedback(session, user_id, feedback_id)
    expect_version(said, expected_version)
    log(session, user_id, said.paper, InteractionKind.UNDISMISS, now=now, value=said.kind)
    bury(session, user_id, "feedback", said, library_version, now=now)


def _until(said: NewFeedback | FeedbackChange, *, now: datetime) -> datetime | None:
    is_later = said.kind is FeedbackKind.LATER
    if is_later and said.snooze is None:
        raise InvalidInput(
            "It is missing: later needs the days after which the paper may come back.",
            field="snooze_days",
        )
    if said.snooze is not None and not is_later:
        raise InvalidInput(
            f"It goes with the kind later only, not with {said.kind}.", field="snooze_days"
        )
    return now + said.snooze if said.snooze is not None else None


def _line_of(kind: FeedbackKind) -> InteractionKind:
    """Asking for more is no dismissal, in the log neither."""
    is_wish = kind is FeedbackKind.MORE_LIKE_THIS
    return InteractionKind.MORE_LIKE_THIS if is_wish else InteractionKind.DISMISS


def _say(
    said: Feedback,
    kind: FeedbackKind,
    until: datetime | None,
    library_version: int,
    *,
    now: datetime,
) -> None:
    said.kind, said.until, said.given_at = kind, until, now
    said.version += 1
    said.library_version = library_version
