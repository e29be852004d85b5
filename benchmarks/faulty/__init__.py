"""A library with known faults, native and in Python, for `benchmarks/bucketing.py`.

Its tensors are numpy arrays. `FAULTY_VERSION=2` gives another release: other line numbers, other
names of helpers, and six functions that answer differently. Runs in a target: Python 3.9, numpy.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

__version__ = os.environ.get("FAULTY_VERSION", "1") + ".0"
_IS_NEW = __version__ >= "2"
_NATIVE = ctypes.CDLL(str(Path(__file__).with_name(f"libfaulty{__version__[0]}.so")))


def _native(symbol: str, x: Any, call: tuple[Any, ...]) -> Any:
    n, scale, name = call
    elements = np.ascontiguousarray(np.resize(np.asarray(x, dtype=np.float64), max(1, np.size(x))))
    getattr(_NATIVE, symbol)(
        ctypes.c_long(n),
        ctypes.c_double(scale),
        elements.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_long(elements.size),
        name.encode("utf-8", "replace"),
    )
    return elements * scale


def _wrapped(symbol: str) -> Any:
    def function(x: Any, n: int = 1, scale: float = 1.0, name: str = "", **_: Any) -> Any:
        return _native(symbol, x, (n, scale, name))

    function.__name__ = function.__qualname__ = symbol
    return function


pool = nn_pool = _wrapped("pool")
gather = take = _wrapped("gather")
scatter = _wrapped("scatter")
unique = _wrapped("unique")
sort = _wrapped("sort")
conv = nn_conv = _wrapped("conv")
norm = _wrapped("norm")
fft = _wrapped("fft")
einsum = nn_einsum = _wrapped("einsum")
lstm = _wrapped("lstm")
crf = _wrapped("crf")
ragged = _wrapped("ragged")


def parse(x: Any, n: int = 1, name: str = "", **_: Any) -> Any:
    """Leak an internal error for a negative `n`, another for 0."""
    return _read_header(x, n, name) if n < 0 else _read_body(x, n, name)


def _read_header(x: Any, n: int, name: str) -> Any:
    message = f"bad header {n} at 0x{id(x):x} of {name!r}"
    raise SystemError(message)


def _read_body(x: Any, n: int, name: str) -> Any:
    if n == 0:
        message = f"body of {np.shape(x)} in {__file__} has no {name!r}"
        raise SystemError(message)
    return x


def lookup(x: Any, n: int = 1, **_: Any) -> Any:
    """Forget to bind a name for a negative `n`."""
    if n >= 0:
        found = x
    return found  # type: ignore[possibly-undefined]  # planted


def build(x: Any, n: int = 1, **_: Any) -> Any:
    """Recur without end for a negative `n`."""
    return build(x, n - 1) if n < 0 else x


def merge(x: Any, n: int = 1, **_: Any) -> Any:
    """Use a name that nobody defined for a negative `n`."""
    return undefined_name + n if n < 0 else x  # type: ignore[name-defined]  # noqa: F821 - planted


def cast(x: Any, n: int = 1, scale: float = 1.0, **_: Any) -> Any:
    """Fail an assertion of its own for a negative `n`."""
    if n < 0:
        line = 210 if _IS_NEW else 104
        message = (
            f'slot >= 0 INTERNAL ASSERT FAILED at "{Path(__file__).parent}/ops/cast.cpp":{line}, '
            f"please report a bug to the authors. slot {n}, scale {scale}, shape {np.shape(x)}"
        )
        raise RuntimeError(message)
    return x


def area(x: Any, **_: Any) -> Any:
    """Compute something that the newer release gets wrong."""
    return np.asarray(x, dtype=np.float64).sum() + 10.0 * (1.5 if _IS_NEW else 1.0)


def mean(x: Any, **_: Any) -> Any:
    """Answer in another dtype since the newer release."""
    return np.ones(np.shape(x), dtype=np.float32 if _IS_NEW else np.float64)


def stack(x: Any, **_: Any) -> Any:
    """Answer in another shape since the newer release."""
    ones = np.ones(np.size(x) + 2)
    return ones[None] if _IS_NEW else ones


def clip(x: Any, n: int = 1, **_: Any) -> Any:
    """Refuse what the older release accepts."""
    if _IS_NEW:
        message = f"n must be even, got {n}"
        raise ValueError(message)
    return np.asarray(x)


def trim(x: Any, n: int = 1, **_: Any) -> Any:
    """Accept what the older release refuses."""
    if not _IS_NEW:
        message = f"cannot trim {n} of {np.shape(x)}"
        raise ValueError(message)
    return np.asarray(x)


def halve(x: Any, **_: Any) -> Any:
    """Return NaN since the newer release."""
    result = np.ones(np.size(x) + 1)
    return result * np.nan if _IS_NEW else result
