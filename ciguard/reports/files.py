"""Write a report's file whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.errors import OutputError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, whose older content stays until the new one is complete.

    Raises:
        OutputError: if that is not possible; the older file is left as it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text, durable=True)
    except OSError as error:
        msg = (
            f"{path}: cannot be written: {error.strerror or error}. "
            "Free some space, or choose another folder with --out. What was there before is intact."
        )
        raise OutputError(msg) from error
