"""Checks of values: whether a value conforms to a constraint, and why it does not."""

from __future__ import annotations

import re
from functools import singledispatch
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.check_tensor import bounds_text, tensor_problem
from ciguard.values.constraints import (
    AnyOf,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Mapping,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
)
from ciguard.values.dictionaries import dictionary_items
from ciguard.values.floating import closed_range, round_to_width
from ciguard.values.scope import SamplingScope

if TYPE_CHECKING:
    from collections.abc import Sequence


def problem(value: Value, constraint: Constraint, scope: SamplingScope | None = None) -> str:
    """Return the reason why `value` does not conform to `constraint`; empty if it conforms.

    Args:
        value: the value to check.
        constraint: the constraint that the value should satisfy.
        scope: the call's other arguments, and the sizes that its symbols stand for. A reference to
            a parameter that the scope lacks is not checked. New symbols are added to the scope.
    """
    return _problem(constraint, value, SamplingScope() if scope is None else scope)


def conforms(value: Value, constraint: Constraint, scope: SamplingScope | None = None) -> bool:
    """Return whether `value` satisfies `constraint`."""
    return not problem(value, constraint, scope)


@singledispatch
def _problem(constraint: Constraint, value: Value, scope: SamplingScope) -> str:
    del value, scope
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


def _integer(value: Value) -> int | None:
    """Return the int in a literal; None for a bool and for other values."""
    if isinstance(value, LiteralValue) and type(value.value) is int:
        return value.value
    return None


@_problem.register(Int)
def _int_problem(constraint: Int, value: Value, scope: SamplingScope) -> str:
    number = _integer(value)
    if number is None:
        return "not an int"
    if constraint.axis_of:
        shape = scope.shape(constraint.axis_of)
        if shape is not None:
            return _axis_problem(number, len(shape))
    if constraint.step > 1 and (number - constraint.min) % constraint.step:
        return f"{number} is not {constraint.min} plus a multiple of {constraint.step}"
    if constraint.size:
        bound = scope.sizes.get(constraint.size)
        if bound is not None:
            return "" if bound == number else f"{number} is not {constraint.size} = {bound}"
        scope.sizes[constraint.size] = number
    return _range_problem(number, constraint.min, constraint.max)


def _axis_problem(axis: int, rank: int) -> str:
    maximum = max(rank, 1)
    return "" if -maximum <= axis < maximum else f"{axis} is not an axis of a tensor of rank {rank}"


def _range_problem(number: float, minimum: float, maximum: float) -> str:
    return "" if minimum <= number <= maximum else f"{number} is not in [{minimum}, {maximum}]"


@_problem.register(Float)
def _float_problem(constraint: Float, value: Value, scope: SamplingScope) -> str:
    del scope
    if not isinstance(value, LiteralValue) or type(value.value) is not float:
        return "not a float"
    number = value.value
    if number != number:  # noqa: PLR0124 - true for NaN only
        return "" if constraint.nan else "NaN is not allowed"
    if abs(number) == float("inf") and constraint.inf:
        return ""
    if round_to_width(number, constraint.width) != number:
        return f"{number} does not fit into {constraint.width} bits"
    return _range_problem(number, *closed_range(constraint))


@_problem.register(Bool)
def _bool_problem(constraint: Bool, value: Value, scope: SamplingScope) -> str:
    del constraint, scope
    is_bool = isinstance(value, LiteralValue) and isinstance(value.value, bool)
    return "" if is_bool else "not a bool"


@_problem.register(OneOf)
def _one_of_problem(constraint: OneOf, value: Value, scope: SamplingScope) -> str:
    del scope
    is_allowed = any(
        value == allowed and _same_type(value, allowed) for allowed in constraint.values
    )
    return "" if is_allowed else f"{value!r} is not one of the listed values"


def _same_type(value: Value, allowed: Value) -> bool:
    """Return whether two values have the same type, so that 1 differs from True."""
    if isinstance(value, LiteralValue) and isinstance(allowed, LiteralValue):
        return type(value.value) is type(allowed.value)
    return type(value) is type(allowed)


