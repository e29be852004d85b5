"""A run's settings as JSON: in the journal to resume from, in `run.json` to run again."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard import __version__
from ciguard.config import Config
from ciguard.domain import Severity
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_THIS_COMMAND = frozenset({"out", "resume"})


def parameters_of(config: Config) -> dict[str, Any]:
    """Return the settings as plain JSON values."""
    plain: dict[str, Any] = {"ciguard": __version__}
    for item in fields(Config):
        value = getattr(config, item.name)
        match value:
            case Path():
                plain[item.name] = str(value)
            case Severity():
                plain[item.name] = value.label
            case tuple():
                plain[item.name] = list(value)
            case _:
                plain[item.name] = value
    return plain


def resumed(config: Config, parameters: Mapping[str, Any]) -> Config:
    """Return the settings of the campaign that is resumed; the output folder is this command's.

    Raises:
        OutputError: if the campaign was started by a version whose settings mean something else.
    """
    if parameters.get("ciguard") != __version__:
        msg = (
            f"{config.out}: started by ciguard {parameters.get('ciguard')}, this is {__version__}. "
            "Resume with the version that started it, or start anew without --resume."
        )
        raise OutputError(msg)
    restored: dict[str, Any] = {}
    for item in fields(Config):
        if item.name in _OF_THIS_COMMAND or item.name not in parameters:
            continue
        stored = parameters[item.name]
        match getattr(config, item.name):
            case Path():
                restored[item.name] = Path(stored)
            case Severity():
                restored[item.name] = Severity[stored.upper()]
            case tuple():
                restored[item.name] = tuple(stored)
            case _:
                restored[item.name] = stored
    return replace(config, **restored)
