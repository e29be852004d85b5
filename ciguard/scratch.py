"""Names of temporary folders, which identify the process that uses them.

A killed process leaves its folders. A later one can remove them, as their names show that the
process is gone, even if another one has its number by then.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from contextlib import suppress
from pathlib import Path

_PREFIX = "ciguard-"
_NAME = re.compile(
    rf"{_PREFIX}[a-z-]+-(?P<process>[0-9]{{1,9}})-(?P<start>[0-9]{{1,20}})-(?P<place>[0-9a-f]{{8}})-\w+",
    re.ASCII,
)
_START_FIELD = 19
"""Index of a process's start time in its statistics, behind the name in parentheses."""
_NO_PLACE = "00000000"


def scratch_prefix(kind: str) -> str:
    """Return the beginning of a temporary folder's name, for a folder that this process uses.

    Args:
        kind: what the folder is for: lower-case letters and dashes.
    """
    process = os.getpid()
    return f"{_PREFIX}{kind}-{process}-{_start_of(process) or 0}-{_place()}-"


def is_abandoned(folder: Path) -> bool:
    """Return whether a folder was left by a process that is gone.

    False for links, for folders of other users, and for those of other process namespaces, whose
    processes are not visible here.
    """
    match = _NAME.fullmatch(folder.name)
    if match is None or match["place"] != _place() or match["place"] == _NO_PLACE:
        return False
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_own and int(match["start"]) not in (0, _start_of(int(match["process"])))


def _start_of(process: int) -> int | None:
    """Return the start of a process, in clock ticks since that of the machine; None if gone."""
    try:
        text = Path("/proc", str(process), "stat").read_text("ascii", "replace")
        return int(text.rpartition(")")[2].split()[_START_FIELD])
    except (OSError, ValueError, IndexError):
        return None


def _place() -> str:
    """Return 8 digits for the process namespace and the start of the machine; zeros if unknown."""
    with suppress(OSError):
        namespace = Path("/proc/self/ns/pid").readlink()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii", "replace")
        return f"{zlib.crc32(f'{namespace} {boot}'.encode()):08x}"
    return _NO_PLACE
