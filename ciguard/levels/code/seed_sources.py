"""Sources of seed programs: programs that ciguard ships, and the user's files.

resnet18                   shipped by ciguard for each library
models/tower.py            a script of the user that builds, trains and evaluates one model
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

_KIND = "seed program"
_MAX_BYTES = 1 << 20
"""Maximum size of a program, in bytes."""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The text of a seed program."""

    name: str
    """Library and name of a shipped program, such as `torch/lenet`; for a file, the user's path."""
    text: str
    """Text of the program, with line feeds as line ends."""


def shipped_programs(library: str) -> tuple[str, ...]:
    """Return the sorted names of the programs that ciguard ships for a library."""
    if library not in libraries_with_programs():  # the scripts for Keras are not seed programs
        return ()
    return tuple(sorted(path.stem for path in (seeds_folder() / "models" / library).glob("*.py")))


def shipped_program(name: str, library: str) -> ProgramSource:
    """Return a program that ciguard ships.

    Raises:
        UnknownNameError: if the library has no program of that name.
    """
    names = shipped_programs(library)
    if name not in names:
        raise UnknownNameError(_KIND, visible(name), known=names)
    text = ((seeds_folder() / "models" / library) / f"{name}.py").read_text("utf-8")
    return ProgramSource(f"{library}/{name}", text)


def read_program(path: str, *, base: Path) -> ProgramSource:
    """Return the program in one of the user's files, without running it.

    Args:
        path: the path as the user wrote it.
        base: the folder to which a relative path refers.

    Raises:
        ConfigurationError: if the file is missing or is not valid Python.
    """
    file = (base / path).resolve()
    try:
        text = read_text(file, most=_MAX_BYTES)
        text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        parse(text)
    except FileNotFoundError:
        raise _refusal(path, f"there is no file {file}. {_scripts_in(file.parent)}") from None
    except OSError as error:
        raise _refusal(path, f"{file} cannot be read: {error.strerror}.") from error
    except UnreadableSourceError as error:
        location = f"{file}, line {error.line}" if error.line else f"{file} is not valid Python"
        raise _refusal(path, f"{location}: {error.reason}.") from error
    except ValueError as error:
        raise _refusal(path, f"{file} is not valid Python: {error}.") from error
    return ProgramSource(path, text)


def _refusal(path: str, reason: str) -> ConfigurationError:
    remedy = "Name a Python file that builds, trains and evaluates one model."
    return ConfigurationError(f"programs: {visible(path)!r}: {reason} {remedy}")


def _scripts_in(folder: Path) -> str:
    """Return a sentence that lists the Python files of a folder."""
    names = sorted(path.name for path in folder.glob("*.py"))
    return f"{folder} contains: {', '.join(names) or 'no .py file':.300}."
