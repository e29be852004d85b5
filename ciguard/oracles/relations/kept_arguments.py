"""A call leaves its arguments as they were, unless its name or an `out` says otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain import ApiCall, CallValue, TupleValue, Value
from ciguard.oracles.relations.contract import Observes, Relation, relate
from ciguard.oracles.relations.expressions import has_keyword, tensors_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain import ApiRecord

_CHANGES_ARGUMENTS = re.compile(
    r"_$|\.init\.|assign|scatter_|Inplace|inplace|\.out$|_out$|\.set_|swap|accumulate|update|"
    r"\.copy_|foreach|fused|requires_grad|retain_grad|\.share_memory|rename|clip_grad"
)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return not _CHANGES_ARGUMENTS.search(record.api)


def _twin(case: ApiCall) -> Value | None:
    values = (*case.arguments, *(value for _, value in case.keywords), *case.inputs)
    if has_keyword(case, "out", "inplace") or not tensors_of(case):
        return None
    return None if any(isinstance(value, CallValue) for value in values) else TupleValue(values)


KEPT_ARGUMENTS = relate(
    Relation(
        name="arguments stay as they are",
        law="A call that is not named as changing its arguments leaves their elements alone.",
        source="PyTorch's convention: operations that change a tensor end in an underscore",
        applies=_applies,
        twin=_twin,
        observes=Observes.ARGUMENTS,
    )
)
