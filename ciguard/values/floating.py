"""Ranges of floating-point numbers of a given width."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.values.constraints import Float

_FORMATS = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
"""Formats of the module `struct` for a number and for its bits as an integer, by width in bits."""


def closed_range(constraint: Float) -> tuple[float, float]:
    """Return the smallest and the largest number of the constraint's width in its range.

    Returns:
        Both numbers lie in the range, even if the range is open. If no number of the width lies in
        the range, the first one is greater than the second.
    """
    width = constraint.width
    minimum = round_up(constraint.min, width)
    maximum = -round_up(-constraint.max, width)
    if constraint.exclude_min and minimum == constraint.min:
        minimum = next_above(minimum, width)
    if constraint.exclude_max and maximum == constraint.max:
        maximum = -next_above(-maximum, width)
    return minimum, maximum


def in_range(number: float, constraint: Float) -> bool:
    """Return whether a number lies in the constraint's range, whatever its width."""
    minimum, maximum = constraint.min, constraint.max
    is_above = number > minimum if constraint.exclude_min else number >= minimum
    is_below = number < maximum if constraint.exclude_max else number <= maximum
    return is_above and is_below


def round_to_width(number: float, width: int) -> float:
    """Return the nearest number of `width` bits, or an infinity if `number` is too large for it."""
    if width == 64:  # noqa: PLR2004 - the width of Python's float
        return number
    form = _FORMATS[width][0]
    try:
        packed: float = struct.unpack(form, struct.pack(form, number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return packed


def round_up(number: float, width: int) -> float:
    """Return the smallest number of `width` bits that is at least `number`."""
    if math.isinf(number):
        return number
    nearest = round_to_width(number, width)
    return nearest if nearest >= number else next_above(nearest, width)


def next_above(number: float, width: int) -> float:
    """Return the smallest number of `width` bits above `number`, which has the same width."""
    if number == 0:
        number = 0.0  # the successor of the bits of -0.0 is a negative number
    form, bits_form = _FORMATS[width]
    bits = struct.unpack(bits_form, struct.pack(form, number))[0]
    bits += -1 if number < 0 else 1
    above: float = struct.unpack(form, struct.pack(bits_form, bits))[0]
    return above
