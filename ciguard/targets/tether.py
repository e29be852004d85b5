"""Tether: a script that runs a command which the kernel kills when the parent process ends.

Otherwise uv or a compiler would run for minutes after provisioning was killed. Usage, with the
standard library only: `python tether.py PARENT_PID COMMAND ARGUMENT…`. On systems other than
Linux, the script just runs the command.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent, then replace this process with the command."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        # The setting is kept across exec, see prctl(2).
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before prctl was called
        sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - no shell is involved


if __name__ == "__main__":
    main()
