"""Memory usage of this process, as reported by the kernel."""

from __future__ import annotations

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = os.sysconf("SC_PAGESIZE")
KIB = 1024


def release_freed_memory() -> None:
    """Return freed memory to the kernel, as memory that is kept looks like memory in use."""
    _LIBC.malloc_trim(0)


def peak_and_resident_kib() -> tuple[int, int]:
    """Return the peak and the current resident memory of this process, in KiB."""
    fields = _fields("/proc/self/status")
    return fields["VmHWM"], fields["VmRSS"]


def private_bytes() -> int:
    """Return the size of the memory that this process shares with no other, in bytes."""
    try:
        return _fields("/proc/self/smaps_rollup")["Private_Dirty"] * KIB
    except OSError:  # older kernels: resident memory without that of files is close
        with open("/proc/self/statm", encoding="ascii") as file:
            _, resident, shared, *_ = file.read().split()
        return (int(resident) - int(shared)) * PAGE


def _fields(path: str) -> dict[str, int]:
    """Return the fields of a file of `/proc` whose values are in KiB."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = [line.split() for line in file]
    return {row[0].rstrip(":"): int(row[1]) for row in rows if row[2:] == ["kB"]}
