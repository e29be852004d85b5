"""Every setting by its key: those of all runs, and those that levels declare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ciguard.config.levels import LEVEL_SETTINGS
from ciguard.config.setting import Setting
from ciguard.config.settings import LEVELS_THERE_ARE, Config
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
    """Every setting by its key, those of levels included: they are asked when first needed."""

    def __getitem__(self, key: str) -> Setting[Any]:
        return _all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


@cache
def _all() -> dict[str, Setting[Any]]:
    """Return all settings: those of levels stand behind what says which APIs are tested.

    Raises:
        RegistrationError: if a level declares what there is already.
    """
    known = LEVEL_SETTINGS.items()
    levels = {name: known[name] for name in LEVEL_SETTINGS.names()}  # ciguard's own come first
    of_run = {item.name: _setting(item) for item in fields(Config) if item.name != "of_levels"}
    _refuse_twins(of_run.values(), levels)
    summaries = ", ".join(f"{name} ({level.summary})" for name, level in levels.items())
    every: list[Setting[Any]] = []
    for item in fields(Config):
        if item.name == "of_levels":
            every += [setting for level in levels.values() for setting in level.settings]
        else:
            setting = of_run[item.name]
            every.append(replace(setting, help=setting.help.replace(LEVELS_THERE_ARE, summaries)))
    return {setting.key: setting for setting in every}


def _refuse_twins(of_run: Iterable[Setting[Any]], levels: Mapping[str, LevelSettings]) -> None:
    """Refuse what a level calls as another setting is called, by file, variable or flag."""
    taken = {name for setting in of_run for name in (setting.key, setting.field, setting.flag)}
    for level, known in levels.items():
        for setting in known.settings:
            names = {setting.key, setting.field, setting.flag}
            if taken & names:
                msg = (
                    f"level {level!r} declares the setting {setting.key!r} ({setting.flag}), which "
                    "there is already. Rename it in the package of the level."
                )
                raise RegistrationError(msg)
            taken |= names


SETTINGS: Mapping[str, Setting[Any]] = _Settings()
