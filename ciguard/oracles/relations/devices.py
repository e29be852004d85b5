"""Relation: a transfer to the CPU and back does not change a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, LiteralValue, TensorValue, Value
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression, library_of, tensors_of, with_tensors

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return library_of(record.api) == "torch" and not record.api.endswith("_")


def _round_trip(tensor: TensorValue) -> Value:
    """Return an expression that moves a tensor to the CPU and back to its device."""
    device = CallValue("builtins.getattr", (tensor, LiteralValue("device")))
    on_cpu = CallValue("torch.Tensor.cpu", (tensor,))
    return CallValue("torch.Tensor.to", (on_cpu, device))


def _twin(case: ApiCall) -> Value | None:
    return expression(with_tensors(case, _round_trip)) if tensors_of(case) else None


DEVICE_ROUND_TRIP = relate(
    Relation(
        name="device round trip",
        law="A call gives the same result for tensors that were moved to the CPU and back.",
        source="torch.Tensor.to: “a tensor with the same data”",
        applies=_applies,
        twin=_twin,
        every=6,
    )
)
