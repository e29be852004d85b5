"""Files in memory that ciguard shares with processes it does not trust.

They have no name in any folder, so nothing can be put in their place. A mapped one is sealed:
whoever made it smaller would kill every process that has it mapped.
"""

from __future__ import annotations

import fcntl
import os

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def append_file(name: str) -> int:
    """Return the descriptor of an empty file that is only ever appended to, such as a log.

    Its size may change, and nobody can seal it: read it with `decode.contents`, which is bounded.
    """
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
    return descriptor


def sealed_file(name: str, size: int) -> int:
    """Return the descriptor of a file of `size` bytes that keeps this size for good."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return descriptor
