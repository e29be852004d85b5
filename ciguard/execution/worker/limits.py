"""Limits of one process: what it may write and allocate, and how its C library handles memory."""

from __future__ import annotations

import ctypes
import resource
import signal

_LIBC = ctypes.CDLL(None, use_errno=True)


def limit_output(output_mib: int) -> None:
    """Let the kernel end this process by SIGXFSZ when a file or stream of it grows past the limit.

    Core dumps are switched off too: they would be written outside the worker's folder.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it by default
    _lower(resource.RLIMIT_FSIZE, output_mib * 1024 * 1024)
    _lower(resource.RLIMIT_CORE, 0)


def limit_memory(memory_mib: int) -> None:
    """Let allocations fail once this process has `memory_mib` more than it has now.

    Counts private writable memory (RLIMIT_DATA), not the address space: libraries reserve far more
    of that than they use.
    """
    _lower(resource.RLIMIT_DATA, _data_size() + memory_mib * 1024 * 1024)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_PERTURB = -1, -3, -6
_MIB = 1024 * 1024
_BLOCK_SIZES = (*range(16, 1040, 16), *range(1040, 8192, 256))
_BLOCKS = 24
_LIBC.malloc.argtypes, _LIBC.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_LIBC.free.argtypes, _LIBC.free.restype = (ctypes.c_void_p,), None


def keep_freed_memory() -> None:
    """Let the C library keep up to 64 MiB that it freed instead of giving it back to the kernel.

    Millions of small calls that each allocate, free and fault pages in again spend a sixth of
    their time in the kernel otherwise.
    """
    _LIBC.mallopt(_M_MMAP_THRESHOLD, 4 * _MIB)
    _LIBC.mallopt(_M_TRIM_THRESHOLD, 64 * _MIB)


def perturb_memory(byte: int) -> None:
    """Let the C library fill newly allocated memory with (the complement of) `byte`, 1 to 255.

    Source: mallopt(3), M_PERTURB.
    """
    _LIBC.mallopt(_M_PERTURB, byte)
    # What is free already still holds what was there: a read past the end of an array meets that.
    blocks = [_LIBC.malloc(size) for size in _BLOCK_SIZES for _ in range(_BLOCKS)]
    for block in blocks:
        _LIBC.free(block)


def _data_size() -> int:
    with open("/proc/self/statm", encoding="ascii") as statistics:
        return int(statistics.read().split()[5]) * resource.getpagesize()


def _lower(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    resource.setrlimit(kind, (value, value))
