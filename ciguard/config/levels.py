"""The built-in levels, and the settings and commands that levels declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config.setting import Setting

OWN_LEVELS = ("api", "model", "code", "function", "app")
"""Names of the built-in levels, packages of `ciguard.levels`, in the order of their cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCommands:
    """Commands of a level, named as text and loaded when they run or their help is shown."""

    summary: str
    """Help of `ciguard LEVEL`, one sentence."""
    commands: Mapping[str, str]
    """`module:object` of each `click.Command` by its name, in the order of the help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """Description of a level that is available without loading the level."""

    summary: str
    """Short phrase for what the level tests, shown in brackets after its name."""
    settings: tuple[Setting[Any], ...] = ()
    """Settings of the level, created by `level_setting`."""
    commands: LevelCommands | None = None
    """Commands below `ciguard LEVEL`."""


LEVEL_SETTINGS: Registry[LevelSettings] = Registry(
    "settings of the level",
    group="ciguard.settings",
    accepts=lambda item: isinstance(item, LevelSettings),
    built_in={name: f"ciguard.levels.{name}.settings:SETTINGS" for name in OWN_LEVELS},
)
"""Registry of the levels' settings, by name of the level."""
