"""All settings by key: those of runs, and those that levels declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ciguard.config.levels import LEVEL_SETTINGS
from ciguard.config.setting import Setting
from ciguard.config.settings import LEVELS_PLACEHOLDER, Config
from ciguard.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.config.levels import LevelSettings


def _setting(described: Field[Any]) -> Setting[Any]:
    names = dict(described.metadata)
    key = str(names.pop("key", described.name.replace("_", "-")))
    flag = names.pop("flag", f"--{key}")
    return Setting(field=described.name, key=key, flag=flag, default=described.default, **names)


class _Settings(Mapping[str, Setting[Any]]):
    """All settings by key, including those of levels, which are loaded when first needed."""

    def __getitem__(self, key: str) -> Setting[Any]:
        return _all_settings()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_all_settings())

    def __len__(self) -> int:
        return len(_all_settings())


@cache
def _all_settings() -> dict[str, Setting[Any]]:
    """Return all settings, those of levels after the settings that select APIs.

    Raises:
        RegistrationError: if a level declares a setting that already exists.
    """
    level_settings = LEVEL_SETTINGS.items()
    levels = {name: level_settings[name] for name in LEVEL_SETTINGS.names()}  # built-in ones first
    of_run = {item.name: _setting(item) for item in fields(Config) if item.name != "of_levels"}
    _refuse_duplicates(of_run.values(), levels)
    summaries = ", ".join(f"{name} ({level.summary})" for name, level in levels.items())
    settings: list[Setting[Any]] = []
    for item in fields(Config):
        if item.name == "of_levels":
            settings += [setting for level in levels.values() for setting in level.settings]
        else:
            setting = of_run[item.name]
            text = setting.help.replace(LEVELS_PLACEHOLDER, summaries)
            settings.append(replace(setting, help=text))
    return {setting.key: setting for setting in settings}


def _refuse_duplicates(of_run: Iterable[Setting[Any]], levels: Mapping[str, LevelSettings]) -> None:
    """Raise a RegistrationError if two settings have the same key, field or flag."""
    taken = {name for setting in of_run for name in (setting.key, setting.field, setting.flag)}
    for level, declared in levels.items():
        for setting in declared.settings:
            names = {setting.key, setting.field, setting.flag}
            if taken & names:
                msg = (
                    f"level {level!r} declares the setting {setting.key!r} ({setting.flag}), which "
                    "already exists. Rename it in the package of the level."
                )
                raise RegistrationError(msg)
            taken |= names


SETTINGS: Mapping[str, Setting[Any]] = _Settings()