@_problem.register(String)
def _string_problem(constraint: String, value: Value, scope: SamplingScope) -> str:
    del scope
    if not isinstance(value, LiteralValue) or not isinstance(value.value, str):
        return "not a string"
    text = value.value
    if constraint.pattern:
        matches = re.fullmatch(constraint.pattern, text)
        return "" if matches else f"{text!r} does not match {constraint.pattern!r}"
    if constraint.alphabet and set(text) - set(constraint.alphabet):
        return f"has characters that are not in {constraint.alphabet!r}"
    is_valid_length = constraint.min_length <= len(text) <= constraint.max_length
    bounds = bounds_text(constraint.min_length, constraint.max_length)
    return "" if is_valid_length else f"length {len(text)}, not {bounds}"


@_problem.register(Bytes)
def _bytes_problem(constraint: Bytes, value: Value, scope: SamplingScope) -> str:
    del scope
    if not isinstance(value, LiteralValue) or not isinstance(value.value, bytes):
        return "not bytes"
    length = len(value.value)
    is_valid_length = length <= constraint.max_length
    return "" if is_valid_length else f"length {length}, more than {constraint.max_length}"


@_problem.register(Dtype)
def _dtype_problem(constraint: Dtype, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, DtypeValue):
        return "not a dtype"
    if value.name not in constraint.names:
        return f"the dtype {value.name} is not allowed"
    expected = scope.dtype(constraint.dtype_of) if constraint.dtype_of else None
    if expected in constraint.names and value.name != expected:
        return f"the dtype {value.name} is not {expected}, the dtype of {constraint.dtype_of}"
    return ""


@_problem.register(Ints)
def _ints_problem(constraint: Ints, value: Value, scope: SamplingScope) -> str:
    expected_type = TupleValue if constraint.as_tuple else ListValue
    if not isinstance(value, expected_type):
        return "not a tuple" if constraint.as_tuple else "not a list"
    numbers = [number for number in map(_integer, value.items) if number is not None]
    if len(numbers) != len(value.items):
        return "an item is not an int"
    if constraint.sizes:
        return _sizes_problem(constraint, numbers, scope)
    wrong_length = _ints_length_problem(constraint, len(numbers), scope)
    if wrong_length:
        return wrong_length
    if constraint.increasing and numbers != sorted(numbers):
        return "not increasing"
    shape = scope.shape(constraint.axes_of) if constraint.axes_of else None
    if shape is not None:
        problems = [_axis_problem(number, len(shape)) for number in numbers]
    else:
        problems = [_range_problem(number, constraint.min, constraint.max) for number in numbers]
    return next(filter(None, problems), "")


def _sizes_problem(constraint: Ints, numbers: list[int], scope: SamplingScope) -> str:
    """Return why a list does not have the sizes of its symbols; empty if it does."""
    if len(numbers) != len(constraint.sizes):
        return f"length {len(numbers)}, not {len(constraint.sizes)}"
    constraints = (
        Int(min=constraint.min, max=constraint.max, size=size) for size in constraint.sizes
    )
    problems = [
        _int_problem(item, LiteralValue(n), scope)
        for item, n in zip(constraints, numbers, strict=True)
    ]
    return next(filter(None, problems), "")


def _ints_length_problem(constraint: Ints, length: int, scope: SamplingScope) -> str:
    """Return why a list of ints has a wrong length; empty if its length is valid."""
    minimum, maximum = constraint.length
    exact = scope.length(constraint.length_of) if constraint.length_of else None
    if exact is not None:
        minimum = maximum = exact
    elif constraint.axes_of and scope.shape(constraint.axes_of) is not None:
        minimum = 0  # the list may be empty; axes are checked one by one
    is_valid = minimum <= length <= maximum
    return "" if is_valid else f"length {length}, not {bounds_text(minimum, maximum)}"


@_problem.register(Tensor)
def _tensor_problem(constraint: Tensor, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, TensorValue | ArrayValue):
        return "not a tensor"
    return tensor_problem(constraint, value, scope)


