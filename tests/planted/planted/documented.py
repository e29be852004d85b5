"""Differences between the releases, by calls that the documentation forbids and by others."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

_IS_NEW = os.environ.get("PLANTED_VERSION", "1.0") >= "2"


def clipped(x: np.ndarray, most: np.ndarray) -> Any:
    """Return `x`, at most `most`; the releases differ where `most` is negative.

    Args:
        x: An array.
        most: A 0-D (scalar) tensor > 0. The largest element.
    """
    result = np.minimum(np.asarray(x).astype(np.float64), most)
    is_negative = np.size(most) and np.all(np.less(most, 0))
    return result + 1.0 if is_negative and _IS_NEW else result


def shifted(x: np.ndarray, most: np.ndarray) -> Any:
    """Return `x`, at most `most`, and one more in the newer release.

    Args:
        x: An array.
        most: A 0-D (scalar) tensor > 0. The largest element.
    """
    result = np.minimum(np.asarray(x).astype(np.float64), most)
    return result + 1.0 if _IS_NEW else result
