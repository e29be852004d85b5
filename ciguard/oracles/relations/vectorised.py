"""Relation: a vectorised function gives for each item the result for the item alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, ListValue, LiteralValue, TupleValue, Value
from ciguard.execution import Container
from ciguard.oracles.relations.contract import ObservedPair, Relation, relate, same
from ciguard.oracles.relations.expressions import (
    applied,
    as_function,
    leading,
    operations_of,
    tensors_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.comparing.comparison import Difference

_FIRST = LiteralValue(0)
_NONE = LiteralValue(None)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return not record.api.endswith("_") and operations_of(record.api).vectorising is not None


def _twin(case: ApiCall) -> Value | None:
    function, arguments = as_function(case)
    tensors = leading(arguments)
    operations = operations_of(case.api).vectorising
    if operations is None or not tensors or len(tensors) != len(tensors_of(case)):
        return None
    rest = arguments[len(tensors) :]
    in_axes = TupleValue((*(_FIRST for _ in tensors), *(_NONE for _ in rest)))
    vectorised = CallValue(operations.vmap, (function, in_axes))
    pairs = [CallValue(operations.stack, (ListValue((tensor, tensor)),)) for tensor in tensors]
    results = applied(vectorised, *pairs, *rest)
    return CallValue("operator.getitem", (results, _FIRST))


def _broken(observed: ObservedPair) -> Difference | None:
    """Return how single results differ; containers are skipped: indexing selects wrong items."""
    return None if isinstance(observed.first, Container) else same(observed)


VECTORISED = relate(
    Relation(
        name="vmap and call",
        law="A vectorised function gives for each item what the function gives for it alone.",
        source="torch.vmap and jax.vmap: “a function that maps over dimensions of its inputs”",
        applies=_applies,
        twin=_twin,
        broken=_broken,
        every=2,
    )
)
