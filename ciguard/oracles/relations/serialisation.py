"""Relation: an object that is pickled and unpickled is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, Value
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import apply, expression, operations_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return operations_of(record.api).pickles_results


def _twin(case: ApiCall) -> Value:
    """Return the pickled and unpickled result, or the result of the pickled and unpickled layer."""
    if case.kind is CallKind.LAYER and case.inputs:
        return apply(
            _pickle_round_trip(CallValue(case.api, case.arguments, case.keywords)), *case.inputs
        )
    return _pickle_round_trip(expression(case))


def _pickle_round_trip(value: Value) -> Value:
    return CallValue("pickle.loads", (CallValue("pickle.dumps", (value,)),))


SERIALISATION = relate(
    Relation(
        name="written and read back",
        law="Pickling and unpickling does not change a result or the layer that computes it.",
        source="Python, pickle; torch, Serialization semantics",
        applies=_applies,
        twin=_twin,
        every=3,
    )
)
