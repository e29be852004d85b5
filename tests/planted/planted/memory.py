"""Deaths that depend on the release: on which side of a change a call dies, and how often."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

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


def overread(x: np.ndarray, distance: int = 0) -> int:
    """Return a byte behind the end of `x`."""
    return ctypes.string_at(x.ctypes.data + x.nbytes + _near(distance), 1)[0]


def overwrite(x: np.ndarray, distance: int = 0) -> Any:
    """Write a byte behind the end of `x`."""
    ctypes.memset(x.ctypes.data + x.nbytes + _near(distance), 1, 1)
    return x


def stale(n: int) -> int:
    """Return a byte of memory that was freed before."""
    array = np.zeros(abs(n) % 64 + 2048, dtype=np.uint8)
    address = array.ctypes.data
    del array
    return ctypes.string_at(address, 1)[0]


def _near(distance: int) -> int:
    return distance - int(distance / 64) * 64


def _is_filled() -> bool:
    allocate = ctypes.CDLL(None).malloc
    allocate.restype = ctypes.c_void_p
    content = set(ctypes.string_at(allocate(1 << 12), 1 << 12)[64:])
    return len(content) == 1 and content != {0}
