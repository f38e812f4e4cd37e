"""People and their tokens."""

import getpass
import sys
import warnings
from datetime import UTC, datetime, timedelta

import click

from service.accounts.records import EVERYTHING_PERSONAL, NewToken, NewUser, Scope
from service.cli.terminal import console, opened_runtime, person
from service.errors import InvalidInput


@click.group()
def user() -> None:
    """People of this installation."""


@user.command("add")
@click.argument("email")
@click.option("--name", default="", help="How to call the person.")
@click.option("--admin", is_flag=True, help="Make an administrator.")
@click.option("--zone", default="UTC", show_default=True, help="IANA time zone.")
@click.option("--password", help="10 to 256 characters; asked for if not given.")
def add_user(email: str, name: str, admin: bool, zone: str, password: str | None) -> None:
    """Add a person."""
    from service.accounts.actions import create_user

    password = _asked_for() if password is None else password
    with opened_runtime() as runtime, runtime.writing() as session:
        new = NewUser(email=email, password=password, name=name, is_admin=admin, zone=zone)
        made = create_user(session, new, now=datetime.now(UTC))
        session.commit()
        console.print(f"Added {made.email}.")


def _asked_for() -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", getpass.GetPassWarning)  # a pipe shows nothing anyway
            return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise InvalidInput(
            "There is no terminal to ask for the password at; give it with --password."
        ) from None


@click.group()
def token() -> None:
    """Keys for programs."""


@token.command("create")
@click.option("--user", "email", help="Whose; the first administrator's if not given.")
@click.option("--name", default="command line", show_default=True)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    help="May be given several times; everything but admin if not given.",
)
@click.option("--days", type=click.IntRange(1, 3650), help="Expires after so many days.")
def create(email: str | None, name: str, scopes: tuple[str, ...], days: int | None) -> None:
    """Make a token and print it: it is shown this once."""
    from service.accounts.actions import create_token
    from service.db import scope as bind

    now = datetime.now(UTC)
    with opened_runtime() as runtime, runtime.writing() as session:
        owner = person(session, email)
        bind(session, owner.id)
        new = NewToken(
            name=name,
            scopes=frozenset(map(Scope, scopes)) or EVERYTHING_PERSONAL,
            expires_at=now + timedelta(days=days) if days else None,
        )
        _, made = create_token(session, owner, new, now=now)
        session.commit()
    click.echo(str(made))
