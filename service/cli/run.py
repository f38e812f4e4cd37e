"""Serves the product: `papershelf run` does all set-up first, so that it is the one command."""

import errno
import fcntl
import os
import secrets
import socket
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from service.cli.terminal import console, progress_bar
from service.config import Settings, prepare_data_folder
from service.db import require_database
from service.errors import CannotStart
from service.runtime import Runtime, build_runtime

ADMIN_EMAIL = "admin@papershelf.local"


@click.command()
def run() -> None:
    """Set up what is missing, then serve until Ctrl-C.

    PORT and PAPERSHELF_DATA (the data folder) are honoured; see docs/operations.md.
    """
    settings = Settings.from_environment()
    prepare_data_folder(settings.data_folder)
    _keep_others_out(settings)
    _require_free_port(settings)
    runtime = build_runtime(settings)
    login = set_up(runtime)
    runtime.close()
    # In place of this process: the server should not carry what only the set-up needed.
    environ = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    if login is not None:
        environ["PAPERSHELF_SHOW_LOGIN"] = "1"
    os.execve(sys.executable, [sys.executable, "-m", "service.serving"], environ)  # noqa: S606


@click.command()
def setup() -> None:
    """Do what `papershelf run` does before it serves, and print the first login.

    For installations with PostgreSQL, where other servers serve.
    """
    settings = Settings.from_environment()
    runtime = build_runtime(settings)
    login = set_up(runtime)
    runtime.close()
    if login is not None:
        click.echo(f"login {login.email}\npassword {login.password}\ntoken {login.token}")
    click.echo("Everything is set up.")


@click.command()
def worker() -> None:
    """Run background jobs only, for installations with PostgreSQL and several processes."""
    if Settings.from_environment().is_embedded:
        raise CannotStart("On SQLite `papershelf run` does the background jobs itself.")
    os.execv(sys.executable, [sys.executable, "-m", "service.jobs"])  # noqa: S606


@dataclass(frozen=True, slots=True)
class Login:
    """What the first start tells."""

    email: str
    password: str
    token: str


def set_up(runtime: Runtime) -> Login | None:
    """Migrate, and on a first start fill the catalogue, make an administrator and train.

    Each step looks at what is there, so a start that was cut off is completed by the next one.
    """
    from service.tables.migrations import is_current, upgrade

    require_database(runtime.sessions.engine)
    if not is_current(runtime.sessions.engine):
        upgrade(runtime.sessions.engine)
    _load_starter(runtime)
    login = _make_admin(runtime)
    if runtime.live_model.registry.current() is None:
        # In a child: what training imports must not stay in the memory of the server.
        done = subprocess.run([sys.executable, "-m", "service.cli.main", "train"], check=False)
        if done.returncode != 0:
            console.print("Training failed; papers are compared by their texts until it works.")
    return login


def _load_starter(runtime: Runtime) -> None:
    from service.catalogue.starter import n_starter
    from service.catalogue.starter_loading import is_starter_loaded, load_starter

    with runtime.reading() as session:
        if is_starter_loaded(session):
            return
    with progress_bar() as bar:
        task = bar.add_task("Loading the starter catalogue", total=n_starter())
        load_starter(runtime.writing, now=datetime.now(UTC), advance=lambda n: bar.advance(task, n))


def _make_admin(runtime: Runtime) -> Login | None:
    from service.accounts.actions import create_token, create_user
    from service.accounts.queries import first_admin
    from service.accounts.records import NewToken, NewUser, Scope
    from service.db import scope

    now = datetime.now(UTC)
    with runtime.writing() as session:
        if first_admin(session) is not None:
            return None
        password = secrets.token_urlsafe(12)
        new = NewUser(email=ADMIN_EMAIL, password=password, name="Admin", is_admin=True)
        admin = create_user(session, new, now=now)
        scope(session, admin.id)
        named = NewToken(name="first start", scopes=frozenset(Scope))
        _, token = create_token(session, admin, named, now=now)
        login = Login(admin.email, password, str(token))
        _keep(login, runtime.settings)
        session.commit()
    return login


def _keep(login: Login, settings: Settings) -> None:
    file = settings.first_login_file
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(f"login={login.email}\npassword={login.password}\ntoken={login.token}\n")


def _require_free_port(settings: Settings) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                why = f"Port {settings.port} is taken"
            else:
                why = f"Port {settings.port} on {settings.host} cannot be used ({error.strerror})"
            raise CannotStart(f"{why}; correct PORT or PAPERSHELF_HOST.") from error


def _keep_others_out(settings: Settings) -> None:
    """Hold the data folder, through the exec that follows, for as long as this process lives."""
    descriptor = os.open(settings.data_folder / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CannotStart(
            f"Another Papershelf serves the data folder {settings.data_folder}; stop it, or "
            "set PAPERSHELF_DATA to another folder."
        ) from error
    os.set_inheritable(descriptor, True)
