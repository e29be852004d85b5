"""Prediction of whether a library accepts a call, from what its sources state of the arguments.

The constraints of `ciguard.knowledge` describe values that probably pass, so that generated calls
are seldom refused: usual dtypes, small numbers, ranges around defaults. Here only what a source
states excludes a value; a dtype, rank, range or structure that no source states does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import (
    Constant,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)
from ciguard.knowledge.clues import Clue, ClueSource
from ciguard.knowledge.understand import from_clues
from ciguard.values import (
    AnyOf,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Optional,
    SamplingScope,
    String,
    Tensor,
)
from ciguard.values.check import problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value
    from ciguard.knowledge import Api
    from ciguard.knowledge.api import Parameter

_GUESSES = frozenset({ClueSource.DEFAULT, ClueSource.NAME})
"""Sources whose ranges, shapes and dtypes are guesses."""
_DTYPES = tuple(name for name in element_types.EVERY if name != "string")
_USUAL_RANKS = (0, 5)
_ANY_RANK, _ANY_LENGTH = (0, 64), (0, 1 << 20)
_MAX_INT = 2**63 - 1
_MAX_INT32 = 2**31 - 1
_MAX_FLOAT = 1.79e308
_CONVERTING = ("tensorflow.", "keras.")
"""Prefixes of libraries that convert numbers and lists to tensors."""
_SPARSE = re.compile(r"\b(?:Sparse|Ragged)Tensor\b")
_DENSE = re.compile(r"(?<![A-Za-z])Tensor\b|\bdense\b")


@dataclass(frozen=True, slots=True)
class _Admitted:
    """What the sources state of one parameter."""

    constraint: Constraint
    is_stated: bool
    """False if no source states what kind of object it takes: every value is admitted."""
    is_converted: bool = False
    """True if a number or a list is converted to a tensor."""
    is_sparse: bool = False
    """True if only a sparse or ragged tensor is described."""
    is_iterated: bool = False
    """True if a tensor may stand for the list of its rows."""


class Admission:
    """Predictions for the calls of one API."""

    def __init__(self, api: Api) -> None:
        """Read what is stated of the API's parameters.

        Args:
            api: the API, made by `stated`, and perhaps refined by outcomes of calls.
        """
        self._api = api
        records = {parameter.name: parameter for parameter in api.record.parameters}
        self._admitted = {
            parameter.name: _admitted(parameter, api.record, records[parameter.name])
            for parameter in api.parameters
            if parameter.name in records
        }
        self._inputs = {
            one.name: _Admitted(_widened_input(one), is_stated=True) for one in api.inputs
        }
        self._variadic = [
            parameter.name
            for parameter in api.record.parameters
            if parameter.kind is ParameterKind.VAR_POSITIONAL
        ]

    def refusal(self, call: ApiCall) -> str:
        """Return why the stated constraints exclude a call; empty if they admit it."""
        admitted = {**self._admitted, **self._inputs}
        given = dict(arguments_of(call, self._api))
        if self._variadic and not given and len(self._api.parameters) == len(self._variadic):
            return f"{self._variadic[0]}: nothing is passed"
        scope = SamplingScope()
        scope.values.update(
            {name: _as_passed(v, admitted[name]) for name, v in given.items() if name in admitted}
        )
        for name, value in given.items():
            if name not in admitted:
                continue
            reason = _refusal(value, scope.values[name], admitted[name], scope)
            if reason:
                return f"{name}: {reason}"
        return ""


def stated(api: Api) -> Api:
    """Return the API with only those constraints that a source states."""
    clues = {name: tuple(map(_without_guesses, clues)) for name, clues in api.clues.items()}
    return from_clues(api.record, clues)


def arguments_of(call: ApiCall, api: Api) -> Iterator[tuple[str, Value]]:
    """Yield the arguments of a call with the names of their parameters."""
    required = [parameter.name for parameter in api.record.parameters if parameter.required]
    yield from zip(required, call.arguments, strict=False)
    yield from call.keywords
    yield from zip((parameter.name for parameter in api.inputs), call.inputs, strict=False)


def _without_guesses(clue: Clue) -> Clue:
    if clue.source not in _GUESSES:
        return clue
    return Clue(
        source=clue.source,
        evidence=clue.evidence,
        structures=clue.structures,
        axis_of=clue.axis_of,
        allowed=clue.allowed,
        nullable=clue.nullable,
    )


def _admitted(parameter: Parameter, record: ApiRecord, described: ParameterRecord) -> _Admitted:
    doc, is_converting = described.doc, record.api.startswith(_CONVERTING)
    aspects = frozenset(evidence.aspect for evidence in parameter.evidence)
    is_sparse = bool(_SPARSE.search(doc)) and not _DENSE.search(doc)
    return _Admitted(
        _widened(parameter.constraint, _Stated(aspects, frozenset(record.lacks))),
        is_stated=bool(aspects & {"structures", "allowed"}) or is_sparse,
        is_converted=is_converting and _has_tensor(parameter.constraint),
        is_sparse=is_sparse,
        is_iterated=is_converting or "Iterable" in described.annotation,
    )


def _refusal(value: Value, passed: Value, admitted: _Admitted, scope: SamplingScope) -> str:
    if not admitted.is_stated:
        return ""
    if admitted.is_sparse:
        return "not a sparse tensor" if isinstance(passed, TensorValue) else ""
    reason = problem(passed, admitted.constraint, scope)
    if reason and admitted.is_iterated and isinstance(value, TensorValue) and value.shape:
        rows = (TensorValue(value.dtype, value.shape[1:], Constant(0)),) * value.shape[0]
        return problem(ListValue(rows), admitted.constraint, scope) and reason
    if reason and passed is not value and not problem(value, admitted.constraint, scope):
        return ""
    return reason


@dataclass(frozen=True, slots=True)
class _Stated:
    """What is stated of a parameter."""

    aspects: frozenset[str]
    """Aspects that some source states, of `ciguard.knowledge.merge.ASPECTS`."""
    lacks: frozenset[str]
    """Dtypes that the target does not support."""


@singledispatch
def _widened(constraint: Constraint, stated: _Stated) -> Constraint:
    """Return a constraint that excludes only what is stated."""
    del stated
    return constraint


@_widened.register(Tensor)
def _(constraint: Tensor, stated: _Stated) -> Constraint:
    if "dtypes" not in stated.aspects:
        supported = tuple(name for name in _DTYPES if name not in stated.lacks)
        constraint = replace(constraint, dtypes=supported, dtype_of="")
    if "shape" not in stated.aspects:
        constraint = replace(constraint, shape=None, ndim=_ANY_RANK)
    elif constraint.shape is None and constraint.ndim[1] == _USUAL_RANKS[1]:
        constraint = replace(constraint, ndim=(constraint.ndim[0], _ANY_RANK[1]))
    return constraint if "range" in stated.aspects else replace(constraint, low=None, high=None)


@_widened.register(Int)
def _(constraint: Int, stated: _Stated) -> Constraint:
    if "range" in stated.aspects or constraint.axis_of:
        return constraint
    return replace(constraint, min=-_MAX_INT - 1, max=_MAX_INT)


@_widened.register(Float)
def _(constraint: Float, stated: _Stated) -> Constraint:
    if "range" in stated.aspects:
        return replace(constraint, nan=True, inf=True)
    return Float(min=-_MAX_FLOAT, max=_MAX_FLOAT, nan=True, inf=True)


@_widened.register(Ints)
def _(constraint: Ints, stated: _Stated) -> Constraint:
    if "range" not in stated.aspects:
        constraint = replace(constraint, min=-_MAX_INT - 1, max=_MAX_INT)
    return constraint if "length" in stated.aspects else replace(constraint, length=_ANY_LENGTH)


@_widened.register(List)
def _(constraint: List, stated: _Stated) -> Constraint:
    item = _widened(constraint.item, stated)
    length = constraint.length if "length" in stated.aspects else _ANY_LENGTH
    return replace(constraint, item=item, length=length, uniform=False)


@_widened.register(String)
def _(constraint: String, stated: _Stated) -> Constraint:
    del stated
    return replace(constraint, max_length=_ANY_LENGTH[1])


@_widened.register(Dtype)
def _(constraint: Dtype, stated: _Stated) -> Constraint:
    return constraint if "dtypes" in stated.aspects else Dtype(element_types.EVERY)


@_widened.register(Optional)
def _(constraint: Optional, stated: _Stated) -> Constraint:
    return replace(constraint, inner=_widened(constraint.inner, stated))


@_widened.register(AnyOf)
def _(constraint: AnyOf, stated: _Stated) -> Constraint:
    options = tuple((weight, _widened(option, stated)) for weight, option in constraint.options)
    return AnyOf(options)


def _widened_input(parameter: Parameter) -> Constraint:
    """Return the constraint of a layer's input; layers compute in every floating dtype."""
    constraint = parameter.constraint
    if isinstance(constraint, Tensor) and set(constraint.dtypes) <= set(element_types.FLOATING):
        return replace(constraint, dtypes=element_types.FLOATING)
    return constraint


