"""Where seed programs come from: those that come with ciguard, and files of the user's.

resnet18                   comes with ciguard, written for each library
models/tower.py            a script of the user's that builds, trains and evaluates one model
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.files import read_text
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.project import seeds_folder
from ciguard.sources import UnreadableSourceError, parse

if TYPE_CHECKING:
    from pathlib import Path

_WHAT = "seed program"
_MOST = 1 << 20
"""Bytes of a program; what is longer is no program that people wrote."""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The text of a seed program."""

    name: str
    """Of a shipped one library and name, since each library has one of that name: `torch/lenet`;
    of a file its path as the user wrote it."""
    text: str
    """Lines end with line feeds."""


def shipped_programs(library: str) -> tuple[str, ...]:
    """Return the names of the programs that come with ciguard for a library, in order."""
    if library not in libraries_with_programs():  # Keras has scripts too, which are no programs
        return ()
    return tuple(sorted(path.stem for path in (seeds_folder() / "models" / library).glob("*.py")))


def shipped_program(name: str, library: str) -> ProgramSource:
    """Return a program that comes with ciguard.

    Raises:
        UnknownNameError: if there is none of that name for the library.
    """
    names = shipped_programs(library)
    if name not in names:
        raise UnknownNameError(_WHAT, visible(name), known=names)
    text = ((seeds_folder() / "models" / library) / f"{name}.py").read_text("utf-8")
    return ProgramSource(f"{library}/{name}", text)


def read_program(path: str, *, base: Path) -> ProgramSource:
    """Return the program in a file of the user's. Nothing of it is run.

    Args:
        path: as the user wrote it.
        base: folder that a relative path begins at.

    Raises:
        ConfigurationError: if there is no such file, or its text is no Python.
    """
    found = (base / path).resolve()
    try:
        text = read_text(found, most=_MOST)
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        parse(text)
    except FileNotFoundError:
        raise _refusal(path, f"there is no file {found}. {_scripts_in(found.parent)}") from None
    except OSError as error:
        raise _refusal(path, f"{found} cannot be read: {error.strerror}.") from error
    except UnreadableSourceError as error:
        where = f"{found}, line {error.line}" if error.line else f"{found} is no Python"
        raise _refusal(path, f"{where}: {error.reason}.") from error
    except ValueError as error:
        raise _refusal(path, f"{found} is no Python: {error}.") from error
    return ProgramSource(path, text)


def _refusal(path: str, why: str) -> ConfigurationError:
    remedy = "Give a Python file that builds, trains and evaluates one model."
    return ConfigurationError(f"programs: {visible(path)!r}: {why} {remedy}")


def _scripts_in(folder: Path) -> str:
    there = sorted(path.name for path in folder.glob("*.py"))
    return f"{folder} holds: {', '.join(there) or 'no .py file':.300}."
