"""Files in memory that ciguard shares with untrusted processes.

They have no path, so that they cannot be replaced. A mapped file is sealed, as shrinking it would
crash every process that has it mapped.
"""

from __future__ import annotations

import fcntl
import os

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def append_file(name: str) -> int:
    """Return the descriptor of an empty file in append mode, such as a log.

    Its size is not limited, so read it with `decode.read_bounded`.
    """
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    return descriptor


def sealed_file(name: str, size: int) -> int:
    """Return the descriptor of a file of `size` bytes, which cannot be resized."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
