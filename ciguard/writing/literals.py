"""Scalars, names and shapes as Python source text, safe for any fuzzed value."""

from __future__ import annotations

import keyword
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_name(text: str) -> bool:
    """Return whether `text` is a valid ASCII identifier and not a keyword."""
    return _IDENTIFIER.fullmatch(text) is not None and not keyword.iskeyword(text)


def dotted_expression(path: str) -> str:
    """Return an expression for a dotted name, with `getattr` for parts that are not identifiers.

    Raises:
        ValueError: if the first part is not an identifier.
    """
    root, *parts = path.split(".")
    if not is_name(root):
        msg = f"{path!r} is not the dotted name of an API"
        raise ValueError(msg)
    expression = root
    for part in parts:
        plain = is_name(part)
        expression = f"{expression}.{part}" if plain else f"getattr({expression}, {part!a})"
    return expression


def _survives_sum(part: float) -> bool:
    """Return whether a complex number's part is exact in a sum: not NaN, infinite or -0.0."""
    return math.isfinite(part) and (part != 0 or math.copysign(1, part) > 0)


def scalar(value: object) -> str:
    """Return the source text of a Python scalar, string, bytes or None."""
    match value:
        case float() if not math.isfinite(value):
            return f'float("{value!r}")'
        # `-1j` would not do: it negates `1j`, so that its real part is -0.0.
        case complex() if not (_survives_sum(value.real) and _survives_sum(value.imag)) or (
            value.real == 0 and value.imag < 0
        ):
            return f"complex({scalar(value.real)}, {scalar(value.imag)})"
        case _:
            return ascii(value)


def nested_lists(array: Any) -> str:
    """Return an array's elements as the source text of nested lists.

    Args:
        array: numpy array of any shape that nested lists can express.

    Returns:
        Source text of a list, or of a scalar for an array without dimensions. Converted to the
        array's dtype, its elements equal those of the array.
    """
    if array.ndim == 0:
        return element(array[()])
    if array.ndim == 1:
        return f"[{', '.join(map(element, array))}]"
    return "[" + ", ".join(nested_lists(part) for part in array) + "]"


def element(value: Any) -> str:
    """Return the shortest source text that equals an array's element in the array's dtype."""
    if isinstance(value, (np.float16, np.float32)) and np.isfinite(value):
        short = str(value)
        return short if type(value)(float(short)) == value else repr(float(value))
    if isinstance(value, np.complex64) and np.isfinite(value):
        value = complex(float(element(value.real)), float(element(value.imag)))
    return scalar(value.item() if isinstance(value, np.generic) else value)


def shape_text(shape: Sequence[int]) -> str:
    """Return the source text of a shape as a tuple."""
    return repr(tuple(int(size) for size in shape))
