"""Write the file of a report atomically."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.errors import OutputError
from ciguard.files import write_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write `text` as UTF-8 to `path`; the old content stays until the new one is complete.

    Args:
        path: the file; its folder is created.
        text: the whole text, or its pieces in order, which need not fit in memory together.

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
