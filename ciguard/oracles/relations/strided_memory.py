"""Relations of memory: the layout of a tensor's elements does not change results."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    CallValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import (
    Change,
    expression,
    library_of,
    tensors_of,
    with_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_FIRST, _LAST = LiteralValue(0), LiteralValue(-1)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return library_of(record.api) == "torch" and not record.api.endswith("_")


def with_stride_two(tensor: Value) -> Value:
    """Return an expression for a tensor with the same elements, which has a stride of 2."""
    doubled = CallValue("torch.stack", (ListValue((tensor, tensor)), _LAST))
    return CallValue("torch.select", (doubled, _LAST, LiteralValue(0)))


def _in_reversed_order(tensor: TensorValue) -> Value:
    """Return an expression for a tensor with the same elements, the first dimension innermost."""
    order = TupleValue(tuple(map(LiteralValue, reversed(range(len(tensor.shape))))))
    permuted = CallValue("torch.permute", (tensor, order))
    contiguous = CallValue("torch.Tensor.contiguous", (permuted,))
    return CallValue("torch.permute", (contiguous, order))


def _behind_an_element(tensor: TensorValue) -> Value:
    """Return an expression for a tensor with the same elements, one element into its memory."""
    flat = CallValue("torch.flatten", (tensor,))
    count = prod(tensor.shape)
    padded = CallValue("torch.cat", (ListValue((CallValue("torch.zeros_like", (flat,)), flat)),))
    part = CallValue("torch.narrow", (padded, _FIRST, LiteralValue(count), LiteralValue(count)))
    shape = TupleValue(tuple(map(LiteralValue, tensor.shape)))
    return CallValue("torch.reshape", (part, shape))


def _twin(change: Change, *, minimum_rank: int = 0) -> Callable[[ApiCall], Value | None]:
    """Return the function that makes the twin with changed tensors.

    Args:
        change: the change of each tensor.
        minimum_rank: rank from which on a tensor is changed; a call without one has no twin.
    """

    def change_if_possible(tensor: TensorValue) -> Value:
        return change(tensor) if len(tensor.shape) >= minimum_rank else tensor

    def twin(case: ApiCall) -> Value | None:
        if not any(len(tensor.shape) >= minimum_rank for tensor in tensors_of(case)):
            return None
        return expression(with_tensors(case, change_if_possible))

    return twin


_SOURCE = "torch.Tensor.stride: strides are a matter of storage, not of values"

STRIDED_MEMORY = relate(
    Relation(
        name="strided memory",
        law="A call gives the same result for a tensor that is not contiguous and its copy.",
        source=_SOURCE,
        applies=_applies,
        twin=_twin(with_stride_two),
    )
)
relate(
    Relation(
        name="permuted memory",
        law="A call gives the same result for a tensor whose dimensions lie in another order.",
        source=_SOURCE,
        applies=_applies,
        twin=_twin(_in_reversed_order, minimum_rank=2),
    )
)
relate(
    Relation(
        name="shifted memory",
        law="A call gives the same result for a tensor that begins inside its storage.",
        source="torch.Tensor.storage_offset: the offset is a matter of storage, not of values",
        applies=_applies,
        twin=_twin(_behind_an_element),
    )
)
