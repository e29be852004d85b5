"""Widens the numbers that were seen to a range that is worth testing."""

from __future__ import annotations

import math

from ciguard.suggesting.clues import ArgumentKind, NumberRange

_DEFAULT_MAX_SIZE = 8
"""Maximum of sizes without examples, so that tests stay small."""
_MAX_TINY = 0.05
"""Limit below which numbers vary by factors, such as learning rates and penalty weights."""
_TINY_FACTOR = 10
"""Factor by which the range of such numbers is widened."""
_MAX_DOUBLED = 256
"""Largest doubled size; the maximum seen is used beyond it."""


def widened(
    kind: ArgumentKind, seen: list[int | float], valid: NumberRange, suggested: NumberRange
) -> NumberRange:
    """Return a range of numbers to test.

    Args:
        kind: integers or floating-point numbers.
        seen: example values.
        valid: range of valid numbers; its ends are kept.
        suggested: range that names suggest, for ends that are unknown otherwise.
    """
    return (
        _ints(seen, valid, suggested)
        if kind is ArgumentKind.INT
        else _floats(seen, valid, suggested)
    )


def _ints(seen: list[int | float], valid: NumberRange, suggested: NumberRange) -> NumberRange:
    low, high = valid.low, valid.high
    if low is None:
        smallest = min(seen, default=None)
        is_fitting = suggested.low is not None and (smallest is None or smallest >= suggested.low)
        low = suggested.low if is_fitting else None
    if low is None:
        low = min(1, math.floor(min(seen))) if seen else 1
    elif low == 0 and suggested.low and min(seen, default=1) >= 1:
        low = suggested.low  # zero may be valid, but is seldom useful
    if high is None:
        high = _widened_maximum(max(seen, default=None), low)
    if low > high:
        high = low + _DEFAULT_MAX_SIZE
    return NumberRange(low, high)


def _widened_maximum(largest: float | None, low: float | None) -> int:
    """Return twice the largest number seen, as long as that is cheap."""
    if largest is None or largest <= 0:
        return int(max(_DEFAULT_MAX_SIZE, (low or 0) + _DEFAULT_MAX_SIZE - 1))
    doubled = int(2 * largest)
    return max(_DEFAULT_MAX_SIZE, doubled if doubled <= _MAX_DOUBLED else int(largest))


def _floats(seen: list[int | float], valid: NumberRange, suggested: NumberRange) -> NumberRange:
    low, high = valid.low, valid.high
    open_low, open_high = valid.open_low, valid.open_high
    fractions = [value for value in seen if 0 <= value <= 1]
    positive = [value for value in seen if value > 0]
    is_tiny = bool(seen) and len(positive) == len(seen) and max(seen) < _MAX_TINY
    if low is None:
        low, open_low = _widened_minimum(seen, suggested, is_tiny=is_tiny), False
    if high is None and is_tiny:
        high = float(f"{max(seen) * _TINY_FACTOR:.3g}")
    elif high is None and suggested.high is not None:
        high = suggested.high
    elif high is None and seen:
        high = 1.0 if len(fractions) == len(seen) else 2.0 * max(abs(value) for value in seen)
    if high is None:
        high = max(1.0, low + 1.0)
    return NumberRange(low, high, open_low, open_high)


def _widened_minimum(seen: list[int | float], suggested: NumberRange, *, is_tiny: bool) -> float:
    if is_tiny or (seen and min(seen) > 0):
        return float(f"{min(seen) / _TINY_FACTOR:.3g}")
    if suggested.low is not None and all(value >= suggested.low for value in seen):
        return suggested.low
    if not seen:
        return 0.0
    return 0.0 if min(seen) >= 0 else 2.0 * min(seen)
