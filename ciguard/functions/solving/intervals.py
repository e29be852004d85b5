"""Interval arithmetic: ranges of results from ranges of operands, and the reverse.

Source: F. Benhamou, F. Goualard, L. Granvilliers, J.-F. Puget, Revising hull and box consistency
(ICLP 1999), algorithm HC4-revise. Unlike there, bounds are not rounded outwards: if rounding makes
a range too narrow, only one number is never drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

INF = math.inf


class EmptyError(Exception):
    """Error for an interval without numbers, or for conditions that no value fulfils."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from `low` to `high`, both inclusive."""

    low: float = -INF
    high: float = INF
    is_whole: bool = False
    """True if the interval contains only integers."""

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise EmptyError

    @property
    def is_point(self) -> bool:
        """True if the interval contains exactly one number."""
        return self.low == self.high

    def intersection(self, other: Interval) -> Interval:
        """Return the interval of the numbers that lie in both intervals.

        Raises:
            EmptyError: if no number lies in both.
        """
        is_whole = self.is_whole or other.is_whole
        low, high = max(self.low, other.low), min(self.high, other.high)
        if is_whole:
            low, high = _ceil(low), _floor(high)
        return Interval(low, high, is_whole)


ANY = Interval()
"""Interval of all numbers."""


def _ceil(number: float) -> float:
    return math.ceil(number) if math.isfinite(number) else number


def _floor(number: float) -> float:
    return math.floor(number) if math.isfinite(number) else number


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the smallest interval that contains all `intervals`; `ANY` if there are none."""
    parts = list(intervals)
    if not parts:
        return ANY
    return Interval(
        min(part.low for part in parts),
        max(part.high for part in parts),
        all(part.is_whole for part in parts),
    )


def point(number: float) -> Interval:
    """Return the interval of a single number."""
    return Interval(number, number, isinstance(number, int))


def add(left: Interval, right: Interval) -> Interval:
    """Return the interval of the sums of a number from each interval."""
    return Interval(left.low + right.low, left.high + right.high, left.is_whole and right.is_whole)


def negate(interval: Interval) -> Interval:
    """Return the interval of the negated numbers."""
    return Interval(-interval.high, -interval.low, interval.is_whole)


def multiply(left: Interval, right: Interval) -> Interval:
    """Return the interval of the products of a number from each interval."""
    ends = [_product(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Interval(min(ends), max(ends), left.is_whole and right.is_whole)


def _product(left: float, right: float) -> float:
    return 0 if 0 in (left, right) else left * right  # 0 * inf is 0 here, not NaN


def divide(left: Interval, right: Interval) -> Interval:
    """Return the interval of the quotients; `ANY` if the divisor may be 0."""
    if right.low <= 0 <= right.high:
        return ANY
    ends = [_quotient(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Interval(min(ends), max(ends))


def _quotient(left: float, right: float) -> float:
    if math.isinf(right):
        return 0.0
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


def floor_divide(left: Interval, right: Interval) -> Interval:
    """Return the interval of the quotients, rounded down."""
    exact = divide(left, right)
    return Interval(_floor(exact.low), _floor(exact.high), left.is_whole and right.is_whole)


def modulo(left: Interval, right: Interval) -> Interval:
    """Return the interval of the remainders; without bounds if the divisor may be 0 or negative."""
    is_whole = left.is_whole and right.is_whole
    if right.low <= 0:
        return Interval(is_whole=is_whole)
    return Interval(0, right.high - 1 if is_whole else right.high, is_whole)


def factor_of(product: Interval, other: Interval) -> Interval:
    """Return the interval of one factor, from those of the product and of the other factor."""
    return divide(product, other)


def dividend_of(quotient: Interval, divisor: Interval) -> Interval:
    """Return the interval of the dividends, from those of a floored quotient and of its divisor.

    The result is `ANY` if the divisor may be 0 or negative.
    """
    if divisor.low <= 0:
        return ANY
    low = min(_product(quotient.low, d) for d in (divisor.low, divisor.high))
    high = max(_product(quotient.high + 1, d) for d in (divisor.low, divisor.high))
    return Interval(low, high - 1 if quotient.is_whole and divisor.is_whole else high)
