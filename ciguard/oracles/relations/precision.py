"""Relation: a result in single precision is close to the result in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain import dtypes as element_types
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import (
    CallValue,
    DtypeValue,
    MemberValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.execution import Container, Output, TensorOutput
from ciguard.oracles.comparing.comparison import Difference
from ciguard.oracles.relations.contract import Compares, ObservedPair, Relation, relate
from ciguard.oracles.relations.expressions import (
    expression,
    has_keyword,
    operations_of,
    tensors_of,
    with_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from ciguard.domain.records import ApiRecord

_NARROW = "float32"
_PERTURBATION = 2.0**-20
"""Relative perturbation of an input: eight roundings in single precision."""
_MAX_ROUNDINGS = 1024.0
"""Maximum error, in units of epsilon, in addition to the effect of the perturbation."""
_MAX_PERTURBATIONS = 64.0
"""Maximum error, in units of the change that the perturbation of the inputs causes."""
_OVERFLOW_THRESHOLD, _UNDERFLOW_THRESHOLD = 1e37, 1e-37
"""Magnitudes close to the limits of single precision."""


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    is_call = record.kind is not CallKind.LAYER and not record.api.endswith("_")
    return is_call and operations_of(record.api).widening is not None


def _twin(case: ApiCall) -> Value | None:
    """Return two calls in double precision: with the same inputs, and with perturbed ones."""
    widening = operations_of(case.api).widening
    tensors = [tensor for tensor in tensors_of(case) if tensor.dtype in element_types.EPSILON]
    values = [*case.arguments, *(value for _, value in case.keywords)]
    has_dtype_argument = any(isinstance(value, DtypeValue | MemberValue) for value in values)
    if widening is None or not tensors or has_dtype_argument or has_keyword(case, "out"):
        return None
    if any(tensor.dtype != _NARROW for tensor in tensors):
        return None
    cast, settings, product = widening.cast, widening.settings, widening.multiply

    def widen(tensor: TensorValue) -> Value:
        return CallValue(cast, (tensor, *settings)) if tensor.dtype == _NARROW else tensor

    def perturb(tensor: TensorValue) -> Value:
        if tensor.dtype != _NARROW:
            return tensor
        seed = tensor.fill.seed + 1 if isinstance(tensor.fill, Uniform) else 1
        near_one = Uniform(seed, 1 - _PERTURBATION, 1 + _PERTURBATION)
        return CallValue(product, (widen(tensor), TensorValue("float64", tensor.shape, near_one)))

    exact, perturbed = (expression(with_tensors(case, change)) for change in (widen, perturb))
    return TupleValue((exact, perturbed))


def _find_violation(observed: ObservedPair) -> Difference | None:
    """Return how the result differs from that in double precision; None if it is close enough."""
    match observed.twin:
        case Container(items=(exact, perturbed)):
            triples = zip(_arrays(observed.first), _arrays(exact), _arrays(perturbed), strict=False)
            for first, wide, shifted in triples:
                difference = _excess_difference(first, wide, shifted, scale=observed.inputs.scale)
                if difference is not None:
                    return difference
            return None
        case _:
            return None


def _arrays(output: Output) -> Iterator[NDArray[Any]]:
    """Yield the elements of each floating-point tensor in a result."""
    match output:
        case TensorOutput(dtype, shape, elements) if dtype in element_types.EPSILON:
            yield elements.reshape(shape)
        case Container(items=items):
            for item in items:
                yield from _arrays(item)
        case _:
            return


def _excess_difference(
    first: NDArray[Any], exact: NDArray[Any], perturbed: NDArray[Any], *, scale: float
) -> Difference | None:
    """Return how the result differs from the exact one; None if rounding of inputs explains it.

    Args:
        first: the result in single precision.
        exact: the result in double precision.
        perturbed: the result in double precision for perturbed inputs.
        scale: magnitude of the inputs, at most 1.
    """
    if first.shape != exact.shape:
        return Difference("shape", f"{list(first.shape)} vs {list(exact.shape)}")
    if not _are_comparable(exact, perturbed):
        return None
    if not np.isfinite(first).all():
        index = int(np.flatnonzero(~np.isfinite(first))[0])
        return Difference("nan", f"{first.flat[index]} vs {exact.flat[index]}")
    if not exact.size:
        return None
    spread = float(np.abs(exact - perturbed).max())
    largest = max(float(np.abs(exact).max()), scale)
    allowed = (
        _MAX_ROUNDINGS * element_types.EPSILON[_NARROW] * largest + _MAX_PERTURBATIONS * spread
    )
    allowed = max(allowed, _UNDERFLOW_THRESHOLD)
    error = np.abs(first - exact)
    worst = int(error.argmax())
    if not error.flat[worst] > allowed:
        return None
    text = f"{first.flat[worst]:.9g} vs {exact.flat[worst]:.9g} (allowed {allowed:.2g})"
    return Difference("values", text)


def _are_comparable(exact: NDArray[Any], perturbed: NDArray[Any]) -> bool:
    """Return whether results are specified, and their shape does not depend on the elements.

    Results at the edge of a function's domain are unspecified. The perturbation can change the
    shape of a result such as that of `unique`.
    """
    if exact.shape != perturbed.shape:
        return False
    magnitude = np.abs(exact).astype(np.float64)  # half precision cannot hold the threshold
    is_finite = np.isfinite(exact) & np.isfinite(perturbed)
    return bool((is_finite & (magnitude < _OVERFLOW_THRESHOLD)).all())


PRECISION = relate(
    Relation(
        name="double precision",
        law=(
            "A result in single precision is as close to the result in double precision as the "
            "rounding of its inputs allows."
        ),
        source="Higham, Accuracy and Stability of Numerical Algorithms (2002), section 1.5",
        applies=_applies,
        twin=_twin,
        find_violation=_find_violation,
        compares=Compares.NUMBERS,
        part=0,
    )
)
