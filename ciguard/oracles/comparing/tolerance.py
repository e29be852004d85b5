"""How far two results of one computation may be apart: from types, lengths and what was measured.

A result is a sum of roundings. Each is relative to the element type's epsilon. An element that is
computed from n others gathers about √n of them: the bound n·u of the worst case is far from what
happens, √n·u holds with high probability (Higham and Mary, A New Approach to Probabilistic Rounding
Error Analysis, SIAM J. Sci. Comput. 41(5), 2019). What the call does to the rounding of its inputs
is its condition; as a rule of thumb the error of a result is at most condition times backward error
(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, section 1.6). It cannot be
known beforehand, so it is measured on what is about to count as a finding: see `conditioning`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterable

_ROUNDINGS = 64.0
"""Units of epsilon that one element may be off: elementary functions of a few units each, several
of them in a row, and the factor that makes √n a bound for every element of thousands of calls."""
_MAX_RTOL = 0.05
"""Of types with few digits; what differs by more is wrong in any of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPrecision:
    """What the arguments of a call say about how exact its results can be."""

    epsilon: float = 0.0
    """Of the coarsest floating-point type among them: no result is more exact than its origin."""
    scale: float = 0.0
    """Their magnitude, at most 1: a difference of like numbers is small, its rounding is not."""
    low: float = 0.0
    high: float = 0.0
    """Their range. What a number outside an integer type's range is cast to is left open."""
    are_finite: bool = True
    """Where they are not, the order of a computation decides whether NaN or an infinity comes of
    it, so these are taken as one."""
    largest: tuple[int, int] = (0, 0)
    """Numbers of elements of the two largest."""
    condition: float = 1.0
    """Roundings of the result per rounding of the inputs, where that was measured."""

    def length(self, count: int) -> float:
        """Return how many elements enter each of `count` elements of a result.

        A reduction shares out the elements of its input. Of a product of matrices or a
        convolution, m·k and k·n elements enter m·n sums of k products.
        """
        first, second = self.largest
        return max(1.0, first / count, math.sqrt(first * second / count)) if count else 1.0


NO_INPUTS = InputPrecision()


def inputs_of(
    dtypes_and_ranges: Iterable[tuple[str, float, float]], *, sizes: Iterable[int] = ()
) -> InputPrecision:
    """Return what the arguments' tensors say.

    Args:
        dtypes_and_ranges: (dtype, least, greatest) of each.
        sizes: their numbers of elements.
    """
    first, second, *_ = [*sorted(sizes, reverse=True), 0, 0]
    known = [(d, low, high) for d, low, high in dtypes_and_ranges if d in dtypes.EPSILON]
    if not known:
        return InputPrecision(largest=(first, second))
    low, high = min(low for _, low, _ in known), max(high for _, _, high in known)
    return InputPrecision(
        epsilon=max(dtypes.EPSILON[dtype] for dtype, _, _ in known),
        scale=min(1.0, max(abs(low), abs(high))),
        low=low,
        high=high,
        largest=(first, second),
    )


def epsilon_of(dtype: str, inputs: InputPrecision = NO_INPUTS) -> float:
    """Return the size of one rounding in a result of some dtype."""
    return max(dtypes.EPSILON.get(dtype, 0.0), inputs.epsilon)


def relative_tolerance(dtype: str, *, count: int, inputs: InputPrecision = NO_INPUTS) -> float:
    """Return the error that is allowed relative to the largest element.

    Args:
        dtype: of the result.
        count: of its elements.
        inputs: of the call.

    Returns:
        Dimensionless, >= 0; infinite where no two results can be held against each other.
    """
    roundings = _ROUNDINGS * math.sqrt(inputs.length(count))
    return min(roundings * epsilon_of(dtype, inputs), _MAX_RTOL) * max(1.0, inputs.condition)
