"""Simpler scalars, shapes and contents, for the reductions of a case."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from ciguard.domain.values import (
    ArrayValue,
    Constant,
    Explicit,
    Fill,
    Special,
    TensorValue,
    Uniform,
)
from ciguard.writing import MAX_EXPLICIT_ELEMENTS, content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ciguard.domain.values import Scalar

T = TypeVar("T")
AnyArray: TypeAlias = TensorValue | ArrayValue

MAX_ITEMS = 16
"""Maximum number of items of a list that are simplified one by one."""
_SIMPLE_DTYPE = "float32"


def shorter_tuples(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Yield shorter tuples: an empty one, each half of the items, and all items but one."""
    if not items:
        return
    yield ()
    middle = len(items) // 2
    if middle:
        yield items[:middle]
        yield items[middle:]
    for position in range(min(len(items), MAX_ITEMS)):
        yield items[:position] + items[position + 1 :]


def simpler_scalars(scalar: Scalar) -> Iterable[Scalar]:
    """Return simpler scalars of the same type."""
    match scalar:
        case bool() | None:
            return []
        case int():
            return [0, 1, -1, 2, *_rounder_numbers(scalar)]
        case float():
            truncated = [math.trunc(scalar)] if math.isfinite(scalar) else []
            return [0.0, 1.0, -1.0, *map(float, truncated)]
        case complex():
            return [0j, 1j, complex(scalar.real)]
        case _:
            return [scalar[:0], scalar[:1], scalar[: len(scalar) // 2], scalar[:-1]]


def _rounder_numbers(number: int) -> list[int]:
    """Return simpler integers: a power of ten, integers with fewer digits, and one ending in 00."""
    size = abs(number)
    rounder = [10 ** (len(str(size)) - 1), size // 10, size // 10**9, size - size % 100]
    return [-smaller if number < 0 else smaller for smaller in rounder]


def simpler_arrays(value: AnyArray) -> Iterator[AnyArray]:
    """Yield the array with a simpler dtype, simpler content, or a smaller shape.

    An empty array stays empty, and no other array becomes empty, because libraries treat empty
    arrays differently.
    """
    if value.dtype != _SIMPLE_DTYPE:
        yield replace(value, dtype=_SIMPLE_DTYPE)
    for fill in _simpler_fills(value.fill):
        yield replace(value, fill=fill)
    for shape in _simpler_shapes(value.shape):
        if (0 in shape) == (0 in value.shape):
            yield _with_shape(value, shape)
    explicit = _with_explicit_elements(value)
    if explicit != value:
        yield explicit
    if isinstance(explicit.fill, Explicit) and len(explicit.shape) == 1:
        for data in shorter_tuples(explicit.fill.data):
            if data:
                yield replace(explicit, shape=(len(data),), fill=Explicit(data))


def simpler_together(arrays: Sequence[AnyArray]) -> Iterator[Callable[[AnyArray], AnyArray]]:
    """Yield functions that simplify an array. Applied to all arrays, they keep shapes compatible.

    Such a function reduces one size wherever it occurs, or replaces each array by its element at
    the same position of the broadcast shape.
    """
    for size in sorted({size for array in arrays for size in array.shape if size > 1}):
        for smaller in sorted({1, size // 2}):
            yield lambda array, size=size, smaller=smaller: _with_shape(  # type: ignore[misc]
                array, tuple(smaller if n == size else n for n in array.shape)
            )
    yield from _single_elements(arrays)


def _single_elements(arrays: Sequence[AnyArray]) -> Iterator[Callable[[AnyArray], AnyArray]]:
    """Yield functions that replace each array by one of its elements, if all are small."""
    try:
        common = np.broadcast_shapes(*(array.shape for array in arrays))
        if not common or math.prod(common) > MAX_EXPLICIT_ELEMENTS:
            return
        with np.errstate(invalid="ignore", over="ignore"):  # numbers out of a dtype's range
            contents = [content(array) for array in arrays]
    except ValueError:
        return  # the shapes do not match, or an array cannot be built
    if any(elements.dtype.kind not in "biuf" for elements in contents):
        return
    # The keys are identities of arrays, because arrays with 0.0 and -0.0 are equal.
    broadcast = {
        id(array): np.broadcast_to(elements, common).ravel()
        for array, elements in zip(arrays, contents, strict=True)
    }
    for place in range(math.prod(common)):
        yield lambda array, place=place: replace(  # type: ignore[misc]
            array, shape=(), fill=Constant(broadcast[id(array)][place].item())
        )


def _simpler_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield from shorter_tuples(shape)
    for axis, size in enumerate(shape):
        for smaller in sorted({1, 2, size // 2, size - 1}):
            if 0 < smaller < size:
                yield (*shape[:axis], smaller, *shape[axis + 1 :])


def _simpler_fills(fill: Fill) -> Iterator[Fill]:
    yield Constant(0)
    yield Constant(1)
    if isinstance(fill, Explicit):
        yield from (Constant(number) for number in islice(dict.fromkeys(fill.data), MAX_ITEMS))
        for position, number in enumerate(fill.data[:MAX_ITEMS]):
            for simpler in _simpler_numbers(number):
                yield Explicit((*fill.data[:position], simpler, *fill.data[position + 1 :]))
    if isinstance(fill, Constant):
        yield from map(Constant, _simpler_numbers(fill.value))


def _simpler_numbers(number: float) -> Iterator[float]:
    for simpler in simpler_scalars(number):
        if isinstance(simpler, int | float):
            yield simpler


def _with_shape(value: AnyArray, shape: tuple[int, ...]) -> AnyArray:
    """Return the array with a smaller shape. Of explicit elements, the first ones are kept."""
    fill = value.fill
    if not isinstance(fill, Explicit) or shape == value.shape:
        return replace(value, shape=shape)
    elements = np.array(fill.data, dtype=object).reshape(value.shape)
    remaining: Any = elements.ravel()
    if len(shape) == len(value.shape):
        remaining = elements[tuple(map(slice, shape))].ravel()
    return replace(value, shape=shape, fill=Explicit(tuple(remaining[: math.prod(shape)])))


def _with_explicit_elements(value: AnyArray) -> AnyArray:
    """Return a small array of random numbers with explicit elements; other arrays unchanged."""
    is_small_random = (
        isinstance(value.fill, Uniform | Special)
        and math.prod(value.shape) <= MAX_EXPLICIT_ELEMENTS
    )
    if not is_small_random:
        return value
    try:
        elements = content(value)
    except ValueError:
        return value
    if elements.dtype.kind not in "biuf":
        return value
    return replace(value, fill=Explicit(tuple(elements.ravel().tolist())))
