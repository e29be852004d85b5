"""Write a report's file whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.errors import OutputError
from ciguard.files import write_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write `text` as UTF-8 to `path`, whose older content stays until the new one is complete.

    Args:
        path: the file; its folder is made.
        text: all of it, or its pieces in order, which need not be in memory together.

    Raises:
        OutputError: if that is not possible; the older file is left as it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        pieces = (text,) if isinstance(text, str) else text
        write_pieces(path, pieces, durable=True)
    except OSError as error:
        msg = (
            f"{path}: cannot be written: {error.strerror or error}. "
            "Free some space, or choose another folder with --out. What was there before is intact."
        )
        raise OutputError(msg) from error
