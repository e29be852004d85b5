"""Calls as expressions: what twins are written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import (
    CallValue,
    DictValue,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.libraries import Operations, library_of_api

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Change: TypeAlias = Callable[[TensorValue], Value]


def library_of(api: str) -> str:
    """Return the first part of a qualified name."""
    return api.partition(".")[0]


def operations_of(api: str) -> Operations:
    """Return what relations can compute with in the library of an API; a plug-in may have none."""
    library = library_of_api(api)
    return library.operations if library is not None else Operations()


def applied(function: Value, *arguments: Value) -> Value:
    """Return what a function that is itself computed returns for some arguments.

    A `CallValue` names its function. `next(map(f, [x]))` is `f(x)` for any `f`.
    """
    each = tuple(ListValue((argument,)) for argument in arguments)
    return CallValue("builtins.next", (CallValue("builtins.map", (function, *each)),))


def expression(case: ApiCall) -> Value:
    """Return the call as a value: what it evaluates to is its result."""
    made = CallValue(case.api, case.arguments, case.keywords)
    return applied(made, *case.inputs) if case.kind is CallKind.LAYER and case.inputs else made


def tensors_of(case: ApiCall) -> list[TensorValue]:
    """Return the tensors among the arguments, those in lists included, in order."""
    values = [*case.arguments, *(value for _, value in case.keywords), *case.inputs]
    return [tensor for value in values for tensor in _tensors_in(value)]


def _tensors_in(value: Value) -> Iterator[TensorValue]:
    match value:
        case TensorValue():
            yield value
        case ListValue(items) | TupleValue(items):
            for item in items:
                yield from _tensors_in(item)
        case DictValue(pairs):
            for _, item in pairs:
                yield from _tensors_in(item)
        case _:
            return


def changed(value: Value, change: Change) -> Value:
    """Return a value with every tensor in it changed."""
    match value:
        case TensorValue():
            return change(value)
        case ListValue(items):
            return ListValue(tuple(changed(item, change) for item in items))
        case TupleValue(items):
            return TupleValue(tuple(changed(item, change) for item in items))
        case DictValue(pairs):
            return DictValue(tuple((key, changed(item, change)) for key, item in pairs))
        case _:
            return value


def with_tensors(case: ApiCall, change: Change) -> ApiCall:
    """Return the call with every tensor among its arguments changed."""
    return replace(
        case,
        arguments=tuple(changed(value, change) for value in case.arguments),
        keywords=tuple((name, changed(value, change)) for name, value in case.keywords),
        inputs=tuple(changed(value, change) for value in case.inputs),
    )


def first_tensors(case: ApiCall) -> tuple[TensorValue, ...]:
    """Return the tensors that the positional arguments begin with."""
    return leading(case.arguments)


def leading(values: Sequence[Value]) -> tuple[TensorValue, ...]:
    """Return the tensors that a row of values begins with."""
    row = takewhile(lambda value: isinstance(value, TensorValue), values)
    return tuple(value for value in row if isinstance(value, TensorValue))


def as_function(case: ApiCall) -> tuple[Value, tuple[Value, ...]]:
    """Return the call as a function, its keyword arguments bound, and what it is called with.

    Of a layer, the function is the layer that was built.
    """
    if case.kind is CallKind.LAYER and case.inputs:
        return CallValue(case.api, case.arguments, case.keywords), case.inputs
    function = MemberValue(case.api)
    if case.keywords:
        return CallValue("functools.partial", (function,), case.keywords), case.arguments
    return function, case.arguments


def has_keyword(case: ApiCall, *names: str) -> bool:
    """Whether one of these is given by name and is not None."""
    return any(key in names and value != LiteralValue(None) for key, value in case.keywords)
