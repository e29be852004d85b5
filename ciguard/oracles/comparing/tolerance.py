"""Tolerances of results, from element types, sizes and measured condition.

A result accumulates rounding errors, each relative to the element type's epsilon. An element that
is computed from n others gathers about √n of them. The worst case bound n·u is far from what
happens; √n·u holds with high probability (Higham and Mary, A New Approach to Probabilistic Rounding
Error Analysis, SIAM J. Sci. Comput. 41(5), 2019).

How much the call amplifies the rounding of its inputs is its condition number. As a rule of thumb,
the error of a result is at most condition times backward error (Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., 2002, section 1.6). The condition is unknown beforehand, so
`conditioning` measures it before a difference counts as a finding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_ROUNDINGS = 64.0
"""Allowed error of one element, in units of epsilon. It covers a sequence of several elementary
functions of a few units each. It also covers the factor that makes √n a bound for every element of
thousands of calls."""
_MAX_RTOL = 0.05
"""Largest relative tolerance, for types with few digits; a larger difference is wrong in any
type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPrecision:
    """How exact the results of a call can be, given its arguments."""

    epsilon: float = 0.0
    """Epsilon of the coarsest floating-point type of the inputs; no result is more exact."""
    scale: float = 0.0
    """Magnitude of the inputs, at most 1: a difference of close numbers is small, its rounding is
    not."""
    low: float = 0.0
    """Least element of the inputs."""
    high: float = 0.0
    """Greatest element of the inputs. A cast of a number outside an integer type's range is
    undefined."""
    are_finite: bool = True
    """False if an input is NaN or infinite. The order of a computation then decides which of the
    two results, so both are treated as equal."""
    largest: tuple[int, int] = (0, 0)
    """Numbers of elements of the two largest inputs."""
    condition: float = 1.0
    """Roundings of the result per rounding of the inputs, where it was measured."""

    def length(self, count: int) -> float:
        """Return how many input elements enter each of `count` elements of a result.

        A reduction distributes the elements of its input. In a product of matrices or a
        convolution, m·k and k·n elements enter m·n sums of k products.
        """
        first, second = self.largest
        return max(1.0, first / count, math.sqrt(first * second / count)) if count else 1.0


NO_INPUTS = InputPrecision()
"""Precision of results whose inputs are unknown."""


def inputs_of(
    dtypes_and_ranges: Iterable[tuple[str, float, float]], *, sizes: Iterable[int] = ()
) -> InputPrecision:
    """Return the input precision of some tensors.

    Args:
        dtypes_and_ranges: (dtype, least, greatest) of each tensor.
        sizes: number of elements of each tensor.
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
    """Return the relative size of one rounding error in a result of some dtype."""
    return max(dtypes.EPSILON.get(dtype, 0.0), inputs.epsilon)


def relative_tolerance(dtype: str, *, count: int, inputs: InputPrecision = NO_INPUTS) -> float:
    """Return the allowed error relative to the largest element.

    Args:
        dtype: element type of the result.
        count: number of elements of the result.
        inputs: precision of the call's inputs.

    Returns:
        Dimensionless, >= 0; infinite if no two results can be compared.
    """
    roundings = _MAX_ROUNDINGS * math.sqrt(inputs.length(count))
    return min(roundings * epsilon_of(dtype, inputs), _MAX_RTOL) * max(1.0, inputs.condition)
