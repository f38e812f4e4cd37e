"""What all commands share: the runtime, the person, and the progress bar."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from sqlalchemy.orm import Session

from service.accounts.queries import find_user_by_email, first_admin
from service.config import Settings
from service.db import require_database
from service.errors import CannotStart, NotFound
from service.runtime import Runtime, build_runtime
from service.tables import User
from service.tables.migrations import is_current


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """File names and abstracts are full of brackets: none of them is markup here."""
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


console = plain_console()


@contextmanager
def opened_runtime() -> Iterator[Runtime]:
    """The runtime on a database that has this code's schema.

    Raises CannotStart where it has not.
    """
    settings = Settings.from_environment()
    if settings.is_embedded and not Path(str(settings.database_url.database)).exists():
        raise CannotStart(
            f"There is no Papershelf in {settings.data_folder}; start one with `make run`, or set "
            "PAPERSHELF_DATA to the data folder of yours."
        )
    runtime = build_runtime(settings)
    try:
        require_database(runtime.sessions.engine)
        if not is_current(runtime.sessions.engine):
            raise CannotStart(
                "The database is not at this version's schema; run `papershelf db upgrade` first."
            )
        yield runtime
    finally:
        runtime.close()


def person(session: Session, email: str | None) -> User:
    """The person with this address; without one, the first administrator.

    Raises NotFound.
    """
    user = find_user_by_email(session, email) if email else first_admin(session)
    if user is None:
        raise NotFound(
            f"There is nobody with the address {email}."
            if email
            else "There is no administrator; make one with `papershelf user add EMAIL --admin`."
        )
    return user


def progress_bar(to: Console = console) -> Progress:
    """A bar with counts and the time left; on no terminal, a line when it is done."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=to,
    )
