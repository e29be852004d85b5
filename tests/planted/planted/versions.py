"""What the newer library computes differently: by rounding, by NaN, in what it does to `x`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

_IS_NEW = os.environ.get("PLANTED_VERSION", "1.0") >= "2"


def steep(x: np.ndarray) -> Any:
    """Return a sine that makes 1e5 of each rounding of `x`; the newer one rounds elsewhere."""
    narrow = np.asarray(x).astype(np.float32)
    many = narrow * np.float32(1e2) * np.float32(1e3) if _IS_NEW else narrow * np.float32(1e5)
    return np.sin(many)


def blunt(x: np.ndarray) -> Any:
    """Return a sine; the newer one is wrong by one part in ten thousand."""
    sine = np.sin(np.asarray(x).astype(np.float32))
    return sine * np.float32(1.0001) if _IS_NEW else sine


def cleaned(x: np.ndarray) -> Any:
    """Return `x`; the newer library has 0 in place of NaN."""
    array = np.array(x)
    if _IS_NEW and array.dtype.kind == "f":
        array[np.isnan(array)] = 0
    return array


def emptied(x: np.ndarray) -> Any:
    """Return the sum of `x`; the newer library leaves zeros behind."""
    total = np.sum(x)
    if _IS_NEW:
        x[...] = 0
    return total


def handed(x: np.ndarray) -> Any:
    """Return a copy of `x`; the newer library returns `x` itself."""
    return x if _IS_NEW else np.array(x)
