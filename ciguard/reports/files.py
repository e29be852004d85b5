"""Write a report's file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ciguard.errors import OutputError


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, whose older content stays until the new one is complete.

    Raises:
        OutputError: if that is not possible; the older file is left as it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    except OSError as error:
        msg = (
            f"{path}: cannot be written: {error.strerror or error}. "
            "Free some space, or choose another folder with --out. What was there before is intact."
        )
        raise OutputError(msg) from error


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp's is for the owner only; a report is for everybody.
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
