"""All settings by key: the settings of a run, and the settings that levels declare."""

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


def _setting(field: Field[Any]) -> Setting[Any]:
    """Return the setting that a field of `Config` describes in its metadata."""
    metadata = dict(field.metadata)
    key = str(metadata.pop("key", field.name.replace("_", "-")))
    flag = metadata.pop("flag", f"--{key}")
    return Setting(field=field.name, key=key, flag=flag, default=field.default, **metadata)


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
    """Return all settings in the order of the help; the levels' settings replace `level_values`.

    Raises:
        RegistrationError: if a level declares a setting that already exists.
    """
    registered = LEVEL_SETTINGS.items()
    levels = {name: registered[name] for name in LEVEL_SETTINGS.names()}  # built-in levels first
    run_settings = {
        item.name: _setting(item) for item in fields(Config) if item.name != "level_values"
    }
    _refuse_duplicates(run_settings.values(), levels)
    summaries = ", ".join(f"{name} ({level.summary})" for name, level in levels.items())
    settings: list[Setting[Any]] = []
    for item in fields(Config):
        if item.name == "level_values":
            settings += [setting for level in levels.values() for setting in level.settings]
        else:
            setting = run_settings[item.name]
            text = setting.help.replace(LEVELS_PLACEHOLDER, summaries)
            settings.append(replace(setting, help=text))
    return {setting.key: setting for setting in settings}


def _refuse_duplicates(
    run_settings: Iterable[Setting[Any]], levels: Mapping[str, LevelSettings]
) -> None:
    """Raise a RegistrationError if two settings have the same key, field or flag."""
    taken = {
        name for setting in run_settings for name in (setting.key, setting.field, setting.flag)
    }
    for level, declared in levels.items():
        for setting in declared.settings:
            names = {setting.key, setting.field, setting.flag}
            if taken & names:
                msg = (
                    f"level {level!r} declares the setting {setting.key!r} "
                    f"({setting.flag}), which already exists. Rename the setting in the "
                    "level's package."
                )
                raise RegistrationError(msg)
            taken |= names


SETTINGS: Mapping[str, Setting[Any]] = _Settings()
