"""Functions of two tensors, element by element: those that broadcast and promote."""

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
"""Last parts of qualified names."""
_WHOLE = frozenset({"torch.equal", "torch.Tensor.equal"})
"""Compare whole tensors: one answer, and shapes that differ are unequal."""


def is_binary(record: ApiRecord) -> bool:
    """Whether an API computes element by element from two tensors."""
    is_named = record.api.rpartition(".")[2].lower() in NAMES
    return is_named and record.kind is not CallKind.LAYER and record.api not in _WHOLE


def is_binary_of(*libraries: str) -> Applies:
    """Return the condition that an API of these libraries is such a function."""

    def applies(record: ApiRecord, names: Collection[str]) -> bool:
        del names
        return library_of(record.api) in libraries and is_binary(record)

    return applies


def operands(case: ApiCall) -> tuple[TensorValue, TensorValue] | None:
    """Return the two tensors of a call; None if it is not made of two by position."""
    match case.arguments:
        case (TensorValue() as left, TensorValue() as right, *_):
            return left, right
        case _:
            return None
