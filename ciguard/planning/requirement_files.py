"""Parses requirement files into pins. The files are recognised by their names.

Each reader yields the pins in a text. It ignores other entries, since such files also contain
options, addresses and unknown syntax. A file that cannot be parsed at all is an error.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.libraries import LIBRARIES
from ciguard.planning.pins import Lines, PackagePin, locked_pin, range_pin, requirement_pin
from ciguard.sources import UnreadableSourceError, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Pins: TypeAlias = "Iterator[PackagePin | None]"

_CONDA_LINE = re.compile(
    r"\s*-\s*[\"']?(?:[\w.-]+::)?(?P<name>[A-Za-z][\w.-]*)\s*(?P<version>[<>=!~][^\"'#;]*|\s\d\S*)?"
    r"[\"']?\s*(?:#.*)?"
)
_CONDA_LOCKED = re.compile(r"\s*-?\s*(?P<key>name|version):\s*[\"']?(?P<value>[^\s\"']+)[\"']?\s*")
_NAME_KEY = r"^name\s*=\s*[\"']"


def reader_of(path: str) -> Callable[[str], _Pins] | None:
    """Return the function that reads the pins in a file; None if it is not a requirement file."""
    folder, _, name = path.lower().rpartition("/")
    if folder.rpartition("/")[2] in {"requirements", "constraints"} and name.endswith(
        (".txt", ".in")
    ):
        return _requirements
    for pattern, reader in _READERS.items():
        if fnmatchcase(name, pattern):
            return reader
    return None


def read_pins(path: str, content: bytes) -> list[PackagePin]:
    """Return the pins in a file; empty if it is not a requirement file.

    Raises:
        ValueError: if the content does not have the format that the file's name implies.
    """
    reader = reader_of(path)
    if reader is None or not content:
        return []
    try:
        return [pin for pin in reader(content.decode("utf-8-sig")) if pin is not None]
    except UnreadableSourceError as error:
        msg = f"invalid format: {error}"
        raise ValueError(msg) from error
    except (ValueError, configparser.Error, RecursionError, MemoryError) as error:
        reason = str(error).partition("\n")[0]
        msg = f"invalid format: {type(error).__name__}: {reason}"
        raise ValueError(msg) from error


def project_name(content: bytes) -> str:
    """Return the name of the project that a `pyproject.toml` describes; empty if it has none."""
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return ""
    name = _table(data, "project").get("name") or _table(data, "tool", "poetry").get("name")
    return name if isinstance(name, str) else ""


def _requirements(text: str) -> _Pins:
    """Yield the pins in a requirements file of pip."""
    first_line, statement = 1, ""
    for number, line in enumerate(text.splitlines(), start=1):
        first_line = first_line if statement else number
        statement += re.sub(r"(^|\s)#.*", "", line)
        if statement.endswith("\\"):
            statement = statement[:-1]
            continue
        # Options such as --hash follow a requirement after a space.
        yield requirement_pin(
            re.split(r"\s--?\w", f" {statement}", maxsplit=1)[0].strip(), first_line
        )
        statement = ""
    yield requirement_pin(statement.strip(), first_line)


def _pyproject(text: str) -> _Pins:
    """Yield the pins in all lists and tables of dependencies in pyproject.toml."""
    data, lines = tomllib.loads(text), Lines(text)
    project = _table(data, "project")
    groups = [_table(project, "optional-dependencies"), _table(data, "dependency-groups")]
    groups.append(_table(data, "tool", "pdm", "dev-dependencies"))
    requirement_lists = [
        project.get("dependencies"),
        _table(data, "tool", "uv").get("dev-dependencies"),
    ]
    for entries in (
        *requirement_lists,
        *(entries for group in groups for entries in group.values()),
    ):
        yield from _pins_of_list(entries, lines)
    poetry = _table(data, "tool", "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(poetry, "group", name, "dependencies") for name in _table(poetry, "group")]
    for table in tables:
        yield from _pins_of_table(table, lines)


def _setup_cfg(text: str) -> _Pins:
    """Yield the pins in setup.cfg, with those of extras."""
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    lines = Lines(text)
    values = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    for value in values:
        yield from _pins_of_list(re.split(r"[\n;]", value), lines)


def _setup_py(text: str) -> _Pins:
    """Yield the requirements that `setup.py` contains as literals; the file is not run."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.keyword) and node.arg in {"install_requires", "extras_require"}:
            for item in ast.walk(node.value):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield requirement_pin(item.value, item.lineno)


