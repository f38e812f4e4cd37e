"""Brings a database to the schema of this code."""

from pathlib import Path

import alembic.command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.engine import Engine


def migrations_folder() -> Path:
    """Where the migrations lie: beside the checkout's packages, or inside the installed one."""
    service = Path(__file__).resolve().parent.parent
    installed = service / "_migrations"
    return installed if installed.is_dir() else service.parent / "alembic"


def configuration(engine: Engine) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = engine
    return config


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Run what is missing; a failed migration leaves the schema as it was."""
    alembic.command.upgrade(configuration(engine), revision)


def is_current(engine: Engine) -> bool:
    """Whether the database has exactly the schema of this code."""
    with engine.connect() as connection:
        at = MigrationContext.configure(connection).get_current_heads()
    return set(at) == set(ScriptDirectory.from_config(configuration(engine)).get_heads())
