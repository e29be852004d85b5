"""Ranges of numbers, and what arithmetic makes of them: forwards, and backwards to its operands.

Source: F. Benhamou, F. Goualard, L. Granvilliers, J.-F. Puget, Revising hull and box consistency
(ICLP 1999): the algorithm HC4-revise, here without rounding outwards, since what is narrowed too
far by an ulp is only not drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

INF = math.inf


class EmptyError(Exception):
    """No number is left."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from `low` to `high`, both inclusive."""

    low: float = -INF
    high: float = INF
    is_whole: bool = False
    """Whether it holds integers only."""

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise EmptyError

    @property
    def is_point(self) -> bool:
        """Whether there is one number in it."""
        return self.low == self.high

    def meet(self, other: Interval) -> Interval:
        """Return what both hold.

        Raises:
            EmptyError: if that is nothing.
        """
        whole = self.is_whole or other.is_whole
        low, high = max(self.low, other.low), min(self.high, other.high)
        if whole:
            low, high = _up(low), _down(high)
        return Interval(low, high, whole)


ANY = Interval()


def _up(number: float) -> float:
    return math.ceil(number) if math.isfinite(number) else number


def _down(number: float) -> float:
    return math.floor(number) if math.isfinite(number) else number


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the least interval that holds all of them; `ANY` for none."""
    found = list(intervals)
    if not found:
        return ANY
    return Interval(
        min(i.low for i in found), max(i.high for i in found), all(i.is_whole for i in found)
    )


def point(number: float) -> Interval:
    """Return the interval of one number."""
    return Interval(number, number, isinstance(number, int))


def added(left: Interval, right: Interval) -> Interval:
    """Return the sums."""
    return Interval(left.low + right.low, left.high + right.high, left.is_whole and right.is_whole)


def negated(interval: Interval) -> Interval:
    """Return the numbers with the other sign."""
    return Interval(-interval.high, -interval.low, interval.is_whole)


def multiplied(left: Interval, right: Interval) -> Interval:
    """Return the products."""
    ends = [_product(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Interval(min(ends), max(ends), left.is_whole and right.is_whole)


def _product(left: float, right: float) -> float:
    return 0 if 0 in (left, right) else left * right  # infinity many times nothing is nothing


def divided(left: Interval, right: Interval) -> Interval:
    """Return the quotients; `ANY` where the divisor may be 0."""
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


def floored(left: Interval, right: Interval) -> Interval:
    """Return the quotients, rounded down."""
    exact = divided(left, right)
    return Interval(_down(exact.low), _down(exact.high), left.is_whole and right.is_whole)


def remainders(left: Interval, right: Interval) -> Interval:
    """Return what is left by division by positive numbers; `ANY` for others."""
    whole = left.is_whole and right.is_whole
    if right.low <= 0:
        return Interval(is_whole=whole)
    return Interval(0, right.high - 1 if whole else right.high, whole)


def factor_of(product: Interval, other: Interval) -> Interval:
    """Return by what `other` may be multiplied to give `product`."""
    return divided(product, other)


def dividend_of(quotient: Interval, divisor: Interval) -> Interval:
    """Return what gives `quotient` when divided by a positive `divisor` and rounded down."""
    if divisor.low <= 0:
        return ANY
    low = min(_product(quotient.low, d) for d in (divisor.low, divisor.high))
    high = max(_product(quotient.high + 1, d) for d in (divisor.low, divisor.high))
    return Interval(low, high - 1 if quotient.is_whole and divisor.is_whole else high)
