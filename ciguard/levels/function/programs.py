"""Finds the programs whose functions are tested, by paths and glob patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.function_calls import is_program
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.functions.specs import ProgramFile, is_annotated, sidecar_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WILDCARD = frozenset("*?[")
_SIDECAR_SUFFIX = ".annotations.py"
_MAX_FILES = 5_000
"""Maximum number of files that a glob pattern may match; further files are ignored."""


def find_programs(texts: Sequence[str], *, base: Path) -> dict[str, ProgramFile]:
    """Return the programs with annotated functions, by path relative to a folder.

    Programs are parsed but not run.

    Args:
        texts: paths of files, or glob patterns; matching files without annotations are left out.
        base: folder to which paths are relative; it must contain all programs.

    Raises:
        ConfigurationError: if a file is missing or outside the folder, or no annotated program
            matches a text.
    """
    programs: dict[str, ProgramFile] = {}
    for text in texts:
        is_glob = not _WILDCARD.isdisjoint(text)
        matching = dict(_matching_programs(text, base))
        if not matching:
            problem = (
                "the pattern matches no file with annotated functions"
                if is_glob
                else "the file has no annotated functions"
            )
            remedy = (
                "Decorate functions (see ciguard.annotations), or add a file "
                f"NAME{_SIDECAR_SUFFIX} next to NAME.py."
            )
            raise _configuration_error(text, f"{problem}. {remedy}")
        programs = matching | programs
    return programs


def _matching_programs(text: str, base: Path) -> Iterator[tuple[str, ProgramFile]]:
    """Yield the relative path and the file of each annotated program that matches a text."""
    if Path(text).is_absolute() and _WILDCARD.isdisjoint(text):
        text = _relative_path(Path(text), text, base)
    if _WILDCARD.isdisjoint(text):
        paths = [base / text]
        if not paths[0].is_file():
            raise _configuration_error(text, f"there is no file {paths[0]}.")
    else:
        try:
            paths = sorted(path for path in base.glob(text) if path.suffix == ".py")[:_MAX_FILES]
        except (NotImplementedError, ValueError) as error:  # an absolute pattern, or `a**`
            raise _configuration_error(text, f"{error}.") from error
    for path in paths:
        if path.name.endswith(_SIDECAR_SUFFIX):
            continue
        program = ProgramFile.at(path.absolute())
        sidecar = sidecar_of(program)
        if sidecar is not None or is_annotated(path):
            _check_root(program, text, base)
            yield _relative_path(path, text, base), program.with_sidecar(sidecar)


def _check_root(program: ProgramFile, text: str, base: Path) -> None:
    """Raise a ConfigurationError if a program's package is outside the folder."""
    if not program.root.is_relative_to(base.absolute()):
        name = program.file.name
        reason = f"the package of {name} is in {program.root}. Run ciguard in that folder."
        raise _configuration_error(text, reason)


def _relative_path(path: Path, text: str, base: Path) -> str:
    """Return a path relative to the base folder, with forward slashes."""
    try:
        relative = path.absolute().relative_to(base.absolute()).as_posix()
    except ValueError:
        raise _configuration_error(
            text, f"the file is outside {base}. Run ciguard in a folder that contains the file."
        ) from None
    if not is_program(relative):
        raise _configuration_error(text, "this is not a Python file below the current folder.")
    return relative


def _configuration_error(text: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"functions: {visible(text)!r}: {reason}")
