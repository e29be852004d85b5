"""Relation: a Python number is equivalent to a tensor without dimensions that holds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import Constant, LiteralValue, TensorValue, Value
from ciguard.oracles.relations.binary_functions import is_binary_of
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall


def _twin(case: ApiCall) -> Value | None:
    """Return the call with a tensor without dimensions in place of a Python number."""
    match case.arguments:
        case (TensorValue(dtype, (_, *_)) as left, LiteralValue(number), *rest) if (
            dtype in element_types.FLOATING
            and isinstance(number, int | float)
            and not isinstance(number, bool)
        ):
            # A tensor without dimensions and of no higher kind does not promote the other operand.
            dtype_name = "float64" if isinstance(number, float) else "int64"
            scalar = TensorValue(dtype_name, (), Constant(number))
            return expression(replace(case, arguments=(left, scalar, *rest)))
        case _:
            return None


SCALARS = relate(
    Relation(
        name="number as tensor",
        law="A Python number has the same effect as a tensor without dimensions that holds it.",
        source="PyTorch, torch.result_type: zero-dim tensors promote like numbers",
        applies=is_binary_of("torch"),
        twin=_twin,
    )
)
