"""Relation of reductions: the order of the reduced elements does not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, ListValue, LiteralValue, TensorValue, TupleValue, Value
from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord

_REDUCTIONS = frozenset(
    f"torch.{name}"
    for name in (
        *("all", "any", "sum", "mean", "prod", "amax", "amin", "var", "std", "logsumexp"),
        *("nansum", "nanmean", "count_nonzero", "var_mean", "std_mean", "aminmax", "norm"),
        *("linalg.vector_norm", "linalg.norm", "special.logsumexp"),
    )
)
"""Functions that are symmetric in the elements along the reduced dimensions."""
_NORMS = frozenset({"torch.norm", "torch.linalg.norm", "torch.linalg.vector_norm"})
"""Functions whose second argument is the order of the norm."""
_MATRIX_NORMS = frozenset({"torch.norm", "torch.linalg.norm"})
"""Functions that reduce two dimensions as a matrix, or all if the tensor has another rank."""
_MATRIX_RANK = 2


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return record.api in _REDUCTIONS and record.kind is CallKind.FUNCTION


def _dimensions(value: Value | None) -> tuple[int, ...] | None:
    """Return the dimensions that an argument names; None if it names none."""
    match value:
        case LiteralValue(int(axis)) if not isinstance(axis, bool):
            return (axis,)
        case ListValue(items) | TupleValue(items):
            axes = [item.value for item in items if isinstance(item, LiteralValue)]
            numbers = tuple(axis for axis in axes if type(axis) is int)
            return numbers if numbers and len(numbers) == len(items) else None
        case _:
            return None


def _reduced(case: ApiCall, rank: int) -> tuple[int, ...] | None:
    """Return the dimensions that a call reduces; None if they are unknown."""
    keywords = dict(case.keywords)
    stated = keywords.get("dim", keywords.get("axis"))
    if stated is None and case.arguments[1:] and case.api not in _NORMS:
        stated = case.arguments[1]
    if stated in {None, LiteralValue(None)}:
        return tuple(range(rank))
    return _dimensions(stated)


def _twin(case: ApiCall) -> Value | None:
    """Return the call on a tensor whose reduced dimensions are reversed."""
    match case.arguments:
        case (TensorValue(_, (_, *_) as shape) as tensor, *rest):
            axes = _reduced(case, len(shape))
        case _:
            return None
    if not axes or (case.api in _MATRIX_NORMS and len(axes) == _MATRIX_RANK):
        return None
    order = TupleValue(tuple(map(LiteralValue, axes)))
    return expression(replace(case, arguments=(CallValue("torch.flip", (tensor, order)), *rest)))


REVERSED_REDUCTION = relate(
    Relation(
        name="reversed reduction",
        law="The result of a reduction does not depend on the order of the reduced elements.",
        source="the mathematical definition in the documentation of each function",
        applies=_applies,
        twin=_twin,
    )
)
