"""Runs a command that the kernel kills when the process that started it is gone.

A killed sync must not leave uv or a compiler at work for minutes. Runs as a script with the
standard library only: `python tether.py PARENT_PID COMMAND ARGUMENT…`. Elsewhere than on Linux
the command simply runs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent, then become the command."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        # Kept across exec, see prctl(2).
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before we were tied to it
        sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a list, no shell


if __name__ == "__main__":
    main()
