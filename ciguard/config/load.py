"""Bring the sources of settings together: defaults < file < environment < flags."""

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
"""Variables with our prefix that are no settings of a run."""

Flags: TypeAlias = Mapping[str, str | bool | Sequence[str] | None]
"""By key: what was given on the command line. None and empty lists mean that it was not."""


class SourceKind(StrEnum):
    """Where a value can come from; later members override earlier ones."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class SettingSource:
    """Where a value came from."""

    kind: SourceKind
    name: str = ""
    """The file, variable or flag; empty for a default."""

    def __str__(self) -> str:
        """Return it as people read it."""
        return self.name or self.kind.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """The settings in force, and where each came from."""

    config: Config
    sources: Mapping[str, SettingSource]
    """By key; a key for every setting."""
    file: Path | None
    """The configuration file that was read."""

    def shown(self) -> list[tuple[str, str, SettingSource]]:
        """Return every setting as (key, value as it may be written, source)."""
        return [
            (key, setting.kind.show(self.config[setting]), self.sources[key])
            for key, setting in SETTINGS.items()
        ]


def load_config(flags: Flags, environment: Mapping[str, str], *, folder: Path) -> Effective:
    """Return the settings in force for a command that runs in `folder`.

    A relative path in a file, and a default path, starts at the file's folder; in a flag or a
    variable it starts at `folder`.

    Raises:
        ConfigurationError: naming place, key, value and remedy, for the first setting that is
            unknown, of the wrong type or out of range.
    """
    file = find_file(folder)
    base = file.parent if file else folder
    values: dict[str, Any] = {key: setting.default for key, setting in SETTINGS.items()}
    sources = dict.fromkeys(SETTINGS, SettingSource(SourceKind.DEFAULT))
    given: list[tuple[str, Any, SettingSource]] = []
    if file:
        given += _from_file(
            file, SettingSource(SourceKind.FILE, _relative(file, folder).as_posix())
        )
    values |= {key: value for key, value, _ in given}
    values = {key: _based(value, base, folder) for key, value in values.items()}
    overriding = [*_from_environment(environment), *_from_flags(flags)]
    values |= {key: value for key, value, _ in overriding}
    sources |= {key: source for key, _, source in given + overriding}
    return Effective(config=_config(values), sources=sources, file=file)


def _config(values: Mapping[str, Any]) -> Config:
    """Return the settings that have these values by key."""
    config = Config()
    for key, value in values.items():
        config = config.having(SETTINGS[key], value)
    return config


def find_file(folder: Path) -> Path | None:
    """Return the configuration file nearest to `folder`, up to the root of its repository.

    Outside a repository only `folder` itself is searched: what lies above belongs to others.

    Raises:
        ConfigurationError: if one folder holds both kinds of file, or one cannot be read.
    """
    for candidate in _searched(folder):
        own, shared = candidate / OWN_FILE, candidate / SHARED_FILE
        has_table = shared.is_file() and "ciguard" in _tool_tables(shared)
        if own.is_file() and has_table:
            msg = (
                f"{candidate}: settings are both in {OWN_FILE} and in [tool.ciguard] of "
                f"{SHARED_FILE}. Keep one of the two."
            )
            raise ConfigurationError(msg)
        if own.is_file():
            return own
        if has_table:
            return shared
    return None


def _searched(folder: Path) -> list[Path]:
    folders = [folder, *folder.absolute().parents]
    for depth, candidate in enumerate(folders, start=1):
        if (candidate / ".git").exists():
            return folders[:depth]
    return [folder]


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file}: cannot be read: {error}. Make it a readable text file in UTF-8."
        raise ConfigurationError(msg) from error
    except tomllib.TOMLDecodeError as error:
        msg = f"{file}: not valid TOML: {error}. Mend that line."
        raise ConfigurationError(msg) from error


def _tool_tables(file: Path) -> dict[str, Any]:
    tool = _read_toml(file).get("tool", {})
    return tool if isinstance(tool, dict) else {}


def _from_file(file: Path, source: SettingSource) -> Iterator[tuple[str, Any, SettingSource]]:
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
        setting = _known(key, f"{place}: {key}", known=allowed)
        with _placed(f"{place}: {key} = {value!r}", setting):
            read = setting.kind.from_toml(value)
        if read in setting.not_in_files:
            msg = (
                f"{place}: {key} = {value!r}: a change under test could set it, so no file may. "
                f"Use {setting.flag} or {setting.variable}."
            )
            raise ConfigurationError(msg)
        yield key, read, source


def _known(key: str, place: str, *, known: Sequence[str]) -> Setting[Any]:
    if key in known:
        return SETTINGS[key]
    if key in SETTINGS:
        setting = SETTINGS[key]
        msg = (
            f"{place}: concerns one run and cannot be set in a file. "
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
            continue  # Workflows pass inputs that nobody set as empty variables.
        setting = by_variable[name]
        with _placed(f"environment variable {name}={text!r}", setting):
            value = setting.kind.from_text(text)
        yield setting.key, value, SettingSource(SourceKind.ENVIRONMENT, name)


def _from_flags(flags: Flags) -> Iterator[tuple[str, Any, SettingSource]]:
    for key, given in flags.items():
        if given is None or given == ():
            continue
        setting = SETTINGS[key]
        words = [given] if isinstance(given, str) else given if isinstance(given, Sequence) else []
        with _placed(shlex.join([setting.flag, *words]), setting):
            if isinstance(given, str):
                value = setting.kind.from_text(given)
            else:
                value = setting.kind.check(given)
        yield key, value, SettingSource(SourceKind.FLAG, setting.flag)


@contextmanager
def _placed(place: str, setting: Setting[Any]) -> Iterator[None]:
    """Turn the reason why a value is wrong into an error that says where, and what to write."""
    try:
        yield
    except ValueError as error:
        reason = str(error)
        stop = "" if reason.endswith("?") else "."
        msg = f"{visible(without_userinfo(place))}: {reason}{stop} Write {setting.kind.remedy}."
        raise ConfigurationError(msg) from error


def _based(value: Any, base: Path, folder: Path) -> Any:
    """Turn a path that starts at `base` into one that starts at `folder`."""
    if not isinstance(value, Path) or base == folder:
        return value
    return _relative(base / value, folder)


def _relative(path: Path, folder: Path) -> Path:
    return Path(os.path.relpath(path, folder))
