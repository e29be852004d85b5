"""Files that say which packages a project needs: recognised by name, read into pins.

Each reader takes text and yields pins; what is no requirement is passed over, since such files also
hold options, addresses and other people's syntax. A file that is broken as a whole is an error.
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
from ciguard.planning.pins import Lines, PackagePin, pin_at, pin_of, pin_within
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
    """Return what reads a file's pins; None for a file that holds none."""
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
    """Return what a file asks for; nothing for a file of another kind.

    Raises:
        ValueError: if it cannot be read as what its name says.
    """
    reader = reader_of(path)
    if reader is None or not content:
        return []
    try:
        return [pin for pin in reader(content.decode("utf-8-sig")) if pin is not None]
    except UnreadableSourceError as error:
        msg = f"not a file of its kind: {error}"
        raise ValueError(msg) from error
    except (ValueError, configparser.Error, RecursionError, MemoryError) as error:
        reason = str(error).partition("\n")[0]
        msg = f"not a file of its kind: {type(error).__name__}: {reason}"
        raise ValueError(msg) from error


def project_name(content: bytes) -> str:
    """Return the name of the project that a `pyproject.toml` describes; empty without one."""
    try:
        data = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return ""
    name = _table(data, "project").get("name") or _table(data, "tool", "poetry").get("name")
    return name if isinstance(name, str) else ""


def _requirements(text: str) -> _Pins:
    begin, joined = 1, ""
    for number, line in enumerate(text.splitlines(), start=1):
        begin = begin if joined else number
        joined += re.sub(r"(^|\s)#.*", "", line)
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        # Options such as --hash follow a requirement after a space.
        yield pin_of(re.split(r"\s--?\w", f" {joined}", maxsplit=1)[0].strip(), begin)
        joined = ""
    yield pin_of(joined.strip(), begin)


def _pyproject(text: str) -> _Pins:
    data, lines = tomllib.loads(text), Lines(text)
    project = _table(data, "project")
    groups = [_table(project, "optional-dependencies"), _table(data, "dependency-groups")]
    groups.append(_table(data, "tool", "pdm", "dev-dependencies"))
    listed = [project.get("dependencies"), _table(data, "tool", "uv").get("dev-dependencies")]
    for entries in (*listed, *(entries for group in groups for entries in group.values())):
        yield from _listed(entries, lines)
    poetry = _table(data, "tool", "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(poetry, "group", name, "dependencies") for name in _table(poetry, "group")]
    for table in tables:
        yield from _by_name(table, lines)


def _setup_cfg(text: str) -> _Pins:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    lines = Lines(text)
    values = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    for value in values:
        yield from _listed(re.split(r"[\n;]", value), lines)


def _setup_py(text: str) -> _Pins:
    """Read the requirements that `setup.py` lists as plain texts, without running it."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.keyword) and node.arg in {"install_requires", "extras_require"}:
            for item in ast.walk(node.value):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield pin_of(item.value, item.lineno)


def _pipfile(text: str) -> _Pins:
    data, lines = tomllib.loads(text), Lines(text)
    for section in ("packages", "dev-packages"):
        yield from _by_name(_table(data, section), lines)


def _pipfile_lock(text: str) -> _Pins:
    data, lines = json.loads(text), Lines(text)
    for section in ("default", "develop"):
        yield from _by_name(_table(data, section), lines)


def _toml_lock(text: str) -> _Pins:
    """Read poetry.lock, uv.lock, pdm.lock and pylock.toml."""
    data, lines = tomllib.loads(text), Lines(text)
    entries = [*_entries(data.get("package")), *_entries(data.get("packages"))]
    for entry in entries:
        name = entry.get("name")
        if isinstance(name, str) and "version" in entry:
            yield pin_at(name, entry["version"], lines.of(name, after=_NAME_KEY))


def _conda(text: str) -> _Pins:
    """Read the lists of an environment file or recipe, line by line: that needs no YAML."""
    for number, line in enumerate(text.splitlines(), start=1):
        found = _CONDA_LINE.fullmatch(line[:500])
        if found:
            name = _on_pypi(found["name"])
            yield pin_within(name, (found["version"] or "*").replace(" ", ""), number)


def _conda_lock(text: str) -> _Pins:
    name, named_at = "", 1
    for number, line in enumerate(text.splitlines(), start=1):
        found = _CONDA_LOCKED.fullmatch(line[:500])
        if found and found["key"] == "name":
            name, named_at = found["value"], number
        elif found and name:
            yield pin_at(_on_pypi(name), found["value"], named_at)
            name = ""


def _on_pypi(name: str) -> str:
    """Return what PyPI calls a package of conda, which may have another name for a library."""
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
"""By pattern of a file's name in small letters; the first that fits."""


def _table(data: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _entries(data: Any) -> list[dict[str, Any]]:
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def _listed(entries: Any, lines: Lines) -> _Pins:
    for entry in entries if isinstance(entries, list) else ():
        pin = pin_of(entry.strip(), 1) if isinstance(entry, str) else None
        if pin is not None:
            yield pin_of(entry.strip(), lines.of(pin.package))


def _by_name(table: dict[str, Any], lines: Lines) -> _Pins:
    for name, value in table.items():
        if name == "python" or not re.fullmatch(r"[\w.-]+", name):
            continue
        written = value.get("version", "*") if isinstance(value, dict) else value
        if isinstance(written, str):
            yield pin_within(name, written, lines.of(name))
