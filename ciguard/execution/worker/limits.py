"""Limits of one process for output and memory, and settings of its C library's allocator."""

from __future__ import annotations

import ctypes
import os
import resource
import signal

_LIBC = ctypes.CDLL(None, use_errno=True)


def limit_output(output_mib: int) -> None:
    """Limit the size of each file and stream; beyond it the kernel sends SIGXFSZ.

    Core dumps are disabled, too, as they would be written outside the worker's folder. With a limit
    of 0, the kernel would still start a handler for them (`|` in `/proc/sys/kernel/core_pattern`)
    and wait for it in each crash. Source: Linux fs/coredump.c.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it by default
    _lower(resource.RLIMIT_FSIZE, output_mib * 1024 * 1024)
    _lower(resource.RLIMIT_CORE, 1)


def limit_memory(memory_mib: int) -> None:
    """Make allocations fail once this process uses `memory_mib` more than now.

    The limit counts private writable memory (RLIMIT_DATA) instead of the address space, of which
    libraries reserve far more than they use.
    """
    _lower(resource.RLIMIT_DATA, _data_size() + memory_mib * 1024 * 1024)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_PERTURB = -1, -3, -6
_MIB = 1024 * 1024
_MAX_STATM = 256
"""Maximum size of `/proc/self/statm`, in bytes."""
_BLOCK_SIZES = (*range(16, 1040, 16), *range(1040, 8192, 256))
_BLOCKS = 24
_LIBC.malloc.argtypes, _LIBC.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_LIBC.free.argtypes, _LIBC.free.restype = (ctypes.c_void_p,), None


def keep_freed_memory() -> None:
    """Make the C library keep up to 64 MiB of freed memory, instead of returning it to the kernel.

    Otherwise, millions of small calls, which allocate and free memory, spend a sixth of their time
    in the kernel.
    """
    _LIBC.mallopt(_M_MMAP_THRESHOLD, 4 * _MIB)
    _LIBC.mallopt(_M_TRIM_THRESHOLD, 64 * _MIB)


def perturb_memory(byte: int) -> None:
    """Make the C library fill newly allocated memory with the complement of `byte`, 1 to 255.

    Source: mallopt(3), M_PERTURB.
    """
    _LIBC.mallopt(_M_PERTURB, byte)
    # Blocks that are free already hold old data, which reads out of bounds would see.
    blocks = [_LIBC.malloc(size) for size in _BLOCK_SIZES for _ in range(_BLOCKS)]
    for block in blocks:
        _LIBC.free(block)


def _data_size() -> int:
    # In a forked process, the first `open` of a text file takes 1 ms: its page faults copy memory.
    statistics = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(statistics, _MAX_STATM).split()[5]) * resource.getpagesize()
    finally:
        os.close(statistics)


def _lower(kind: int, value: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    if hard_limit != resource.RLIM_INFINITY:
        value = min(value, hard_limit)
    resource.setrlimit(kind, (value, value))
