"""Ranges of floating-point numbers of a given width."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.values.constraints import Float

_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
"""Formats of `struct` for a number and its bits, by width in bits."""


def closed_range(constraint: Float) -> tuple[float, float]:
    """Return the least and the greatest finite number of the constraint's width in its range.

    Returns:
        Inclusive ends, also for an open range. The first end is greater than the second if no
        number of that width lies in the range.
    """
    width = constraint.width
    least = not_below(constraint.min, width)
    most = -not_below(-constraint.max, width)
    if constraint.exclude_min and least == constraint.min:
        least = next_above(least, width)
    if constraint.exclude_max and most == constraint.max:
        most = -next_above(-most, width)
    return least, most


def in_range(number: float, constraint: Float) -> bool:
    """Return whether a float of any width, or an int, lies in the constraint's range."""
    least, most = constraint.min, constraint.max
    is_above = number > least if constraint.exclude_min else number >= least
    is_below = number < most if constraint.exclude_max else number <= most
    return is_above and is_below


def rounded(number: float, width: int) -> float:
    """Return the nearest number of `width` bits; an infinity beyond the greatest finite one."""
    if width == 64:  # noqa: PLR2004 - Python's float
        return number
    form = _FORMATS[width][0]
    try:
        packed: float = struct.unpack(form, struct.pack(form, number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return packed


def not_below(number: float, width: int) -> float:
    """Return the least number of `width` bits that is not below `number`."""
    if math.isinf(number):
        return number
    nearest = rounded(number, width)
    return nearest if nearest >= number else next_above(nearest, width)


def next_above(number: float, width: int) -> float:
    """Return the least number of `width` bits above one that has this width."""
    if number == 0:
        number = 0.0  # -0.0 has bits whose successor is negative
    form, bits_form = _FORMATS[width]
    bits = struct.unpack(bits_form, struct.pack(form, number))[0]
    bits += -1 if number < 0 else 1
    above: float = struct.unpack(form, struct.pack(bits_form, bits))[0]
    return above
