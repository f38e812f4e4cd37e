"""Collects the commands. Each imports what it needs when it runs, so that help comes at once."""

import logging
import sys
from importlib.metadata import version

import click

from service.cli.accounts import token, user
from service.cli.data import backup, db, import_files
from service.cli.evaluate import evaluate
from service.cli.experiment import experiment
from service.cli.model import train
from service.cli.run import run, setup, worker
from service.errors import ServiceError


class _Commands(click.Group):
    """Tells what went wrong in one sentence, without a traceback for what is no bug."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except ServiceError as error:
            click.echo(f"papershelf: {error}", err=True)
            sys.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("papershelf"), prog_name="papershelf")
def cli() -> None:
    """Papershelf decides what paper to read next.

    Settings come from the environment; docs/operations.md lists them all.
    """
    logging.basicConfig(level="WARNING", format="%(levelname)s %(name)s: %(message)s")
    # alembic's own news ("Running upgrade") is for the log, not for a person at a terminal.
    logging.getLogger("alembic").setLevel("WARNING")


COMMANDS = (
    run,
    setup,
    worker,
    import_files,
    train,
    evaluate,
    experiment,
    user,
    token,
    db,
    backup,
)
for command in COMMANDS:
    cli.add_command(command)

if __name__ == "__main__":
    cli()
