"""Simpler variants of a case: each leaves one thing out, or makes one thing plainer."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ciguard.domain import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    Explicit,
    Fill,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.triage.buckets import simplicity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain import Case, Scalar

T = TypeVar("T")

_PLAIN_DTYPE = "float32"
_MOST_ITEMS = 16
"""Items of one list that are tried on their own; longer lists are halved first."""


def reductions(case: Case) -> list[Case]:
    """Return the simpler variants of a case that differ from it in one place, the simplest first.

    Every one is less by `simplicity`, so whoever follows them comes to an end.
    """
    limit = simplicity(case)
    found = {simplicity(variant): variant for variant in _variants(case)}
    return [found[key] for key in sorted(found) if key < limit]


def _variants(case: Case) -> Iterator[Case]:
    keywords = dict(case.keywords)
    for kept in _shorter(case.keywords):
        yield replace(case, keywords=kept)
    for name, value in case.keywords:
        for simpler in simpler_values(value):
            yield replace(case, keywords=tuple({**keywords, name: simpler}.items()))
    # Positions matter: only the last arguments can be left out without moving the others.
    for count in range(len(case.arguments)):
        yield replace(case, arguments=case.arguments[:count])
    for arguments in _one_simpler(case.arguments):
        yield replace(case, arguments=arguments)
    for count in range(len(case.inputs)):
        yield replace(case, inputs=case.inputs[:count])
    for inputs in _one_simpler(case.inputs):
        yield replace(case, inputs=inputs)


def _shorter(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    """Yield nothing of the items, each half, and all but one."""
    if not items:
        return
    yield ()
    middle = len(items) // 2
    if middle:
        yield items[:middle]
        yield items[middle:]
    for position in range(min(len(items), _MOST_ITEMS)):
        yield items[:position] + items[position + 1 :]


def _one_simpler(values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    for position, value in enumerate(values[:_MOST_ITEMS]):
        for simpler in simpler_values(value):
            yield (*values[:position], simpler, *values[position + 1 :])


def simpler_values(value: Value) -> Iterator[Value]:
    """Yield plainer values in the place of one. Not every one need be less by `simplicity`."""
    match value:
        case LiteralValue(scalar):
            yield from map(LiteralValue, _simpler_scalars(scalar))
        case TensorValue() | ArrayValue():
            yield from _simpler_arrays(value)
        case ListValue(items):
            yield from map(ListValue, _simpler_items(items))
        case TupleValue(items):
            yield from map(TupleValue, _simpler_items(items))
        case DictValue(pairs):
            yield from map(DictValue, _shorter(pairs))
            yield from map(DictValue, _simpler_pairs(pairs))
        case CallValue(_, arguments, keywords):
            yield from (replace(value, arguments=a) for a in _simpler_items(arguments))
            yield from (replace(value, keywords=k) for k in _shorter(keywords))
            yield from (replace(value, keywords=k) for k in _simpler_pairs(keywords))
        case _:
            return


def _simpler_items(items: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    yield from _shorter(items)
    yield from _one_simpler(items)


def _simpler_pairs(
    pairs: tuple[tuple[str, Value], ...],
) -> Iterator[tuple[tuple[str, Value], ...]]:
    for position, (name, value) in enumerate(pairs[:_MOST_ITEMS]):
        for simpler in simpler_values(value):
            yield (*pairs[:position], (name, simpler), *pairs[position + 1 :])


def _simpler_scalars(scalar: Scalar) -> Iterable[Scalar]:
    match scalar:
        case bool() | None:
            return []
        case int():
            return [0, 1, -1, 2, *_rounder(scalar)]
        case float():
            whole = [math.trunc(scalar)] if math.isfinite(scalar) else []
            return [0.0, 1.0, -1.0, *map(float, whole)]
        case complex():
            return [0j, 1j, complex(scalar.real)]
        case _:
            return [scalar[:0], scalar[:1], scalar[: len(scalar) // 2], scalar[:-1]]


def _rounder(number: int) -> list[int]:
    """Return shorter numbers: fewer digits, then one digit less, then about the same size."""
    size = abs(number)
    found = [10 ** (len(str(size)) - 1), size // 10, size // 10**9, size - size % 100]
    return [-less if number < 0 else less for less in found]


def _simpler_arrays(value: TensorValue | ArrayValue) -> Iterator[Value]:
    if value.dtype != _PLAIN_DTYPE:
        yield replace(value, dtype=_PLAIN_DTYPE)
    for fill in _simpler_fills(value.fill):
        yield replace(value, fill=fill)
    for shape in _simpler_shapes(value.shape):
        if not isinstance(value.fill, Explicit):
            yield replace(value, shape=shape)
        elif (count := math.prod(shape)) <= len(value.fill.data):
            yield replace(value, shape=shape, fill=Explicit(value.fill.data[:count]))


def _simpler_shapes(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield from _shorter(shape)
    for axis, size in enumerate(shape):
        for less in sorted({1, 2, size // 2, size - 1}):
            # An empty tensor takes other paths than one with elements: it is left as it is.
            if 0 < less < size:
                yield (*shape[:axis], less, *shape[axis + 1 :])


def _simpler_fills(fill: Fill) -> Iterator[Fill]:
    yield Constant(0)
    yield Constant(1)
    if isinstance(fill, Explicit):
        yield from (Constant(number) for number in islice(dict.fromkeys(fill.data), _MOST_ITEMS))
        for position, number in enumerate(fill.data[:_MOST_ITEMS]):
            for simpler in _simpler_scalars(number):
                if isinstance(simpler, int | float):
                    yield Explicit((*fill.data[:position], simpler, *fill.data[position + 1 :]))
    if isinstance(fill, Constant):
        yield from (
            Constant(number)
            for number in _simpler_scalars(fill.value)
            if isinstance(number, int | float)
        )
