"""Expressions for twins: calls as values, and changes of their tensors."""

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
"""Returns the replacement of a tensor."""


def library_of(api: str) -> str:
    """Return the library of an API, the first part of its qualified name."""
    return api.partition(".")[0]


def operations_of(api: str) -> Operations:
    """Return the operations that relations may use in an API's library; a plug-in may have none."""
    library = library_of_api(api)
    return library.operations if library is not None else Operations()


def applied(function: Value, *arguments: Value) -> Value:
    """Return the call of a function that is itself an expression.

    A `CallValue` calls a function by name. `next(map(f, [x]))` is `f(x)` for any expression `f`.
    """
    argument_lists = tuple(ListValue((argument,)) for argument in arguments)
    return CallValue("builtins.next", (CallValue("builtins.map", (function, *argument_lists)),))


def expression(case: ApiCall) -> Value:
    """Return the call as an expression that evaluates to its result."""
    call = CallValue(case.api, case.arguments, case.keywords)
    return applied(call, *case.inputs) if case.kind is CallKind.LAYER and case.inputs else call


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
    """Return a value with every tensor in it replaced."""
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
    """Return the call with every tensor among its arguments replaced."""
    return replace(
        case,
        arguments=tuple(changed(value, change) for value in case.arguments),
        keywords=tuple((name, changed(value, change)) for name, value in case.keywords),
        inputs=tuple(changed(value, change) for value in case.inputs),
    )


def first_tensors(case: ApiCall) -> tuple[TensorValue, ...]:
    """Return the leading tensors of the positional arguments."""
    return leading(case.arguments)


def leading(values: Sequence[Value]) -> tuple[TensorValue, ...]:
    """Return the leading tensors of a sequence of values."""
    prefix = takewhile(lambda value: isinstance(value, TensorValue), values)
    return tuple(value for value in prefix if isinstance(value, TensorValue))


def as_function(case: ApiCall) -> tuple[Value, tuple[Value, ...]]:
    """Return the call as a function with bound keyword arguments, and its positional arguments.

    For a layer, the function is the constructed layer.
    """
    if case.kind is CallKind.LAYER and case.inputs:
        return CallValue(case.api, case.arguments, case.keywords), case.inputs
    function = MemberValue(case.api)
    if case.keywords:
        return CallValue("functools.partial", (function,), case.keywords), case.arguments
    return function, case.arguments


def has_keyword(case: ApiCall, *names: str) -> bool:
    """Return whether one of these keyword arguments is given and is not None."""
    return any(key in names and value != LiteralValue(None) for key, value in case.keywords)
