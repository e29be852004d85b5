"""Where seed programs come from: those that come with ciguard, and files of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ciguard.domain import visible
from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.files import read_text

_PACKAGE = Path(__file__).parents[2]
_WHAT = "seed program"
_MOST = 1 << 20
"""Bytes of a program; what is longer is no program that people wrote."""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """The text of a seed program."""

    name: str
    """Of a shipped one its own; of a file its path as the user wrote it."""
    text: str


def shipped_programs(library: str) -> tuple[str, ...]:
    """Return the names of the programs that come with ciguard for a library, in order."""
    return tuple(sorted(path.stem for path in _folder(library).glob("*.py")))


def _folder(library: str) -> Path:
    # In the wheel they lie in the package, in a checkout beside it.
    for root in (_PACKAGE / "seeds", _PACKAGE.parent / "seeds"):
        folder = root / "models" / library
        if folder.is_dir():
            return folder
    return _PACKAGE / "seeds" / "models" / library


def shipped_program(name: str, library: str) -> ProgramSource:
    """Return a program that comes with ciguard.

    Raises:
        UnknownNameError: if there is none of that name for the library.
    """
    names = shipped_programs(library)
    if name not in names:
        raise UnknownNameError(_WHAT, visible(name), known=names)
    return ProgramSource(name, (_folder(library) / f"{name}.py").read_text(encoding="utf-8"))


def read_program(path: str, *, base: Path) -> ProgramSource:
    """Return the program in a file of the user's.

    Args:
        path: as the user wrote it.
        base: folder that a relative path begins at.

    Raises:
        ConfigurationError: if there is no such file, or it is no text.
    """
    try:
        return ProgramSource(path, read_text(base / path, most=_MOST))
    except (OSError, ValueError) as error:
        msg = (
            f"programs: {visible(path)}: {error}. Give a Python file that builds, trains and "
            "evaluates one model."
        )
        raise ConfigurationError(msg) from error
