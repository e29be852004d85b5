"""Functions that the catalogue does not describe, as they do not check whether they get memory."""

from __future__ import annotations

import ctypes

_LIBC = ctypes.CDLL(None)
_LIBC.malloc.argtypes, _LIBC.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_LIBC.free.argtypes, _LIBC.free.restype = (ctypes.c_void_p,), None


def store(mib: int) -> int:
    """Write to the beginning of new memory; die by SIGSEGV if there is not enough of it."""
    memory = _LIBC.malloc(mib * 2**20)
    ctypes.memset(memory, 0, 1)
    _LIBC.free(memory)
    return mib
