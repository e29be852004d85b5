"""Writes the files of reports atomically."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.errors import OutputError
from ciguard.files import write_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write a text as UTF-8 to a file, whose old content stays until the new one is complete.

    Args:
        path: the file; its folder is created if it is missing.
        text: the whole text, or its pieces in order; they need not fit into memory together.

    Raises:
        OutputError: if the file cannot be written; the old file is then unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pieces = (text,) if isinstance(text, str) else text
        write_pieces(path, pieces, durable=True)
    except OSError as error:
        msg = (
            f"{path}: cannot be written: {error.strerror or error}. "
            "Free some space, or choose another folder with --out. The previous file is unchanged."
        )
        raise OutputError(msg) from error
