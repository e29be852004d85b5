"""Functions that cost more under a burden: time, memory, and memory that is never given back.

`PLANTED_BURDEN=1` in the environment gives the library that has become slow and greedy, and
`PLANTED_CREEP=300` one that has become a little slower, by 300 of 4,000 squares.
"""

from __future__ import annotations

import os

_IS_BURDENED = os.environ.get("PLANTED_BURDEN", "0") != "0"
_CREEP = int(os.environ.get("PLANTED_CREEP", "0"))
_KIB = 1024
_kept: list[bytes] = []


def labour(n: int = 1) -> int:
    """Add up some squares; three times as often under the burden."""
    total = 0
    for _ in range(3 if _IS_BURDENED else 1):
        total = sum(number * number for number in range(4_000))
    return total + n


def steady(n: int = 1) -> int:
    """Add up some squares, with and without the burden; a few more under `PLANTED_CREEP`."""
    return sum(number * number for number in range(4_000 + _CREEP)) + n


def swell(n: int = 1) -> int:
    """Fill 1 MiB; 8 MiB under the burden."""
    filled = b"x" * ((8 if _IS_BURDENED else 1) * _KIB * _KIB)
    return n if filled else 0


def hoard(n: int = 1) -> int:
    """Fill 4 KiB, and never give them back under the burden."""
    filled = b"x" * (4 * _KIB)
    if _IS_BURDENED:
        _kept.append(filled)
    return len(filled) + n
