"""Children of a sync: in a group of their own, ended with the process that waits for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TETHER = Path(__file__).parent / "tether.py"


@contextmanager
def child(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdout: int | IO[bytes],
    stderr: int,
) -> Iterator[subprocess.Popen[str]]:
    """Start a child; whatever ends the block early, Ctrl-C included, ends its whole group.

    Args:
        argv: program as an absolute path, and arguments.
        folder: working folder.
        environment: the child's whole environment.
        stdout: as for `subprocess.Popen`.
        stderr: as for `subprocess.Popen`.
    """
    tethered = [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *argv]
    with subprocess.Popen(
        tethered,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        errors="replace",
        process_group=0,
    ) as process:
        try:
            yield process
            process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
