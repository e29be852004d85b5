"""The levels that come with ciguard, and the settings and commands that levels declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config.setting import Setting

OWN_LEVELS = ("api", "model", "code", "function", "app")
"""Each is a package of `ciguard.levels`; in the order in which their cases are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCommands:
    """Commands of a level, as text: one is loaded when it runs, or when its help is shown."""

    summary: str
    """What they are about, a sentence: the help of `ciguard LEVEL`."""
    commands: Mapping[str, str]
    """`module:object` of each `click.Command` by its name, in the order in which they are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """What a level says of itself before anything of it is loaded."""

    summary: str
    """What it tests, in a few words that stand in brackets behind its name."""
    settings: tuple[Setting[Any], ...] = ()
    """Made by `level_setting`."""
    commands: LevelCommands | None = None
    """Of `ciguard LEVEL COMMAND`."""


LEVEL_SETTINGS: Registry[LevelSettings] = Registry(
    "settings of the level",
    group="ciguard.settings",
    accepts=lambda item: isinstance(item, LevelSettings),
    built_in={name: f"ciguard.levels.{name}.settings:SETTINGS" for name in OWN_LEVELS},
)
"""By the name of the level."""
