"""Elementwise functions of two tensors, which broadcast and promote their operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import TensorValue
from ciguard.oracles.relations.expressions import library_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.relations.contract import Applies

NAMES = frozenset(
    {
        *("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide"),
        *("pow", "power", "maximum", "minimum", "fmax", "fmin", "atan2", "arctan2", "hypot"),
        *("fmod", "mod", "floormod", "remainder", "floor_divide", "logaddexp", "logaddexp2"),
        *("eq", "ne", "lt", "le", "gt", "ge", "equal", "not_equal", "less", "less_equal"),
        *("greater", "greater_equal", "logical_and", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "squared_difference", "xlogy", "copysign"),
        *("heaviside", "nextafter", "ldexp", "gcd", "lcm"),
    }
)
"""Names of elementwise functions of two tensors, without the module."""
_WHOLE_TENSOR_FUNCTIONS = frozenset({"torch.equal", "torch.Tensor.equal"})
"""Functions that compare whole tensors, so that they are not elementwise."""


def is_binary(record: ApiRecord) -> bool:
    """Return whether an API is an elementwise function of two tensors."""
    is_named = record.api.rpartition(".")[2].lower() in NAMES
    return (
        is_named and record.kind is not CallKind.LAYER and record.api not in _WHOLE_TENSOR_FUNCTIONS
    )


def is_binary_of(*libraries: str) -> Applies:
    """Return a function that accepts the elementwise binary functions of some libraries."""

    def applies(record: ApiRecord, names: Collection[str]) -> bool:
        del names
        return library_of(record.api) in libraries and is_binary(record)

    return applies


def operands(case: ApiCall) -> tuple[TensorValue, TensorValue] | None:
    """Return the first two positional arguments of a call; None if they are not both tensors."""
    match case.arguments:
        case (TensorValue() as left, TensorValue() as right, *_):
            return left, right
        case _:
            return None
