"""Changes that are suggested of an application, as files for `git apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair import combined_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.levels.app.repair import Suggestion
    from ciguard.levels.app.static_analysis import Application

_ALL = "all.patch"


def write_patches(
    application: Application, suggestions: Iterable[Suggestion], folder: Path
) -> Iterator[str]:
    """Write each patch to a file of its own, and all of them to one; yield a line about each.

    Args:
        application: that they change. Each patch is of its files as they are.
        suggestions: with patches or without.
        folder: where to write them.

    Raises:
        ConfigurationError: if the folder cannot be written to.
    """
    try:
        yield from _written(application, suggestions, folder)
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}. Name another place with --patches."
        raise ConfigurationError(msg) from error


def _written(
    application: Application, suggestions: Iterable[Suggestion], folder: Path
) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    patches = dict.fromkeys(one.patch for one in suggestions if one.patch)
    files = {patch: folder / f"{number:03}.patch" for number, patch in enumerate(patches, 1)}
    for patch, file in files.items():
        _write(file, patch)
        yield f"patch: {visible(str(file))}"
    if len(patches) > 1:
        together, left_out = combined_patches(application, patches)
        _write(folder / _ALL, together)
        without = ", ".join(files[one].name for one in left_out)
        note = f", without {without}, which changes the same" if without else ""
        yield f"patch: {visible(str(folder / _ALL))}: all of them{note}"


def _write(file: Path, patch: str) -> None:
    file.write_text(patch, encoding="utf-8", newline="")  # line ends are as in the program
