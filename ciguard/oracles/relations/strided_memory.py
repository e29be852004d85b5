"""Relation: the memory layout of a tensor's elements does not change results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, ListValue, LiteralValue, TensorValue, Value
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression, library_of, tensors_of, with_tensors

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_LAST = LiteralValue(-1)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return library_of(record.api) == "torch" and not record.api.endswith("_")


def _with_stride_two(tensor: TensorValue) -> Value:
    """Return an expression for a tensor with the same elements, which has a stride of 2."""
    doubled = CallValue("torch.stack", (ListValue((tensor, tensor)), _LAST))
    return CallValue("torch.select", (doubled, _LAST, LiteralValue(0)))


def _twin(case: ApiCall) -> Value | None:
    return expression(with_tensors(case, _with_stride_two)) if tensors_of(case) else None


STRIDED_MEMORY = relate(
    Relation(
        name="strided memory",
        law="A call gives the same result for a tensor that is not contiguous and its copy.",
        source="torch.Tensor.stride: strides are a matter of storage, not of values",
        applies=_applies,
        twin=_twin,
    )
)
