"""Files with suggested changes of an application, for `git apply`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.repair import merge_patches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.levels.app.repair import Suggestion
    from ciguard.levels.app.static_analysis import Application

_ALL = "all.patch"


def write_patches(
    application: Application, suggestions: Iterable[Suggestion], folder: Path
) -> Iterator[str]:
    """Write each patch to its own file, and all together to another; yield a line per file.

    Args:
        application: the application to patch, to whose current files each patch applies.
        suggestions: the suggestions; those without a patch are skipped.
        folder: the folder to write to.

    Raises:
        ConfigurationError: if the folder cannot be written.
    """
    try:
        yield from _write_all(application, suggestions, folder)
    except OSError as error:
        msg = f"{folder} cannot be written: {error.strerror}. Choose another folder with --patches."
        raise ConfigurationError(msg) from error


def _write_all(
    application: Application, suggestions: Iterable[Suggestion], folder: Path
) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    patches = dict.fromkeys(suggestion.patch for suggestion in suggestions if suggestion.patch)
    files = {patch: folder / f"{number:03}.patch" for number, patch in enumerate(patches, 1)}
    for patch, file in files.items():
        _write(file, patch)
        yield f"patch: {visible(str(file))}"
    if len(patches) > 1:
        combined, left_out = merge_patches(application, patches)
        _write(folder / _ALL, combined)
        conflicting = ", ".join(files[patch].name for patch in left_out)
        note = f" except {conflicting}, which conflict with earlier patches" if conflicting else ""
        yield f"patch: {visible(str(folder / _ALL))}: all patches{note}"


def _write(file: Path, patch: str) -> None:
    file.write_text(patch, encoding="utf-8", newline="")  # keeps the line endings of the program
