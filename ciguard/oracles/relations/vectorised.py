"""Relation: a vectorised function returns for each item what the function returns for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, ListValue, LiteralValue, TupleValue, Value
from ciguard.execution import Container
from ciguard.oracles.relations.contract import ObservedPair, Relation, compare_pair, relate
from ciguard.oracles.relations.expressions import (
    apply,
    as_function,
    leading_tensors,
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
    """Return the first result of the vectorised function for a batch of two equal items."""
    function, arguments = as_function(case)
    tensors = leading_tensors(arguments)
    operations = operations_of(case.api).vectorising
    if operations is None or not tensors or len(tensors) != len(tensors_of(case)):
        return None
    rest = arguments[len(tensors) :]
    in_axes = TupleValue((*(_FIRST for _ in tensors), *(_NONE for _ in rest)))
    vectorised = CallValue(operations.vmap, (function, in_axes))
    pairs = [CallValue(operations.stack, (ListValue((tensor, tensor)),)) for tensor in tensors]
    results = apply(vectorised, *pairs, *rest)
    return CallValue("operator.getitem", (results, _FIRST))


def _find_violation(observed: ObservedPair) -> Difference | None:
    """Return how the results differ; None for a container, of which the twin takes another item."""
    return None if isinstance(observed.first, Container) else compare_pair(observed)


VECTORISED = relate(
    Relation(
        name="vmap and call",
        law="A vectorised function returns for each item what the function returns for it alone.",
        source="torch.vmap and jax.vmap: “a function that maps over dimensions of its inputs”",
        applies=_applies,
        twin=_twin,
        find_violation=_find_violation,
        every=2,
    )
)
