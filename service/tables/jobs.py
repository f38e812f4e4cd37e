"""Work for later as rows, and the imports that people watch."""

import enum
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from service.db import Owned
from service.tables.base import Base, ByValue, Public, is_one_of


class JobState(enum.StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Job(Public, Base):
    """A piece of work for later; the row is the truth, a queue only says that it is there."""

    __tablename__ = "job"
    __table_args__ = (
        is_one_of("state", JobState),
        sa.Index(None, "state", "run_after"),
    )

    kind: Mapped[str] = mapped_column(sa.String(32))
    payload: Mapped[dict[str, Any]]
    state: Mapped[JobState] = mapped_column(ByValue(JobState))
    waiting_key: Mapped[str | None] = mapped_column(sa.String(64), unique=True)
    """Of the jobs with one key at most one waits; null once it runs."""
    attempts: Mapped[int] = mapped_column(default=0)
    run_after: Mapped[datetime]
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]
    result: Mapped[dict[str, Any] | None]


class ImportState(enum.StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Import(Public, Owned, Base):
    """A file that somebody brought, kept as it came until it is in."""

    __tablename__ = "import"
    __table_args__ = (
        is_one_of("state", ImportState),
        sa.Index(None, "user_id", "created_at", "public_id"),
    )

    file_name: Mapped[str]
    content: Mapped[bytes | None]
    """Null once every entry has its row."""
    format: Mapped[str | None] = mapped_column(sa.String(32))
    """What it was read as; before that, what the person said it is."""
    encoding: Mapped[str | None] = mapped_column(sa.String(32))
    """The same of its characters."""
    saves: Mapped[bool | None]
    """Whether its papers go to the person's library, too; null if that is up to the format."""
    state: Mapped[ImportState] = mapped_column(ByValue(ImportState))
    list_name: Mapped[str | None]
    error: Mapped[str | None]
    n_entries: Mapped[int] = mapped_column(default=0)
    n_created: Mapped[int] = mapped_column(default=0)
    n_known: Mapped[int] = mapped_column(default=0)
    n_skipped: Mapped[int] = mapped_column(default=0)
    n_failed: Mapped[int] = mapped_column(default=0)
    n_saved: Mapped[int] = mapped_column(default=0, server_default="0")
    """Of these papers were not in the library before."""
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]

    @property
    def n_done(self) -> int:
        return self.n_created + self.n_known + self.n_skipped + self.n_failed

    @property
    def percent(self) -> int:
        """Of its entries; a file that is not read yet has none."""
        if self.state is ImportState.DONE:
            return 100
        return 100 * self.n_done // self.n_entries if self.n_entries else 0


class Outcome(enum.StrEnum):
    CREATED = "created"
    KNOWN = "known"
    SKIPPED = "skipped"
    FAILED = "failed"


class ImportRow(Owned, Base):
    """What became of one entry of an imported file."""

    __tablename__ = "import_row"
    __table_args__ = (
        sa.UniqueConstraint("import_id", "position"),
        is_one_of("outcome", Outcome),
    )

    import_id: Mapped[int] = mapped_column(sa.ForeignKey("import.id", ondelete="CASCADE"))
    position: Mapped[int]
    """The entry's place in the file, from 1."""
    line: Mapped[int]
    end_line: Mapped[int]
    outcome: Mapped[Outcome] = mapped_column(ByValue(Outcome))
    paper_id: Mapped[int | None] = mapped_column(sa.ForeignKey("paper.id"), index=True)
    is_saved: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    """The paper went to the library with it, and was not there before."""
    excerpt: Mapped[str] = mapped_column(default="")
    source: Mapped[str | None]
    """Of an entry that was refused, the whole text, to be mended and sent again."""
    reason: Mapped[str | None]
    remedy: Mapped[str | None]
