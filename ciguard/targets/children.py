"""Child processes of provisioning, each in a process group that is killed with its parent."""

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
def run_child(
    argv: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stdout: int | IO[bytes],
    stderr: int,
) -> Iterator[subprocess.Popen[str]]:
    """Run a child process during the block; an exception such as Ctrl-C kills its process group.

    Args:
        argv: the absolute path of the program, and its arguments.
        folder: the working folder.
        environment: all environment variables of the child.
        stdout: the standard output, as for `subprocess.Popen`.
        stderr: the standard error, as for `subprocess.Popen`.
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
