"""Tolerances of results, computed from element types, sizes and the measured condition number.

A result accumulates rounding errors, each relative to the element type's epsilon u. An element that
is computed from n others accumulates about √n errors: the error rarely reaches its upper bound n·u,
and is below √n·u with high probability (Higham and Mary, A New Approach to Probabilistic Rounding
Error Analysis, SIAM J. Sci. Comput. 41(5), 2019).

The condition number of a call is the factor by which it amplifies rounding errors of its inputs. By
a rule of thumb, error of the result ≤ condition number · backward error. Source: Higham, Accuracy
and Stability of Numerical Algorithms (2nd ed., 2002), section 1.6. The condition number is unknown
beforehand, so `conditioning` measures it before a difference counts as a finding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_ROUNDINGS = 64.0
"""Maximum error of an element that is computed from one other, in units of epsilon. It covers
several elementary functions in sequence, each with an error of a few units. It also covers the
factor by which √n must grow to be a bound for all elements of thousands of calls."""
_MAX_TF32_ROUNDINGS = 16.0
"""Maximum error of a result that is computed with TF32, in units of its epsilon. Only inputs are
rounded, and in both directions: of n products, their errors grow like √n, as the sum itself does.
The factor covers several products in sequence."""
_MAX_RTOL = 0.05
"""Maximum relative tolerance, which matters for types with few digits. A larger difference is a
defect in any type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPrecision:
    """Properties of a call's inputs that limit how exact its results can be."""

    epsilon: float = 0.0
    """Epsilon of the least precise floating-point type of the inputs. No result is more exact."""
    scale: float = 0.0
    """Magnitude of the inputs, at most 1. Errors of smaller results are relative to it, because the
    difference of nearly equal inputs is small but has the rounding errors of the inputs."""
    low: float = 0.0
    """Minimum element of the inputs."""
    high: float = 0.0
    """Maximum element of the inputs. A number outside an integer type's range cannot be converted
    to the type: the result is undefined."""
    are_finite: bool = True
    """False if an input is NaN or infinite. Whether a result is NaN or infinite then depends on the
    order of the computation, so NaN and infinity count as equal."""
    largest: tuple[int, int] = (0, 0)
    """Number of elements of each of the two largest inputs, the larger one first."""
    uses_tf32: bool = False
    """True if the inputs of products may be rounded to TF32."""
    condition: float = 1.0
    """Condition number: rounding errors of the result per rounding error of the inputs; 1 if it was
    not measured."""

    def terms_per_element(self, count: int) -> float:
        """Return from how many terms each of the `count` elements of a result is computed.

        A reduction distributes the elements of its input over the elements of the result. A product
        of matrices with m·k and k·n elements, or a convolution, computes m·n sums of k products.
        """
        first, second = self.largest
        return max(1.0, first / count, math.sqrt(first * second / count)) if count else 1.0


NO_INPUTS = InputPrecision()
"""Precision of results whose inputs are unknown."""


def inputs_of(
    ranges: Iterable[tuple[str, float, float]], *, sizes: Iterable[int] = ()
) -> InputPrecision:
    """Return the precision of the given input tensors.

    Args:
        ranges: (dtype, minimum, maximum) of each tensor.
        sizes: number of elements of each tensor.
    """
    first, second, *_ = [*sorted(sizes, reverse=True), 0, 0]
    floating_ranges = [(d, low, high) for d, low, high in ranges if d in dtypes.EPSILON]
    if not floating_ranges:
        return InputPrecision(largest=(first, second))
    low, high = (
        min(low for _, low, _ in floating_ranges),
        max(high for _, _, high in floating_ranges),
    )
    return InputPrecision(
        epsilon=max(dtypes.EPSILON[dtype] for dtype, _, _ in floating_ranges),
        scale=min(1.0, max(abs(low), abs(high))),
        low=low,
        high=high,
        largest=(first, second),
    )


def epsilon_of(dtype: str, inputs: InputPrecision = NO_INPUTS) -> float:
    """Return the relative size of a rounding error in a result of the given dtype."""
    tf32 = dtypes.TF32_EPSILON if inputs.uses_tf32 else 0.0
    return max(dtypes.EPSILON.get(dtype, 0.0), inputs.epsilon, tf32)


def relative_tolerance(dtype: str, *, count: int, inputs: InputPrecision = NO_INPUTS) -> float:
    """Return the maximum error of a result, relative to its largest element.

    Args:
        dtype: element type of the result.
        count: number of elements of the result.
        inputs: precision of the call's inputs.

    Returns:
        A number of at least 0 without a unit; infinite if results cannot be compared.
    """
    epsilon = max(dtypes.EPSILON.get(dtype, 0.0), inputs.epsilon)
    roundings = _MAX_ROUNDINGS * math.sqrt(inputs.terms_per_element(count))
    tf32 = _MAX_TF32_ROUNDINGS * dtypes.TF32_EPSILON if inputs.uses_tf32 else 0.0
    return max(min(roundings * epsilon, _MAX_RTOL), tf32) * max(1.0, inputs.condition)
