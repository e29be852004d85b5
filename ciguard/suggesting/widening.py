"""Widens example numbers to a range for tests."""

from __future__ import annotations

import math

from ciguard.suggesting.clues import ArgumentKind, NumberRange

_DEFAULT_MAX_SIZE = 8
"""Maximum of integers without examples, so that tests stay small."""
_MAX_TINY = 0.05
"""Limit below which all examples are scaled by a factor, such as learning rates and weights."""
_TINY_FACTOR = 10
"""Factor between a bound and the nearest example, if all examples are below `_MAX_TINY`."""
_MAX_DOUBLED = 256
"""Largest maximum that results from doubling; a larger example is itself the maximum."""


def widen(
    kind: ArgumentKind, examples: list[int | float], valid: NumberRange, suggested: NumberRange
) -> NumberRange:
    """Return a range of numbers to test.

    Args:
        kind: integers or floating-point numbers.
        examples: example values.
        valid: range of valid numbers; its bounds are kept.
        suggested: range that the argument's name suggests, for bounds that `valid` lacks.
    """
    return (
        _ints(examples, valid, suggested)
        if kind is ArgumentKind.INT
        else _floats(examples, valid, suggested)
    )


def _ints(examples: list[int | float], valid: NumberRange, suggested: NumberRange) -> NumberRange:
    """Return the range of integers to test."""
    low, high = valid.low, valid.high
    if low is None:
        smallest = min(examples, default=None)
        is_fitting = suggested.low is not None and (smallest is None or smallest >= suggested.low)
        low = suggested.low if is_fitting else None
    if low is None:
        low = min(1, math.floor(min(examples))) if examples else 1
    elif low == 0 and suggested.low and min(examples, default=1) >= 1:
        low = suggested.low  # zero may be valid, but is seldom useful
    if high is None:
        high = _widened_maximum(max(examples, default=None), low)
    if low > high:
        high = low + _DEFAULT_MAX_SIZE
    return NumberRange(low, high)


def _widened_maximum(largest: float | None, low: float | None) -> int:
    """Return twice the largest example, or the largest example itself if it is expensive."""
    if largest is None or largest <= 0:
        return int(max(_DEFAULT_MAX_SIZE, (low or 0) + _DEFAULT_MAX_SIZE - 1))
    doubled = int(2 * largest)
    return max(_DEFAULT_MAX_SIZE, doubled if doubled <= _MAX_DOUBLED else int(largest))


def _floats(examples: list[int | float], valid: NumberRange, suggested: NumberRange) -> NumberRange:
    """Return the range of floating-point numbers to test."""
    low, high = valid.low, valid.high
    open_low, open_high = valid.open_low, valid.open_high
    fractions = [value for value in examples if 0 <= value <= 1]
    positive = [value for value in examples if value > 0]
    is_tiny = bool(examples) and len(positive) == len(examples) and max(examples) < _MAX_TINY
    if low is None:
        low, open_low = _widened_minimum(examples, suggested, is_tiny=is_tiny), False
    if high is None and is_tiny:
        high = float(f"{max(examples) * _TINY_FACTOR:.3g}")
    elif high is None and suggested.high is not None:
        high = suggested.high
    elif high is None and examples:
        high = (
            1.0 if len(fractions) == len(examples) else 2.0 * max(abs(value) for value in examples)
        )
    if high is None:
        high = max(1.0, low + 1.0)
    return NumberRange(low, high, open_low, open_high)


def _widened_minimum(
    examples: list[int | float], suggested: NumberRange, *, is_tiny: bool
) -> float:
    """Return a lower bound below the examples."""
    if is_tiny or (examples and min(examples) > 0):
        return float(f"{min(examples) / _TINY_FACTOR:.3g}")
    if suggested.low is not None and all(value >= suggested.low for value in examples):
        return suggested.low
    if not examples:
        return 0.0
    return 0.0 if min(examples) >= 0 else 2.0 * min(examples)