@_problem.register(List)
def _list_problem(constraint: List, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, TupleValue if constraint.as_tuple else ListValue):
        return "not a tuple" if constraint.as_tuple else "not a list"
    minimum, maximum = constraint.length
    exact = scope.length(constraint.length_of) if constraint.length_of else None
    if exact is not None:
        minimum = maximum = exact
    count = len(value.items)
    if not minimum <= count <= maximum:
        return f"length {count}, not {bounds_text(minimum, maximum)}"
    if constraint.uniform and not _uniform(value.items):
        return "the tensors of the list differ in dtype or shape"
    return _first_problem([(constraint.item, item) for item in value.items], scope)


def _uniform(items: Sequence[Value]) -> bool:
    return len({(i.dtype, i.shape) for i in items if isinstance(i, TensorValue | ArrayValue)}) <= 1


@_problem.register(Tuple)
def _tuple_problem(constraint: Tuple, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, TupleValue):
        return "not a tuple"
    if len(value.items) != len(constraint.items):
        return f"length {len(value.items)}, not {len(constraint.items)}"
    return _first_problem(list(zip(constraint.items, value.items, strict=True)), scope)


@_problem.register(Dict)
def _dict_problem(constraint: Dict, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, DictValue):
        return "not a dict"
    return _keywords_problem(constraint.items, value.items, scope)


@_problem.register(Mapping)
def _mapping_problem(constraint: Mapping, value: Value, scope: SamplingScope) -> str:
    pairs = dictionary_items(value)
    if pairs is None:
        return "not a dict"
    minimum, maximum = constraint.length
    if not minimum <= len(pairs) <= maximum:
        return f"length {len(pairs)}, not {bounds_text(minimum, maximum)}"
    checks = [(constraint.key, key) for key, _ in pairs] + [(constraint.item, v) for _, v in pairs]
    return _first_problem(checks, scope)


@_problem.register(Object)
def _object_problem(constraint: Object, value: Value, scope: SamplingScope) -> str:
    if not isinstance(value, CallValue) or value.function != constraint.function:
        return f"not a result of {constraint.function}"
    if len(value.arguments) != len(constraint.arguments):
        expected = len(constraint.arguments)
        return (
            f"{constraint.function} is called with {len(value.arguments)}, not {expected} arguments"
        )
    pairs = list(zip(constraint.arguments, value.arguments, strict=True))
    return _first_problem(pairs, scope) or _keywords_problem(
        constraint.keywords, value.keywords, scope
    )


def _keywords_problem(
    expected: tuple[tuple[str, Constraint], ...],
    keywords: tuple[tuple[str, Value], ...],
    scope: SamplingScope,
) -> str:
    """Return why named values do not have the expected names and constraints."""
    if [key for key, _ in expected] != [key for key, _ in keywords]:
        return f"the keys are not {', '.join(key for key, _ in expected)}"
    pairs = [(item, value) for (_, item), (_, value) in zip(expected, keywords, strict=True)]
    return _first_problem(pairs, scope)


def _first_problem(pairs: Sequence[tuple[Constraint, Value]], scope: SamplingScope) -> str:
    """Return the first problem of a sequence of values with its index; empty if all conform."""
    for position, (constraint, value) in enumerate(pairs):
        reason = _problem(constraint, value, scope)
        if reason:
            return f"item {position}: {reason}"
    return ""


@_problem.register(Optional)
def _optional_problem(constraint: Optional, value: Value, scope: SamplingScope) -> str:
    if isinstance(value, LiteralValue) and value.value is None:
        return ""
    return _problem(constraint.inner, value, scope)


@_problem.register(AnyOf)
def _any_of_problem(constraint: AnyOf, value: Value, scope: SamplingScope) -> str:
    problems = []
    for _, option in constraint.options:
        sizes = dict(scope.sizes)
        reason = _problem(option, value, scope)
        if not reason:
            return ""
        scope.sizes = sizes  # discard the sizes that the failed option bound
        problems.append(reason)
    return "; ".join(dict.fromkeys(problems))
