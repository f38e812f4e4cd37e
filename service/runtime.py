"""The one place where the parts are put together."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from service.config import Settings, prepare_data_folder, secret_key
from service.db import Sessions, make_engine
from service.job_queue import tell_after_commit
from service.recommend.live_model import LiveModel


def tell_nobody(_job_id: int) -> None:
    """For processes without a queue at hand: the next tick of a worker finds the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a door needs to do its work; one a process."""

    settings: Settings
    secret_key: str
    sessions: Sessions
    live_model: LiveModel
    tell: Callable[[int], None]

    def reading(self) -> Session:
        """A session that cannot write."""
        return self.sessions.reading()

    def writing(self) -> Session:
        """A session that holds the write lock; its jobs are announced when it commits."""
        session = self.sessions.writing()
        tell_after_commit(session, self.tell)
        return session

    def close(self) -> None:
        self.sessions.engine.dispose()


def build_runtime(settings: Settings, *, tell: Callable[[int], None] = tell_nobody) -> Runtime:
    """Prepare the data folder, the key, the engine and the model; migrates nothing.

    Raises CannotStart.
    """
    prepare_data_folder(settings.data_folder)
    return Runtime(
        settings=settings,
        secret_key=secret_key(settings),
        sessions=Sessions(make_engine(settings.database_url)),
        live_model=LiveModel(settings.models_folder),
        tell=tell,
    )
