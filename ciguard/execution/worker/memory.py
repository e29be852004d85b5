"""How much memory this process takes, as the kernel tells it."""

from __future__ import annotations

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = os.sysconf("SC_PAGESIZE")
KIB = 1024


def give_back_freed() -> None:
    """Give the kernel what was freed and is kept for later: it looks like what is in use."""
    _LIBC.malloc_trim(0)


def high_mark_and_resident_kib() -> tuple[int, int]:
    """Return the most memory that was ever resident in this process, and what is now."""
    fields = _fields("/proc/self/status")
    return fields["VmHWM"], fields["VmRSS"]


def private_bytes() -> int:
    """Return what this process has written and shares with no other, its parent included."""
    try:
        return _fields("/proc/self/smaps_rollup")["Private_Dirty"] * KIB
    except OSError:  # a kernel without it: what is resident and of no file comes close
        with open("/proc/self/statm", encoding="ascii") as file:
            _, resident, shared, *_ = file.read().split()
        return (int(resident) - int(shared)) * PAGE


def _fields(path: str) -> dict[str, int]:
    """Return the fields of a file of `/proc` whose values are in KiB."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = [line.split() for line in file]
    return {row[0].rstrip(":"): int(row[1]) for row in rows if row[2:] == ["kB"]}
