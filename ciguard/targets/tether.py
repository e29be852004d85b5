"""Runs a command that the kernel kills when its parent process ends.

Otherwise uv or a compiler would go on for minutes after a killed provisioning. Runs as a script
with the standard library only: `python tether.py PARENT_PID COMMAND ARGUMENT…`. Other systems than
Linux just run the command.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent, then replace it by the command."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        # The setting is kept across exec, see prctl(2).
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before prctl was called
        sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - a list, no shell


if __name__ == "__main__":
    main()
