"""Simpler replacements of a value, for the simpler variants of a case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.triage.simplifying.values import (
    MAX_ITEMS,
    AnyArray,
    shorter_tuples,
    simpler_arrays,
    simpler_scalars,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def arrays_in(values: Iterable[Value]) -> list[AnyArray]:
    """Return the tensors and arrays among the given values."""
    return [value for value in values if isinstance(value, TensorValue | ArrayValue)]


def change_array(value: Value, change: Callable[[AnyArray], Value]) -> Value:
    """Return `change(value)` if the value is a tensor or an array, otherwise the value itself."""
    return change(value) if isinstance(value, TensorValue | ArrayValue) else value


def simplify_one_value(values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    """Yield copies of a tuple of values in which one value is simpler."""
    for position, value in enumerate(values[:MAX_ITEMS]):
        for simpler in simpler_values(value):
            yield (*values[:position], simpler, *values[position + 1 :])


def simpler_values(value: Value) -> Iterator[Value]:
    """Yield replacements of a value. Not all of them are simpler by the measure `simplicity`."""
    match value:
        case LiteralValue(scalar):
            yield from map(LiteralValue, simpler_scalars(scalar))
        case TensorValue() | ArrayValue():
            yield from simpler_arrays(value)
        case ListValue(items):
            yield from map(ListValue, _simpler_items(items))
        case TupleValue(items):
            yield from map(TupleValue, _simpler_items(items))
        case DictValue(pairs):
            yield from map(DictValue, shorter_tuples(pairs))
            yield from map(DictValue, simpler_pairs(pairs))
        case CallValue(_, arguments, keywords):
            yield from (item for item in arguments[:1] if isinstance(item, TensorValue))
            yield from (replace(value, arguments=items) for items in _simpler_items(arguments))
            yield from (replace(value, keywords=pairs) for pairs in shorter_tuples(keywords))
            yield from (replace(value, keywords=pairs) for pairs in simpler_pairs(keywords))
        case _:
            return


def _simpler_items(items: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    yield from shorter_tuples(items)
    yield from simplify_one_value(items)


def simpler_pairs(
    pairs: tuple[tuple[str, Value], ...],
) -> Iterator[tuple[tuple[str, Value], ...]]:
    """Yield copies of pairs of a name and a value in which one value is simpler."""
    for position, (name, value) in enumerate(pairs[:MAX_ITEMS]):
        for simpler in simpler_values(value):
            yield (*pairs[:position], (name, simpler), *pairs[position + 1 :])
