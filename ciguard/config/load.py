"""Loading of settings from defaults, file, environment and flags; later sources have precedence."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.config.catalogue import SETTINGS
from ciguard.config.settings import Config
from ciguard.domain.text import visible, without_userinfo
from ciguard.errors import ConfigurationError, suggestion
from ciguard.project import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.config.setting import Setting

OWN_FILE = "ciguard.toml"
SHARED_FILE = "pyproject.toml"
PREFIX = "CIGUARD_"
OTHER_VARIABLES = frozenset({"CIGUARD_CACHE", "CIGUARD_SECURITY_TOKEN", VARIABLE})
"""Environment variables with ciguard's prefix that do not set a setting."""

Flags: TypeAlias = Mapping[str, str | bool | Sequence[str] | None]
"""Values from the command line, by key of the setting; None or empty for missing flags."""


class SourceKind(StrEnum):
    """Kind of source of a value; later members have precedence over earlier ones."""

    DEFAULT = "default"
    REQUIREMENTS = "requirements"
    """The project's requirement files, which determine targets that no setting names."""
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class SettingSource:
    """Source of a setting's value."""

    kind: SourceKind
    name: str = ""
    """Name of the file, variable or flag; empty for a default."""

    def __str__(self) -> str:
        """Return the name of the file, variable or flag, or `default`."""
        return self.name or self.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """The effective settings, and the source of each."""

    config: Config
    sources: Mapping[str, SettingSource]
    """Source of each setting, by key."""
    file: Path | None
    """Path of the configuration file; None if there is none."""

    def shown(self) -> list[tuple[str, str, SettingSource]]:
        """Return the key, the value as text for a flag, and the source of all settings."""
        return [
            (key, setting.kind.show(self.config[setting]), self.sources[key])
            for key, setting in SETTINGS.items()
        ]


def load_config(flags: Flags, environment: Mapping[str, str], *, folder: Path) -> EffectiveSettings:
    """Return the effective settings of a command that runs in `folder`.

    Relative paths in a file, and default paths, start at the file's folder. Relative paths in flags
    and variables start at `folder`.

    Raises:
        ConfigurationError: if a setting is unknown, of the wrong type or out of range; the message
            has file or flag, key, value and remedy.
    """
    file = find_file(folder)
    base = file.parent if file else folder
    values: dict[str, Any] = {key: setting.default for key, setting in SETTINGS.items()}
    sources = dict.fromkeys(SETTINGS, SettingSource(SourceKind.DEFAULT))
    from_file: list[tuple[str, Any, SettingSource]] = []
    if file:
        from_file += _from_file(
            file, SettingSource(SourceKind.FILE, _relative(file, folder).as_posix())
        )
    values |= {key: value for key, value, _ in from_file}
    values = {key: _rebased(value, base, folder) for key, value in values.items()}
    overrides = [*_from_environment(environment), *_from_flags(flags)]
    values |= {key: value for key, value, _ in overrides}
    sources |= {key: source for key, _, source in from_file + overrides}
    return EffectiveSettings(config=_config(values), sources=sources, file=file)


def _config(values: Mapping[str, Any]) -> Config:
    """Return the settings with the given values, by key."""
    config = Config()
    for key, value in values.items():
        config = config.with_value(SETTINGS[key], value)
    return config


def find_file(folder: Path) -> Path | None:
    """Return the configuration file of a command that runs in `folder`; None if there is none.

    Searches `folder`, then its parents up to the root of the repository. Outside a repository, only
    `folder` is searched, because its parents may belong to other users.

    Raises:
        ConfigurationError: if a folder has both kinds of file, or a file cannot be read.
    """
    for candidate in _folders_to_search(folder):
        own, shared = candidate / OWN_FILE, candidate / SHARED_FILE
        has_table = shared.is_file() and "ciguard" in _tool_tables(shared)
        if own.is_file() and has_table:
            msg = (
                f"{candidate}: both {OWN_FILE} and [tool.ciguard] in {SHARED_FILE} "
                "contain settings. Keep the settings in only one of these files."
            )
            raise ConfigurationError(msg)
        if own.is_file():
            return own
        if has_table:
            return shared
    return None


