"""A result in single precision is near the one in double precision."""

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
_NUDGE = 2.0**-20
"""Relative: eight roundings of a single-precision input."""
_ROUNDINGS = 1024.0
_NUDGES = 64.0
"""How far a result may be off, in what a nudge of the inputs does to it."""
_OVERFLOWS, _UNDERFLOWS = 1e37, 1e-37
"""Near what single precision can hold at all."""


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    is_call = record.kind is not CallKind.LAYER and not record.api.endswith("_")
    return is_call and operations_of(record.api).widening is not None


def _twin(case: ApiCall) -> Value | None:
    widening = operations_of(case.api).widening
    found = [tensor for tensor in tensors_of(case) if tensor.dtype in element_types.EPSILON]
    values = [*case.arguments, *(value for _, value in case.keywords)]
    names_types = any(isinstance(value, DtypeValue | MemberValue) for value in values)
    if widening is None or not found or names_types or has_keyword(case, "out"):
        return None
    if any(tensor.dtype != _NARROW for tensor in found):
        return None
    cast, settings, product = widening.cast, widening.settings, widening.multiply

    def widened(tensor: TensorValue) -> Value:
        return CallValue(cast, (tensor, *settings)) if tensor.dtype == _NARROW else tensor

    def nudged(tensor: TensorValue) -> Value:
        if tensor.dtype != _NARROW:
            return tensor
        seed = tensor.fill.seed + 1 if isinstance(tensor.fill, Uniform) else 1
        near_one = Uniform(seed, 1 - _NUDGE, 1 + _NUDGE)
        return CallValue(product, (widened(tensor), TensorValue("float64", tensor.shape, near_one)))

    exact, near = (expression(with_tensors(case, change)) for change in (widened, nudged))
    return TupleValue((exact, near))


def _broken(observed: ObservedPair) -> Difference | None:
    match observed.twin:
        case Container(items=(exact, near)):
            triples = zip(_arrays(observed.first), _arrays(exact), _arrays(near), strict=False)
            for first, wide, nudged in triples:
                difference = _beyond(first, wide, nudged, scale=observed.inputs.scale)
                if difference is not None:
                    return difference
            return None
        case _:
            return None


def _arrays(output: Output) -> Iterator[NDArray[Any]]:
    match output:
        case TensorOutput(dtype, shape, elements) if dtype in element_types.EPSILON:
            yield elements.reshape(shape)
        case Container(items=items):
            for item in items:
                yield from _arrays(item)
        case _:
            return


def _beyond(
    first: NDArray[Any], exact: NDArray[Any], near: NDArray[Any], *, scale: float
) -> Difference | None:
    """Return how a result differs from the exact one by more than its inputs' roundings do."""
    if first.shape != exact.shape:
        return Difference("shape", f"{list(first.shape)} vs {list(exact.shape)}")
    known = np.isfinite(exact) & np.isfinite(near) & (np.abs(exact) < _OVERFLOWS)
    if exact.shape != near.shape or not known.all():
        return None  # at the edge of what the function is defined for, nothing is promised
    if not np.isfinite(first).all():
        place = int(np.flatnonzero(~np.isfinite(first))[0])
        return Difference("nan", f"{first.flat[place]} vs {exact.flat[place]}")
    if not exact.size:
        return None
    spread = float(np.abs(exact - near).max())
    largest = max(float(np.abs(exact).max()), scale)
    allowed = _ROUNDINGS * element_types.EPSILON[_NARROW] * largest + _NUDGES * spread
    allowed = max(allowed, _UNDERFLOWS)
    error = np.abs(first - exact)
    worst = int(error.argmax())
    if not error.flat[worst] > allowed:
        return None
    text = f"{first.flat[worst]:.9g} vs {exact.flat[worst]:.9g} (allowed {allowed:.2g})"
    return Difference("values", text)


PRECISION = relate(
    Relation(
        name="double precision",
        law=(
            "A result in single precision is as near the one in double precision as the "
            "rounding of its inputs allows."
        ),
        source="Higham, Accuracy and Stability of Numerical Algorithms (2002), section 1.5",
        applies=_applies,
        twin=_twin,
        broken=_broken,
        compares=Compares.NUMBERS,
        part=0,
    )
)
