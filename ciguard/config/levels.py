"""The levels that come with ciguard, and the settings that levels declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.registry import Registry

if TYPE_CHECKING:
    from ciguard.config.setting import Setting

OWN_LEVELS = ("api", "model", "code", "function", "app")
"""Each is a package of `ciguard.levels`; in the order in which their cases are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """What a level says of itself before anything of it is loaded."""

    summary: str
    """What it tests, in a few words that stand in brackets behind its name."""
    settings: tuple[Setting[Any], ...] = ()
    """Made by `level_setting`."""


LEVEL_SETTINGS: Registry[LevelSettings] = Registry(
    "settings of the level",
    group="ciguard.settings",
    accepts=lambda item: isinstance(item, LevelSettings),
    built_in={name: f"ciguard.levels.{name}.settings:SETTINGS" for name in OWN_LEVELS},
)
"""By the name of the level."""
