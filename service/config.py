"""Settings: read once from the environment, checked, and passed down as one value."""

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import Self
from urllib.parse import urlsplit

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from service.errors import CannotStart

SHORTEST_SECRET = 32
"""Bytes of the secret key below which guessing is thinkable."""

DEFAULT_PORT = 8000
DEFAULT_DATA = "data"
LARGEST_PORT = 65535
MOST_EXPLORATION = 0.5
"""A list is read for what is best; half of it must stay that."""
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator can set.

    ``docs/operations.md`` lists each of them; a test holds the two lists together.
    """

    data_folder: Path
    database_url: URL
    secret_key: str
    public_url: str
    host: str
    port: int
    redis_url: str | None
    log_level: str
    exploration: float = 0.0
    """The share of each list that is tried out, for requests that do not say."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The settings that the environment asks for.

        Raises CannotStart, which names the variable and says what would be right.
        """
        env = os.environ if environ is None else environ
        folder = Path(env.get("PAPERSHELF_DATA") or DEFAULT_DATA).expanduser().absolute()
        port = _port(env.get("PORT") or str(DEFAULT_PORT))
        host = env.get("PAPERSHELF_HOST") or "127.0.0.1"
        return cls(
            data_folder=folder,
            database_url=_database_url(env.get("DATABASE_URL"), folder),
            secret_key=env.get("PAPERSHELF_SECRET_KEY") or "",
            public_url=_public_url(env.get("PUBLIC_URL") or f"http://127.0.0.1:{port}"),
            host=host,
            port=port,
            redis_url=_redis_url(env.get("REDIS_URL")),
            log_level=_log_level(env.get("PAPERSHELF_LOG_LEVEL") or "WARNING"),
            exploration=_exploration(env.get("PAPERSHELF_EXPLORATION") or "0"),
        )

    @property
    def is_embedded(self) -> bool:
        """Whether one process group on SQLite is the whole installation."""
        return self.database_url.get_backend_name() == "sqlite"

    @property
    def models_folder(self) -> Path:
        return self.data_folder / "models"

    @property
    def jobs_database(self) -> Path:
        return self.data_folder / "jobs.db"

    @property
    def first_login_file(self) -> Path:
        """Where the first start leaves the administrator's login, readable by its owner only."""
        return self.data_folder / "first-login.txt"


def prepare_data_folder(folder: Path) -> None:
    """Make the data folder and prove that it can be written.

    Raises CannotStart with the folder's name and the system's reason.
    """
    probe = folder / f".writable-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"The data folder {folder} cannot be written ({error.strerror}); "
            "set PAPERSHELF_DATA to a folder that you own."
        ) from error


def secret_key(settings: Settings) -> str:
    """The key behind cursors and signed links: the operator's, or one kept in the data folder.

    Raises CannotStart if it is shorter than 32 bytes.
    """
    if settings.secret_key:
        if len(settings.secret_key.encode()) < SHORTEST_SECRET:
            raise CannotStart(
                f"PAPERSHELF_SECRET_KEY is shorter than {SHORTEST_SECRET} bytes; make one with "
                "`python3 -c 'import secrets; print(secrets.token_urlsafe(48))'`."
            )
        return settings.secret_key
    return _kept_key(settings.data_folder / "secret-key")


def _kept_key(file: Path) -> str:
    if not file.exists():
        # Written aside and linked: processes that start together agree on one key, and none of
        # them can read half of it.
        descriptor, aside = mkstemp(prefix=".secret-key-", dir=file.parent)
        with os.fdopen(descriptor, "w") as new:
            new.write(secrets.token_urlsafe(48))
            new.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileExistsError):
            os.link(aside, file)
        Path(aside).unlink()
    key = file.read_text().strip()
    if len(key.encode()) < SHORTEST_SECRET:
        raise CannotStart(f"{file} holds no key; delete it, and the next start makes a new one.")
    return key


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= LARGEST_PORT):
        raise CannotStart(f"PORT is {text!r}; a number from 1 to {LARGEST_PORT} is needed.")
    return int(text)


def _log_level(text: str) -> str:
    if text.upper() not in LOG_LEVELS:
        raise CannotStart(f"PAPERSHELF_LOG_LEVEL is {text!r}; one of {', '.join(LOG_LEVELS)}.")
    return text.upper()


def _exploration(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= MOST_EXPLORATION:
            return float(text)
    raise CannotStart(
        f"PAPERSHELF_EXPLORATION is {text!r}; a number from 0 to {MOST_EXPLORATION} is needed."
    )


def _database_url(text: str | None, folder: Path) -> URL:
    if not text:
        return make_url(f"sqlite:///{folder / 'papershelf.db'}")
    try:
        url = make_url(text)
    except ArgumentError as error:
        raise CannotStart(
            "DATABASE_URL cannot be read; sqlite:////path/to/file.db or "
            "postgresql://user:password@host/name is needed."
        ) from error
    backend = url.get_backend_name()
    if backend in {"postgresql", "postgres"}:
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise CannotStart(f"DATABASE_URL names {backend}; Papershelf runs on SQLite or PostgreSQL.")
    if url.database in {None, "", ":memory:"}:
        raise CannotStart("DATABASE_URL names no file; sqlite:////path/to/file.db is needed.")
    return url.set(drivername="sqlite")


def _public_url(text: str) -> str:
    if not _is_address(text, {"http", "https"}):
        raise CannotStart(
            f"PUBLIC_URL is {text!r}; an address like https://papers.example.org is needed."
        )
    return text.rstrip("/")


def _redis_url(text: str | None) -> str | None:
    if text and not _is_address(text, {"redis", "rediss"}):
        raise CannotStart("REDIS_URL cannot be read; redis://host:6379/0 is needed.")
    return text or None


def _is_address(text: str, schemes: set[str]) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
