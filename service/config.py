"""Settings: read once from the environment, checked, and passed down as one value."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from service.errors import CannotStart

SHORTEST_SECRET = 32
"""Bytes of the secret key below which guessing is thinkable."""

DEFAULT_PORT = 8000
DEFAULT_DATA = "data"
LARGEST_PORT = 65535


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
    development: bool

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
            public_url=(env.get("PUBLIC_URL") or f"http://127.0.0.1:{port}").rstrip("/"),
            host=host,
            port=port,
            redis_url=env.get("REDIS_URL") or None,
            log_level=(env.get("PAPERSHELF_LOG_LEVEL") or "INFO").upper(),
            development=env.get("PAPERSHELF_DEVELOPMENT", "") == "1",
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

    Raises CannotStart if the operator's is shorter than 32 bytes.
    """
    if settings.secret_key:
        if len(settings.secret_key.encode()) < SHORTEST_SECRET:
            raise CannotStart(
                f"PAPERSHELF_SECRET_KEY is shorter than {SHORTEST_SECRET} bytes; make one with "
                "`python3 -c 'import secrets; print(secrets.token_urlsafe(48))'`."
            )
        return settings.secret_key
    file = settings.data_folder / "secret-key"
    try:
        # Exclusive creation, so that two processes starting together agree on one key.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as new:
            new.write(secrets.token_urlsafe(48))
    except FileExistsError:
        pass
    return file.read_text().strip()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= LARGEST_PORT):
        raise CannotStart(f"PORT is {text!r}; a number from 1 to {LARGEST_PORT} is needed.")
    return int(text)


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
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise CannotStart(
            f"DATABASE_URL names {url.get_backend_name()}; Papershelf runs on SQLite or PostgreSQL."
        )
    if url.get_backend_name() == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url
