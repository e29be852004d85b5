"""Relation: a call does not change its arguments unless its name or an `out` announces it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, TupleValue, Value
from ciguard.oracles.relations.contract import Observes, Relation, relate
from ciguard.oracles.relations.expressions import has_keyword, tensors_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_IN_PLACE_NAME = re.compile(r"_$|_out$|inplace", re.IGNORECASE)
"""Part of the name of an API that changes its arguments."""


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return not _IN_PLACE_NAME.search(record.api)


def _twin(case: ApiCall) -> Value | None:
    """Return a tuple of the arguments, with which they are compared after the call."""
    values = (*case.arguments, *(value for _, value in case.keywords), *case.inputs)
    if has_keyword(case, "out", "inplace") or not tensors_of(case):
        return None
    return None if any(isinstance(value, CallValue) for value in values) else TupleValue(values)


UNCHANGED_ARGUMENTS = relate(
    Relation(
        name="arguments stay as they are",
        law="A call does not change the elements of its arguments unless its name announces it.",
        source="PyTorch's convention: operations that change a tensor end in an underscore",
        applies=_applies,
        twin=_twin,
        observes=Observes.ARGUMENTS,
    )
)
