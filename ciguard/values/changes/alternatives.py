"""Alternatives: every value that differs from a given one in its kind, or in one aspect at a limit.

Random mutations repeat some changes and miss others. Where two releases are compared, each change
of one argument may be the one that they treat differently, so all of them are made once.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.values.changes.joint import tensors_in, with_tensors_changed
from ciguard.values.mutation import AnyTensor, reshape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)
_LARGEST_SMALL = 1 << 16
_MAX_RANK = 6
_HIGH_RANK = 9
"""Number of dimensions that many kernels do not support, as they are compiled for up to 8."""
_HUGE_SIZE = 2**31
"""Size that no signed integer of 32 bits can hold."""
_DTYPES = (
    "bfloat16", "float16", "int64", "float64", "uint8", "bool", "complex64", "int32", "int8",
    "int16", "uint16", "uint32", "uint64", "float32", "complex128", "string",
)  # fmt: skip
"""All dtypes; those that releases add or lose most often come first."""
_OF_OTHER_WIDTH = {
    "float32": "float64", "float64": "float32", "int32": "int64", "int64": "int32",
    "complex64": "complex128", "complex128": "complex64",
}  # fmt: skip
"""Dtypes that programs confuse with each other."""
_FLOATS = (float("nan"), float("inf"), -1.0, 0.0)
_NONE_AND_TEXT: tuple[Value, ...] = (LiteralValue(None), LiteralValue("mean"))
_OF_FURTHER_KINDS: tuple[Value, ...] = (
    LiteralValue(2),
    LiteralValue(1.5),
    LiteralValue(value=True),
    ListValue((LiteralValue(1),)),
    DtypeValue("float32"),
    TensorValue("float32", (2,), Uniform(1, 0.0, 1.0)),
)
"""A value of each further kind that the libraries distinguish. None of 87 differences between two
releases of a library was shown by these alone, and None and texts showed 20 times as many per call.
"""


def alternatives(
    values: Mapping[str, Value], others: Mapping[str, Value]
) -> Iterator[Iterator[dict[str, Value]]]:
    """Yield the changes of a call's arguments by kind of change, each as all arguments.

    Args:
        values: the arguments by parameter.
        others: possible arguments of further parameters, whose alternatives are added.
    """
    yield joint_dtypes(values)
    yield joint_sizes(values)
    yield own_dtypes(values)
    for name, value in {**values, **others}.items():
        yield replaced(values, name, of_other_kinds(value, _NONE_AND_TEXT))
        yield replaced(values, name, at_limits(value))


def of_further_kinds(
    values: Mapping[str, Value], others: Mapping[str, Value]
) -> Iterator[Iterator[dict[str, Value]]]:
    """Yield the changes of each argument to values of all kinds but None and texts, by argument.

    They seldom show a difference, so they follow the `alternatives`, whose parameters are the same.
    """
    for name, value in {**values, **others}.items():
        yield replaced(values, name, of_other_kinds(value, _OF_FURTHER_KINDS))


def numbers_at_limits(values: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Yield a parameter and another value for each number, and each list of numbers, at a limit.

    The first value of each parameter precedes the second of any. Huge numbers are left out, since a
    call that accepts one may take all memory.
    """
    columns = [
        [(name, other) for other in at_limits(value) if _is_small(other)]
        for name, value in values.items()
        if _has_numbers(value)
    ]
    rows = chain.from_iterable(zip_longest(*columns))
    yield from (change for change in rows if change is not None and change[1] != values[change[0]])


