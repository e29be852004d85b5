"""The built-in levels, and the settings and commands that levels declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config.setting import Setting

OWN_LEVELS = ("api", "graph", "model", "code", "function", "app")
"""Names of the built-in levels. A case of a later level consists of more code, up to a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCommands:
    """Commands of a level, which are loaded when they run or their help is shown."""

    summary: str
    """Help of `ciguard LEVEL`, one sentence."""
    commands: Mapping[str, str]
    """Place of each `click.Command` as `module:object`, by the command's name, in the order of the
    help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """Description of a level, available without importing the level's code."""

    summary: str
    """Short phrase about what the level tests, shown in brackets after its name."""
    settings: tuple[Setting[Any], ...] = ()
    """Settings of the level, created by `level_setting`."""
    commands: LevelCommands | None = None
    """Subcommands of `ciguard LEVEL`; None if there are none."""


LEVEL_SETTINGS: Registry[LevelSettings] = Registry(
    "settings of the level",
    group="ciguard.settings",
    accepts=lambda item: isinstance(item, LevelSettings),
    built_in={name: f"ciguard.levels.{name}.settings:SETTINGS" for name in OWN_LEVELS},
)
"""Registry of the levels' settings, by name of the level."""
