"""Hyper-parameters that differ from the defaults: what makes one generation unlike another."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TypeAlias

from models.config import Config
from service.errors import InvalidInput

Settings: TypeAlias = Mapping[str, int | float]

NOT_OF_A_MODEL = frozenset({"threads", "diversity"})
"""How fast it is trained, and what the request says: neither makes another model."""
TRAINABLE: Mapping[str, type] = {
    field.name: field.type
    for field in fields(Config)
    if field.type in {int, float} and field.name not in NOT_OF_A_MODEL
}


def parse_settings(words: Sequence[str]) -> Settings:
    """The settings written as ``name=value``.

    Raises InvalidInput, which names what can be set, or what is wrong with the value.
    """
    settings = dict(_parse(word) for word in words)
    config_with(settings)
    return settings


def config_with(settings: Settings) -> Config:
    """The defaults but for these; names that this version does not have are passed over.

    Raises InvalidInput for values that cannot be trained with.
    """
    known = {name: value for name, value in settings.items() if name in TRAINABLE}
    try:
        return Config(**known)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidInput(f"These settings cannot be: {error}.", field="settings") from error


def settings_of(config: Config) -> Settings:
    """Where a generation's hyper-parameters differ from the defaults."""
    usual = Config()
    return {
        name: getattr(config, name)
        for name in TRAINABLE
        if getattr(config, name) != getattr(usual, name)
    }


def _parse(word: str) -> tuple[str, int | float]:
    name, equals, text = word.partition("=")
    if not equals:
        raise InvalidInput(f"Write a setting as NAME=VALUE, not {word!r}.", field="settings")
    kind = TRAINABLE.get(name.strip())
    if kind is None:
        raise InvalidInput(
            f"{name.strip()!r} cannot be set; one of {', '.join(sorted(TRAINABLE))}.",
            field="settings",
        )
    try:
        value: int | float = kind(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        what = "a whole number" if kind is int else "a number"
        raise InvalidInput(
            f"{name.strip()} needs {what} from 0 up, not {text!r}.", field="settings"
        )
    return name.strip(), value
