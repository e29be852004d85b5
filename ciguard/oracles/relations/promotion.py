"""Relation: type promotion by the library equals an explicit cast to the common type."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, Value
from ciguard.oracles.relations.binary_functions import is_binary_of, operands
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression, has_keyword

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall


def _twin(case: ApiCall) -> Value | None:
    """Return the call on operands that were explicitly cast to their common type."""
    tensors = operands(case)
    if tensors is None or tensors[0].dtype == tensors[1].dtype or has_keyword(case, "out", "dtype"):
        return None
    promoted = CallValue("torch.result_type", tensors)
    cast = tuple(CallValue("torch.Tensor.to", (tensor, promoted)) for tensor in tensors)
    return expression(replace(case, arguments=(*cast, *case.arguments[2:])))


PROMOTION = relate(
    Relation(
        name="promotion by hand",
        law="A call promotes operands as if they were cast to their common type before the call.",
        source="PyTorch, torch.result_type and type promotion in Tensor Attributes",
        applies=is_binary_of("torch"),
        twin=_twin,
    )
)
