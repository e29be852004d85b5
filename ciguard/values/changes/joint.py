"""Joint mutations: the same change of several arguments of a call, which still agree afterwards.

Most kernels check that their operands agree in shape and dtype before they compute. A mutation of
one operand often fails this check, and the code behind it never meets an unusual operand. A joint
mutation passes the check: all operands are empty, have one dimension less, or another dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    ListValue,
    LiteralValue,
    MemberValue,
    Special,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.values.boundary_tensor import WIDE_SIZES
from ciguard.values.mutation import AnyTensor, reshape

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_Change: TypeAlias = Callable[[AnyTensor], AnyTensor]
"""Function that returns the changed tensor, or the same object if the change does not apply."""

_NEW_SIZES = (0, 0, 0, 1)
_FLOATS = (float("nan"), float("inf"), float("-inf"), 0.0, -1.0)
_INTEGERS = (0, -1, -(2**63), 2**63 - 1, 2**31 - 1)
_MAX_ELEMENTS = 4096
_NARROW_INTEGERS = ("uint8", "int8", "int16")
_NARROWER_DTYPES = {
    "float32": ("float16", "bfloat16"),
    "float64": ("float16", "bfloat16"),
    "int32": _NARROW_INTEGERS,
    "int64": _NARROW_INTEGERS,
}
"""Narrower dtypes that programs use instead of a dtype. Releases often add or lose them."""
_NEAR_SHARE = 0.6
"""Share of changes of a dtype that lead to a narrower one, if it has any."""


def mutate_jointly(rng: random.Random, values: dict[str, Value]) -> tuple[str, ...]:
    """Apply one joint mutation to the tensors among the arguments of a call.

    Args:
        rng: source of randomness.
        values: the arguments by parameter, which are replaced in place.

    Returns:
        The names of the changed parameters; empty if the call has no tensor that can be changed.
    """
    tensors = [tensor for value in values.values() for tensor in tensors_in(value)]
    if not tensors:
        return ()
    change = _CHANGES[int(rng.random() * len(_CHANGES))](rng, tensors)
    changed_names = []
    for name, value in values.items():
        changed = with_tensors_changed(value, change)
        if changed is not value:
            values[name] = changed
            changed_names.append(name)
    return tuple(changed_names)


def _resize(rng: random.Random, tensors: list[AnyTensor]) -> _Change:
    """Return a change of all dimensions of one size to 0 or 1."""
    size = _drawn_size(rng, tensors)
    new_size = _NEW_SIZES[int(rng.random() * len(_NEW_SIZES))]

    def change(tensor: AnyTensor) -> AnyTensor:
        if size not in tensor.shape:
            return tensor
        return reshape(tensor, tuple([new_size if each == size else each for each in tensor.shape]))

    return change


def _empty_and_widen(rng: random.Random, tensors: list[AnyTensor]) -> _Change:
    """Return a change of all dimensions of one size to 0, and of another size to a huge one."""
    size, other_size = _drawn_size(rng, tensors), _drawn_size(rng, tensors)
    wide_size = WIDE_SIZES[int(rng.random() * len(WIDE_SIZES))]

    def change(tensor: AnyTensor) -> AnyTensor:
        if size not in tensor.shape:
            return tensor
        sizes = [
            0 if each == size else wide_size if each == other_size else each
            for each in tensor.shape
        ]
        return reshape(tensor, tuple(sizes))

    return change


def _change_dtype(rng: random.Random, tensors: list[AnyTensor]) -> _Change:
    """Return a change of all tensors of one dtype to another dtype."""
    dtype = tensors[int(rng.random() * len(tensors))].dtype
    is_near = rng.random() < _NEAR_SHARE
    candidates = (
        _NARROWER_DTYPES.get(dtype, element_types.EVERY) if is_near else element_types.EVERY
    )
    new_dtype = candidates[int(rng.random() * len(candidates))]

    def change(tensor: AnyTensor) -> AnyTensor:
        if tensor.dtype != dtype:
            return tensor
        return type(tensor)(new_dtype, tensor.shape, tensor.fill)

    return change


def _change_rank(rng: random.Random, tensors: list[AnyTensor]) -> _Change:
    """Return a change of all tensors of one rank to a rank that is one lower or higher."""
    rank = len(tensors[int(rng.random() * len(tensors))].shape)
    is_lowered = rank > 0 and rng.random() < 0.6  # noqa: PLR2004 - a probability

    def change(tensor: AnyTensor) -> AnyTensor:
        if len(tensor.shape) != rank:
            return tensor
        return reshape(tensor, tensor.shape[1:] if is_lowered else (1, *tensor.shape))

    return change


def _fill(rng: random.Random, tensors: list[AnyTensor]) -> _Change:
    """Return a change of the elements of all tensors of one dtype to a boundary value."""
    dtype = tensors[int(rng.random() * len(tensors))].dtype
    numbers = _INTEGERS if dtype in element_types.INTEGERS else _FLOATS
    pick = int(rng.random() * (len(numbers) + 1))
    fill = Constant(numbers[pick]) if pick < len(numbers) else Special(int(rng.random() * 65536))
    if isinstance(fill, Constant) and dtype in element_types.INTEGERS:
        minimum, maximum = element_types.integer_range(dtype)
        fill = Constant(min(max(int(fill.value), minimum), maximum))

    def change(tensor: AnyTensor) -> AnyTensor:
        return type(tensor)(dtype, tensor.shape, fill) if tensor.dtype == dtype else tensor

    return change


_CHANGES = (
    *(_resize,) * 4,
    *(_empty_and_widen,) * 2,
    *(_change_dtype,) * 4,
    *(_change_rank,) * 2,
    *(_fill,) * 2,
)
"""Changes; one that is repeated is drawn more often."""


def _drawn_size(rng: random.Random, tensors: list[AnyTensor]) -> int:
    """Return the size of a random dimension; 1 if all tensors are scalars."""
    sizes = [size for tensor in tensors for size in tensor.shape]
    return sizes[int(rng.random() * len(sizes))] if sizes else 1


def tensors_in(value: Value) -> Iterator[AnyTensor]:
    """Yield the tensors in a value that `with_tensors_changed` reaches."""
    match value:
        case TensorValue() | ArrayValue():
            yield value
        case ListValue(items) | TupleValue(items):
            for item in items:
                yield from tensors_in(item)
        case CallValue(arguments=(first, *rest)) if _is_form(rest):
            yield from tensors_in(first)
        case _:
            pass


def _is_form(rest: list[Value]) -> bool:
    """Return whether a call with these further arguments accepts a first argument of any shape."""
    return all(isinstance(argument, MemberValue | LiteralValue) for argument in rest)


def with_tensors_changed(value: Value, change: _Change) -> Value:
    """Return a value with all its tensors changed; the same object if none has changed.

    A tensor that would be large stays as it is.
    """
    match value:
        case TensorValue() | ArrayValue():
            changed = change(value)
            return changed if prod(changed.shape) <= _MAX_ELEMENTS else value
        case ListValue(items) | TupleValue(items):
            new_items = tuple([with_tensors_changed(item, change) for item in items])
            is_same = all(new is old for new, old in zip(new_items, items, strict=True))
            return value if is_same else type(value)(new_items)
        case CallValue(arguments=(first, *rest)) if _is_form(rest):
            new_first = with_tensors_changed(first, change)
            return value if new_first is first else replace(value, arguments=(new_first, *rest))
        case _:
            return value