def _has_numbers(value: Value) -> bool:
    match value:
        case ListValue(items) | TupleValue(items):
            return bool(items) and all(map(_has_numbers, items))
        case LiteralValue(number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case _:
            return False


def _is_small(value: Value) -> bool:
    match value:
        case ListValue(items) | TupleValue(items):
            return all(map(_is_small, items))
        case LiteralValue(int() as number):
            return abs(number) <= _LARGEST_SMALL
        case _:
            return True


def replaced(
    values: Mapping[str, Value], name: str, others: Iterator[Value]
) -> Iterator[dict[str, Value]]:
    """Yield the arguments with one of them replaced by each of the others."""
    for other in others:
        yield {**values, name: other}


def of_other_kinds(value: Value, candidates: Sequence[Value]) -> Iterator[Value]:
    """Yield the candidates of another kind: None, a text, an integer, a tensor."""
    kind = _kind(value)
    yield from (other for other in candidates if _kind(other) is not kind)


def _kind(value: Value) -> type:
    return type(value.value) if isinstance(value, LiteralValue) else type(value)


def at_limits(value: Value) -> Iterator[Value]:
    """Yield values of the same kind with one aspect at a limit, such as an empty list."""
    match value:
        case TensorValue() | ArrayValue():
            yield from _other_shapes(value)
            yield from _other_elements(value)
            yield from _unusual_shapes(value)
        case ListValue(items) | TupleValue(items):
            yield from map(type(value), _other_items(items))
        case LiteralValue(bool() as flag):
            yield LiteralValue(value=not flag)
        case LiteralValue(int()):
            yield from map(LiteralValue, (0, -1, _LARGEST, 1, _SMALLEST))
        case LiteralValue(float()):
            yield from map(LiteralValue, (0.0, -1.0, float("nan"), float("inf")))
        case LiteralValue(str()):
            yield LiteralValue("")
        case DtypeValue():
            yield from map(DtypeValue, element_types.NUMERIC)
        case _:
            return


def _other_shapes(tensor: AnyTensor) -> Iterator[AnyTensor]:
    """Yield the tensor with each dimension empty, one dimension less or more, and as a scalar."""
    shape = tensor.shape
    shapes = [(*shape[:axis], 0, *shape[axis + 1 :]) for axis in range(min(len(shape), _MAX_RANK))]
    shapes += [shape[1:], (1, *shape), (), (0,)]
    yield from (reshape(tensor, other) for other in dict.fromkeys(shapes) if other != shape)


def _unusual_shapes(tensor: AnyTensor) -> Iterator[AnyTensor]:
    """Yield the tensor with many dimensions, and without elements but with a huge dimension."""
    shape = tensor.shape
    if len(shape) < _HIGH_RANK:
        yield reshape(tensor, (*(1,) * (_HIGH_RANK - len(shape)), *shape))
    yield reshape(tensor, (_HUGE_SIZE, *(0,) * max(1, len(shape) - 1)))


def _other_elements(tensor: AnyTensor) -> Iterator[AnyTensor]:
    """Yield the tensor with all elements at an end of its type's range, or NaN."""
    numbers: Sequence[float] = _FLOATS if tensor.dtype in element_types.FLOATING else ()
    if tensor.dtype in element_types.INTEGERS:
        smallest, largest = element_types.integer_range(tensor.dtype)
        numbers = (smallest, largest, 0, max(smallest, -1))
    for number in dict.fromkeys(numbers):
        yield type(tensor)(tensor.dtype, tensor.shape, Constant(number))


def _other_items(items: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    """Yield the items with another length, and integers with one of them 0, negative or huge."""
    yield ()
    yield items[:-1]
    yield (*items, *(items[-1:] or (LiteralValue(1),)))
    if items and all(_kind(item) is int for item in items):
        for number in map(LiteralValue, (0, -1, _LARGEST)):
            yield (number, *items[1:])
            yield (number,) * len(items)


def joint_dtypes(values: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """Yield the arguments with all tensors of one dtype in each other dtype."""
    for dtype in dict.fromkeys(tensor.dtype for tensor in _tensors(values)):
        for other in _DTYPES:
            if other != dtype:
                yield from _changed(values, partial(_with_dtype, old=dtype, new=other))


def own_dtypes(values: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """Yield the arguments with one of several tensors of a dtype in the dtype of another width."""
    count = Counter(tensor.dtype for tensor in _tensors(values))
    for name, value in values.items():
        if not isinstance(value, TensorValue | ArrayValue) or count[value.dtype] == 1:
            continue
        if other := _OF_OTHER_WIDTH.get(value.dtype):
            yield {**values, name: _with_dtype(value, old=value.dtype, new=other)}


def joint_sizes(values: Mapping[str, Value]) -> Iterator[dict[str, Value]]:
    """Yield the arguments with all dimensions of a size 0 or 1, or all tensors of another rank."""
    for size in dict.fromkeys(size for tensor in _tensors(values) for size in tensor.shape):
        for other in (0, 1):
            if other != size:
                yield from _changed(values, partial(_with_size, old=size, new=other))
    for rank in dict.fromkeys(len(tensor.shape) for tensor in _tensors(values)):
        for other in (rank - 1, rank + 1):
            if other >= 0:
                yield from _changed(values, partial(_with_rank, old=rank, new=other))


def _tensors(values: Mapping[str, Value]) -> list[AnyTensor]:
    return [tensor for value in values.values() for tensor in tensors_in(value)]


def _changed(
    values: Mapping[str, Value], change: Callable[[AnyTensor], AnyTensor]
) -> Iterator[dict[str, Value]]:
    """Yield the arguments with all tensors changed; nothing if no argument has changed."""
    changed = {name: with_tensors_changed(value, change) for name, value in values.items()}
    if any(changed[name] is not value for name, value in values.items()):
        yield changed


def _with_dtype(tensor: AnyTensor, *, old: str, new: str) -> AnyTensor:
    return type(tensor)(new, tensor.shape, tensor.fill) if tensor.dtype == old else tensor


def _with_size(tensor: AnyTensor, *, old: int, new: int) -> AnyTensor:
    if old not in tensor.shape:
        return tensor
    return reshape(tensor, tuple([new if size == old else size for size in tensor.shape]))


def _with_rank(tensor: AnyTensor, *, old: int, new: int) -> AnyTensor:
    if len(tensor.shape) != old:
        return tensor
    return reshape(tensor, tensor.shape[1:] if new < old else (1, *tensor.shape))
