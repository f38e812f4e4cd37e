"""What every change of a person's library does: it takes its turn, holds the caller to the version
they have read, writes its line in the interaction log, and leaves word of what is gone."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from service.errors import InvalidInput, PreconditionFailed
from service.tables import (
    Bookmark,
    Feedback,
    Impression,
    Interaction,
    InteractionKind,
    LibraryDeletion,
    Paper,
    Rating,
    Slate,
    User,
)


def next_library_version(session: Session, user_id: int) -> int:
    """Taken first: its row lock makes one person's changes follow each other."""
    return session.scalars(
        update(User)
        .where(User.id == user_id)
        .values(library_version=User.library_version + 1)
        .returning(User.library_version)
    ).one()


def expect_version(row: Bookmark | Rating | Feedback, version: int | None) -> None:
    """None stands for whichever version it has."""
    if version is not None and row.version != version:
        raise PreconditionFailed("It has changed since you read it; read it again.")


def bury(
    session: Session,
    user_id: int,
    kind: str,
    row: Bookmark | Rating | Feedback,
    library_version: int,
    *,
    now: datetime,
) -> None:
    session.add(
        LibraryDeletion(
            user_id=user_id,
            object_kind=kind,
            object_id=str(row.public_id),
            deleted_at=now,
            library_version=library_version,
        )
    )
    session.delete(row)
    session.flush()


def log(
    session: Session,
    user_id: int,
    paper: Paper,
    kind: InteractionKind,
    *,
    now: datetime,
    value: str | None = None,
    slate_id: UUID | None = None,
) -> None:
    shown = None
    if slate_id is not None:
        shown = session.execute(
            select(Slate, Impression)
            .join(Impression, Impression.slate_id == Slate.id)
            .where(
                Slate.user_id == user_id,
                Slate.public_id == slate_id,
                Impression.paper_id == paper.id,
            )
        ).one_or_none()
        if shown is None:
            raise InvalidInput("This slate did not show this paper.", field="slate_id")
    slate, impression = shown if shown is not None else (None, None)
    session.add(
        Interaction(
            user_id=user_id,
            paper_id=paper.id,
            kind=kind,
            value=value,
            at=now,
            slate_id=slate.id if slate else None,
            position=impression.position if impression else None,
            generation=_generation(slate, impression) if slate and impression else None,
            propensity=impression.propensity if impression else None,
        )
    )
    session.flush()


def _generation(slate: Slate, impression: Impression) -> str | None:
    """Which one proposed the paper: in an experiment its arm's, else the one of the slate."""
    return impression.generation if impression.arm is not None else slate.generation
