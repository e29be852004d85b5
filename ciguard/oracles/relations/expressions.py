"""Expressions for twins: conversion of calls to values, and replacement of their tensors."""

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
"""Function that returns the replacement of a tensor."""


def library_of(api: str) -> str:
    """Return the name of an API's library: the first part of its qualified name."""
    return api.partition(".")[0]


def operations_of(api: str) -> Operations:
    """Return the operations of an API's library that twins may use.

    All operations are absent if the library's adapter defines none.
    """
    library = library_of_api(api)
    return library.operations if library is not None else Operations()


def apply(function: Value, *arguments: Value) -> Value:
    """Return an expression that calls `function`, which is itself an expression.

    A `CallValue` can call a function only by its name, so `f(x)` is written `next(map(f, [x]))`.
    """
    argument_lists = tuple(ListValue((argument,)) for argument in arguments)
    return CallValue("builtins.next", (CallValue("builtins.map", (function, *argument_lists)),))


def expression(case: ApiCall) -> Value:
    """Return an expression that evaluates to the result of a call."""
    call = CallValue(case.api, case.arguments, case.keywords)
    return apply(call, *case.inputs) if case.kind is CallKind.LAYER and case.inputs else call


def tensors_of(case: ApiCall) -> list[TensorValue]:
    """Return the tensors in the arguments in order, including those in lists and dictionaries."""
    values = [*case.arguments, *(value for _, value in case.keywords), *case.inputs]
    return [tensor for value in values for tensor in _tensors_in(value)]


def _tensors_in(value: Value) -> Iterator[TensorValue]:
    """Yield the tensors in a value, including those in lists and dictionaries."""
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


def replace_tensors_in(value: Value, change: Change) -> Value:
    """Return a value in which every tensor is replaced by the result of `change`."""
    match value:
        case TensorValue():
            return change(value)
        case ListValue(items):
            return ListValue(tuple(replace_tensors_in(item, change) for item in items))
        case TupleValue(items):
            return TupleValue(tuple(replace_tensors_in(item, change) for item in items))
        case DictValue(pairs):
            return DictValue(tuple((key, replace_tensors_in(item, change)) for key, item in pairs))
        case _:
            return value


def with_tensors(case: ApiCall, change: Change) -> ApiCall:
    """Return the call with every tensor in its arguments replaced by the result of `change`."""
    return replace(
        case,
        arguments=tuple(replace_tensors_in(value, change) for value in case.arguments),
        keywords=tuple((name, replace_tensors_in(value, change)) for name, value in case.keywords),
        inputs=tuple(replace_tensors_in(value, change) for value in case.inputs),
    )


def first_tensors(case: ApiCall) -> tuple[TensorValue, ...]:
    """Return the tensors at the beginning of the positional arguments."""
    return leading_tensors(case.arguments)


def leading_tensors(values: Sequence[Value]) -> tuple[TensorValue, ...]:
    """Return the tensors at the beginning of a sequence of values."""
    prefix = takewhile(lambda value: isinstance(value, TensorValue), values)
    return tuple(value for value in prefix if isinstance(value, TensorValue))


def as_function(case: ApiCall) -> tuple[Value, tuple[Value, ...]]:
    """Return a call as a function with bound keyword arguments, and its positional arguments.

    For a layer, the function is the layer object, and the arguments are its inputs.
    """
    if case.kind is CallKind.LAYER and case.inputs:
        return CallValue(case.api, case.arguments, case.keywords), case.inputs
    function = MemberValue(case.api)
    if case.keywords:
        return CallValue("functools.partial", (function,), case.keywords), case.arguments
    return function, case.arguments


def has_keyword(case: ApiCall, *names: str) -> bool:
    """Return whether a call passes one of the named keyword arguments with a value but None."""
    return any(key in names and value != LiteralValue(None) for key, value in case.keywords)
