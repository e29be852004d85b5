"""The built-in levels, and the settings that levels declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.registry import Registry

if TYPE_CHECKING:
    from ciguard.config.setting import Setting

OWN_LEVELS = ("api", "model", "code", "function", "app")
"""Names of the built-in levels, packages of `ciguard.levels`, in the order of their cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """Description of a level that is available without loading the level."""

    summary: str
    """Short phrase for what the level tests, shown in brackets after its name."""
    settings: tuple[Setting[Any], ...] = ()
    """Settings of the level, created by `level_setting`."""


LEVEL_SETTINGS: Registry[LevelSettings] = Registry(
    "settings of the level",
    group="ciguard.settings",
    accepts=lambda item: isinstance(item, LevelSettings),
    built_in={name: f"ciguard.levels.{name}.settings:SETTINGS" for name in OWN_LEVELS},
)
"""Registry of the levels' settings, by name of the level."""