def _pipfile(text: str) -> _Pins:
    """Yield the pins in a Pipfile."""
    data, lines = tomllib.loads(text), Lines(text)
    for section in ("packages", "dev-packages"):
        yield from _pins_of_table(_table(data, section), lines)


def _pipfile_lock(text: str) -> _Pins:
    """Yield the pins in Pipfile.lock."""
    data, lines = json.loads(text), Lines(text)
    for section in ("default", "develop"):
        yield from _pins_of_table(_table(data, section), lines)


def _toml_lock(text: str) -> _Pins:
    """Yield the pins in poetry.lock, uv.lock, pdm.lock or pylock.toml."""
    data, lines = tomllib.loads(text), Lines(text)
    entries = [*_entries(data.get("package")), *_entries(data.get("packages"))]
    for entry in entries:
        name = entry.get("name")
        if isinstance(name, str) and "version" in entry:
            yield locked_pin(name, entry["version"], lines.line_of(name, after=_NAME_KEY))


def _conda(text: str) -> _Pins:
    """Yield the pins in an environment file or recipe of conda, without a YAML parser."""
    for number, line in enumerate(text.splitlines(), start=1):
        entry = _CONDA_LINE.fullmatch(line[:500])
        if entry:
            name = _pypi_name(entry["name"])
            yield range_pin(name, (entry["version"] or "*").replace(" ", ""), number)


def _conda_lock(text: str) -> _Pins:
    """Yield the pins in a lock file of conda."""
    name, name_line = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        entry = _CONDA_LOCKED.fullmatch(line[:500])
        if entry and entry["key"] == "name":
            name, name_line = entry["value"], number
        elif entry and name:
            yield locked_pin(_pypi_name(name), entry["value"], name_line)
            name = ""


def _pypi_name(name: str) -> str:
    """Return the PyPI name of a conda package; the same name if the package is unknown."""
    for library in LIBRARIES.items().values():
        if name.lower() in library.conda_names:
            return library.distributions[0]
    return name


_READERS: dict[str, Callable[[str], _Pins]] = {
    "*requirements*.txt": _requirements,
    "*requirements*.in": _requirements,
    "*constraints*.txt": _requirements,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "pipfile": _pipfile,
    "pipfile.lock": _pipfile_lock,
    "poetry.lock": _toml_lock,
    "uv.lock": _toml_lock,
    "pdm.lock": _toml_lock,
    "pylock*.toml": _toml_lock,
    "conda-lock.y*ml": _conda_lock,
    "*environment*.y*ml": _conda,
    "conda*.y*ml": _conda,
    "meta.y*ml": _conda,
}
"""Readers by pattern of the file name in lower case; the first match counts."""


def _table(data: Any, *keys: str) -> dict[str, Any]:
    """Return the table below nested keys; empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _entries(data: Any) -> list[dict[str, Any]]:
    """Return the tables in a list; empty for other values."""
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def _pins_of_list(entries: Any, lines: Lines) -> _Pins:
    """Yield the pins in a list of requirements."""
    for entry in entries if isinstance(entries, list) else ():
        pin = requirement_pin(entry.strip(), 1) if isinstance(entry, str) else None
        if pin is not None:
            yield requirement_pin(entry.strip(), lines.line_of(pin.package))


def _pins_of_table(table: dict[str, Any], lines: Lines) -> _Pins:
    """Yield the pins in a table of versions by package."""
    for name, value in table.items():
        if name == "python" or not re.fullmatch(r"[\w.-]+", name):
            continue
        version = value.get("version", "*") if isinstance(value, dict) else value
        if isinstance(version, str):
            yield range_pin(name, version, lines.line_of(name))
