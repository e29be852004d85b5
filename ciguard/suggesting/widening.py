"""From the numbers that were seen to the range that is worth trying."""

from __future__ import annotations

import math

from ciguard.suggesting.clues import ArgumentKind, NumberRange

_LARGEST = 8
"""Of sizes of which none was seen: tests stay small."""
_SMALL_SHARE = 0.05
"""Below it, numbers differ by factors: learning rates, weights of penalties."""
_FACTOR = 10
_COSTLY = 256
"""Above it, a size is seen, not doubled."""


def widened(
    kind: ArgumentKind, seen: list[int | float], said: NumberRange, named: NumberRange
) -> NumberRange:
    """Return a range of numbers.

    Args:
        kind: integers or floating-point numbers.
        seen: examples.
        said: the range outside of which they are invalid; its ends are kept.
        named: what names suggest, for ends that nothing else tells.
    """
    return _ints(seen, said, named) if kind is ArgumentKind.INT else _floats(seen, said, named)


def _ints(seen: list[int | float], said: NumberRange, named: NumberRange) -> NumberRange:
    low, high = said.low, said.high
    if low is None:
        least = min(seen, default=None)
        is_fitting = named.low is not None and (least is None or least >= named.low)
        low = named.low if is_fitting else None
    if low is None:
        low = min(1, math.floor(min(seen))) if seen else 1
    elif low == 0 and named.low and min(seen, default=1) >= 1:
        low = named.low  # nothing may be valid, and seldom makes sense
    if high is None:
        high = _above(max(seen, default=None), low)
    if low > high:
        high = low + _LARGEST
    return NumberRange(low, high)


def _above(most: float | None, low: float | None) -> int:
    """Return twice the largest that was seen, as far as that stays cheap."""
    if most is None or most <= 0:
        return int(max(_LARGEST, (low or 0) + _LARGEST - 1))
    doubled = int(2 * most)
    return max(_LARGEST, doubled if doubled <= _COSTLY else int(most))


def _floats(seen: list[int | float], said: NumberRange, named: NumberRange) -> NumberRange:
    low, high = said.low, said.high
    open_low, open_high = said.open_low, said.open_high
    shares = [value for value in seen if 0 <= value <= 1]
    positive = [value for value in seen if value > 0]
    is_tiny = bool(seen) and len(positive) == len(seen) and max(seen) < _SMALL_SHARE
    if low is None:
        low, open_low = _floor(seen, named, is_tiny=is_tiny), False
    if high is None and is_tiny:
        high = float(f"{max(seen) * _FACTOR:.3g}")
    elif high is None and named.high is not None:
        high = named.high
    elif high is None and seen:
        high = 1.0 if len(shares) == len(seen) else 2.0 * max(abs(value) for value in seen)
    if high is None:
        high = max(1.0, low + 1.0)
    return NumberRange(low, high, open_low, open_high)


def _floor(seen: list[int | float], named: NumberRange, *, is_tiny: bool) -> float:
    if is_tiny or (seen and min(seen) > 0):
        return float(f"{min(seen) / _FACTOR:.3g}")
    if named.low is not None and all(value >= named.low for value in seen):
        return named.low
    if not seen:
        return 0.0
    return 0.0 if min(seen) >= 0 else 2.0 * min(seen)