def _folders_to_search(folder: Path) -> list[Path]:
    folders = [folder, *folder.absolute().parents]
    for depth, candidate in enumerate(folders, start=1):
        if (candidate / ".git").exists():
            return folders[:depth]
    return [folder]


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file}: cannot be read: {error}. Make the file readable, as text in UTF-8."
        raise ConfigurationError(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{file}: not valid TOML: {error}. Correct that line."
        raise ConfigurationError(msg) from error


def _tool_tables(file: Path) -> dict[str, Any]:
    tool = _read_toml(file).get("tool", {})
    return tool if isinstance(tool, dict) else {}


def _from_file(file: Path, source: SettingSource) -> Iterator[tuple[str, Any, SettingSource]]:
    """Yield the key, the value and the source of each setting in a file."""
    table: object
    if file.name == OWN_FILE:
        table, place = _read_toml(file), source.name
    else:
        table, place = _tool_tables(file)["ciguard"], f"{source.name}: [tool.ciguard]"
    if not isinstance(table, dict):
        msg = f"{place} = {table!r}: not a table. Write [tool.ciguard], then one line per setting."
        raise ConfigurationError(msg)
    allowed = [key for key, setting in SETTINGS.items() if setting.in_files]
    for key, value in table.items():
        setting = _known_setting(key, f"{place}: {key}", known=allowed)
        with _with_place(f"{place}: {key} = {value!r}", setting):
            parsed = setting.kind.from_toml(value)
        if parsed in setting.not_in_files:
            msg = (
                f"{place}: {key} = {value!r}: files must not set this value, because a tested pull "
                f"request can edit them. Use {setting.flag} or {setting.variable}."
            )
            raise ConfigurationError(msg)
        yield key, parsed, source


def _known_setting(key: str, place: str, *, known: Sequence[str]) -> Setting[Any]:
    if key in known:
        return SETTINGS[key]
    if key in SETTINGS:
        setting = SETTINGS[key]
        msg = (
            f"{place}: this setting applies to a single run, so files cannot set it. "
            f"Use {setting.flag} or {setting.variable}."
        )
        raise ConfigurationError(msg)
    msg = f"{place}: no such setting.{suggestion(key, known)}"
    raise ConfigurationError(msg)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any, SettingSource]]:
    by_variable = {setting.variable: setting for setting in SETTINGS.values()}
    for name, text in sorted(environment.items()):
        if not name.startswith(PREFIX) or name in OTHER_VARIABLES:
            continue
        if name not in by_variable:
            msg = f"environment variable {name}: no such setting.{suggestion(name, by_variable)}"
            raise ConfigurationError(msg)
        if not text.strip():
            continue  # workflows pass inputs that are not set as empty variables
        setting = by_variable[name]
        with _with_place(f"environment variable {name}={text!r}", setting):
            value = setting.kind.from_text(text)
        yield setting.key, value, SettingSource(SourceKind.ENVIRONMENT, name)


def _from_flags(flags: Flags) -> Iterator[tuple[str, Any, SettingSource]]:
    for key, flag_value in flags.items():
        if flag_value is None or flag_value == ():
            continue
        setting = SETTINGS[key]
        words = (
            [flag_value]
            if isinstance(flag_value, str)
            else flag_value
            if isinstance(flag_value, Sequence)
            else []
        )
        with _with_place(shlex.join([setting.flag, *words]), setting):
            if isinstance(flag_value, str):
                value = setting.kind.from_text(flag_value)
            else:
                value = setting.kind.check(flag_value)
        yield key, value, SettingSource(SourceKind.FLAG, setting.flag)


@contextmanager
def _with_place(place: str, setting: Setting[Any]) -> Iterator[None]:
    """Convert a ValueError in the body into a ConfigurationError with place and remedy."""
    try:
        yield
    except ValueError as error:
        reason = str(error)
        stop = "" if reason.endswith("?") else "."
        msg = f"{visible(without_userinfo(place))}: {reason}{stop} Write {setting.kind.remedy}."
        raise ConfigurationError(msg) from error


def _rebased(value: Any, base: Path, folder: Path) -> Any:
    """Return a path that is relative to `base` as a path relative to `folder`; else the value."""
    if not isinstance(value, Path) or base == folder:
        return value
    return _relative(base / value, folder)


def _relative(path: Path, folder: Path) -> Path:
    return Path(os.path.relpath(path, folder))
