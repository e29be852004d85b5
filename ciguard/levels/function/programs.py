"""Which programs hold the functions that are tested: from files and globs to programs."""

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
_SIDECAR = ".annotations.py"
_MOST = 5_000


def find_programs(texts: Sequence[str], *, base: Path) -> dict[str, ProgramFile]:
    """Return the programs with annotated functions, by path relative to a folder.

    Nothing of them is run.

    Args:
        texts: files, or globs over files, of which those without annotations are left out.
        base: folder that they are relative to, and that they must lie in.

    Raises:
        ConfigurationError: if there is no such file, or none with annotations.
    """
    found: dict[str, ProgramFile] = {}
    for text in texts:
        is_glob = not _WILDCARD.isdisjoint(text)
        named = dict(_named(text, base))
        if not named:
            what = "matches no file with annotated functions" if is_glob else "has no annotations"
            remedy = f"Decorate functions (ciguard.annotations) or put a NAME{_SIDECAR} beside it."
            raise _refusal(text, f"{what}. {remedy}")
        found = named | found
    return found


def _named(text: str, base: Path) -> Iterator[tuple[str, ProgramFile]]:
    if Path(text).is_absolute() and _WILDCARD.isdisjoint(text):
        text = _below(Path(text), text, base)
    if _WILDCARD.isdisjoint(text):
        paths = [base / text]
        if not paths[0].is_file():
            raise _refusal(text, f"there is no file {paths[0]}.")
    else:
        try:
            paths = sorted(path for path in base.glob(text) if path.suffix == ".py")[:_MOST]
        except (NotImplementedError, ValueError) as error:  # an absolute one, or `a**`
            raise _refusal(text, f"{error}.") from error
    for path in paths:
        if path.name.endswith(_SIDECAR):
            continue
        program = ProgramFile.at(path.absolute())
        sidecar = sidecar_of(program)
        if sidecar is not None or is_annotated(path):
            _check_root(program, text, base)
            yield _below(path, text, base), program.with_sidecar(sidecar)


def _check_root(program: ProgramFile, text: str, base: Path) -> None:
    if not program.root.is_relative_to(base.absolute()):
        name = program.file.name
        why = f"{name} belongs to a package that lies in {program.root}. Run ciguard there."
        raise _refusal(text, why)


def _below(path: Path, text: str, base: Path) -> str:
    """Return a path relative to the folder, with forward slashes."""
    try:
        relative = path.absolute().relative_to(base.absolute()).as_posix()
    except ValueError:
        raise _refusal(text, f"lies outside of {base}. Run ciguard above it.") from None
    if not is_program(relative):
        raise _refusal(text, "is no path of a Python file below the current folder.")
    return relative


def _refusal(text: str, why: str) -> ConfigurationError:
    return ConfigurationError(f"functions: {visible(text)!r}: {why}")
