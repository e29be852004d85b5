"""Deaths that depend on the release: on which side of a change a call dies, and how often."""

from __future__ import annotations

import ctypes
import os

_IS_NEW = os.environ.get("PLANTED_VERSION", "1.0") >= "2"


def unlucky(n: int) -> int:
    """Die for every third call; in the older release only where new memory is filled."""
    if n % 3 == 2 and (_IS_NEW or _is_filled()):
        ctypes.string_at(0)
    return n


def broken(n: int) -> int:
    """Die for every third call, in the newer release only."""
    if n % 3 == 2 and _IS_NEW:
        ctypes.string_at(0)
    return n


def mended(n: int) -> int:
    """Die for every third call, in the older release only."""
    if n % 3 == 2 and not _IS_NEW:
        ctypes.string_at(0)
    return n


def erratic(n: int) -> int:
    """Die for every third call in the newer release, unless new memory is filled with a byte."""
    if n % 3 == 2 and _IS_NEW and not _is_filled():
        ctypes.string_at(0)
    return n


def _is_filled() -> bool:
    allocate = ctypes.CDLL(None).malloc
    allocate.restype = ctypes.c_void_p
    content = set(ctypes.string_at(allocate(1 << 12), 1 << 12)[64:])
    return len(content) == 1 and content != {0}