def _has_tensor(constraint: Constraint) -> bool:
    match constraint:
        case Tensor():
            return True
        case Optional(inner):
            return _has_tensor(inner)
        case AnyOf(options):
            return any(_has_tensor(option) for _, option in options)
        case _:
            return False


def _as_passed(value: Value, admitted: _Admitted) -> Value:
    """Return the tensor to which the library converts a number or a list; else the value."""
    if not admitted.is_converted or isinstance(value, TensorValue):
        return value
    nested = _nested(value)
    if nested is None:
        return value
    dtype = _common_dtype(nested.leaves)
    numbers = [leaf.value for leaf in nested.leaves if isinstance(leaf, LiteralValue)]
    elements = tuple(number for number in numbers if isinstance(number, int | float))
    if elements and len(elements) == len(nested.leaves) and dtype:
        return TensorValue(dtype, nested.shape, Explicit(elements))
    return TensorValue(dtype, nested.shape, Constant(0)) if dtype else value


@dataclass(frozen=True, slots=True)
class _Nested:
    """Nested lists of equal lengths."""

    shape: tuple[int, ...]
    leaves: tuple[LiteralValue | TensorValue, ...]


def _nested(value: Value) -> _Nested | None:
    """Return the items of nested lists; None if their lengths differ or one cannot be converted."""
    match value:
        case ListValue(items) | TupleValue(items):
            parts = [part for part in map(_nested, items) if part is not None]
            if len(parts) != len(items) or len({part.shape for part in parts}) > 1:
                return None
            inner = parts[0].shape if parts else ()
            leaves = tuple(leaf for part in parts for leaf in part.leaves)
            return _Nested((len(parts), *inner), leaves)
        case LiteralValue(bool() | int() | float() | str()):
            return _Nested((), (value,))
        case TensorValue():
            return _Nested(value.shape, (value,))
        case _:
            return None


def _common_dtype(leaves: tuple[LiteralValue | TensorValue, ...]) -> str:
    """Return the dtype of the tensor that is made of items; empty if they do not agree."""
    if not leaves:
        return "float32"
    names = set(map(_dtype_of, leaves))
    if names == {"int32", "int64"}:
        return "int64"
    return names.pop() if len(names) == 1 else ""


def _dtype_of(leaf: LiteralValue | TensorValue) -> str:
    match leaf:
        case TensorValue():
            return leaf.dtype
        case LiteralValue(bool()):
            return "bool"
        case LiteralValue(int(number)):
            return "int32" if -_MAX_INT32 <= number <= _MAX_INT32 else "int64"
        case LiteralValue(str()):
            return "string"
        case _:
            return "float32"
