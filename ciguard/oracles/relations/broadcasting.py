"""Relation: broadcasting by the library equals explicit broadcasting."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.values import CallValue, ListValue, LiteralValue, Value
from ciguard.oracles.relations.binary_functions import is_binary, operands
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression, operations_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import TensorValue


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return bool(operations_of(record.api).broadcast) and is_binary(record)


def _twin(case: ApiCall) -> Value | None:
    """Return the call on operands that were explicitly broadcast to one shape."""
    tensors = operands(case)
    function = operations_of(case.api).broadcast
    if not function or tensors is None or tensors[0].shape == tensors[1].shape:
        return None
    has_scalar = not all(tensor.shape for tensor in tensors)
    if has_scalar and tensors[0].dtype != tensors[1].dtype:
        return None  # a tensor affects type promotion only if it has dimensions
    try:
        shape = np.broadcast_shapes(tensors[0].shape, tensors[1].shape)
    except ValueError:
        return None  # the relation does not apply to operands that do not broadcast
    sizes = ListValue(tuple(map(LiteralValue, shape)))

    def broadcast(tensor: TensorValue) -> Value:
        return tensor if tensor.shape == shape else CallValue(function, (tensor, sizes))

    rest = case.arguments[2:]
    return expression(
        replace(case, arguments=(broadcast(tensors[0]), broadcast(tensors[1]), *rest))
    )


BROADCASTING = relate(
    Relation(
        name="broadcasting by hand",
        law="A call broadcasts operands as if they were broadcast to one shape before the call.",
        source="PyTorch, Broadcasting semantics; NumPy, General broadcasting rules",
        applies=_applies,
        twin=_twin,
    )
)
