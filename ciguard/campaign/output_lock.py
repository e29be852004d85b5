"""Lock of an output folder, as two runs would mix their journals and reports."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ciguard.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OUTPUT_LOCK = ".lock"


@contextmanager
def lock_output(folder: Path) -> Iterator[None]:
    """Create the folder and lock it for this process; the kernel releases the lock on any exit.

    Raises:
        OutputError: if another process has locked it, or it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / OUTPUT_LOCK, timeout=0)
        lock.acquire()
    except Timeout as error:
        msg = (
            f"{folder}: another run of ciguard is writing there. Wait until it has ended, or "
            "choose another folder with --out."
        )
        raise OutputError(msg) from error
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error
    try:
        yield
    finally:
        lock.release()
