"""Compiler from constraints to samplers: fast functions that draw values with a seeded generator.

Generation must be faster than the calls under test (a torch call takes 1 to 20 µs). A sampler
therefore uses precomputed tables and few random numbers, all from `rng.random()`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.values import (
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TupleValue,
    Value,
)
from ciguard.values import tables
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
from ciguard.values.dictionaries import dictionary, key_text
from ciguard.values.floating import closed_range, round_to_width
from ciguard.values.patterns import pattern_sampler
from ciguard.values.sample_tensor import tensor_sampler, tensors_like

if TYPE_CHECKING:
    import random

    from ciguard.values.scope import SamplingScope

Sampler: TypeAlias = Callable[["random.Random", "SamplingScope"], Value]
"""Function that draws a value; the scope holds the other arguments."""

NONE = LiteralValue(None)
_BOOLS = (LiteralValue(value=False), LiteralValue(value=True))
_MAX_TABULATED = 64
"""Maximum length of a range whose ints are all in the table."""
_END_PROBABILITY = 0.2
"""Probability that one of the ends of a range with steps is drawn."""
_ALPHABET = "abcdefgh XYZ_09-.é"
"""Characters of strings whose constraint has no alphabet."""


def compile_sampler(constraint: Constraint) -> Sampler:
    """Return a function that draws one conforming value.

    The value depends only on the random generator and the scope. The function adds the symbols of
    the constraint to the scope, and ignores references to parameters that the scope lacks.
    """
    return _compile(constraint)


@singledispatch
def _compile(constraint: Constraint) -> Sampler:
    msg = f"{constraint!r} is not a value constraint"
    raise TypeError(msg)


def table_sampler(values: tuple[Value, ...]) -> Sampler:
    """Return a sampler that draws uniformly from a table."""
    count = len(values)
    if count == 1:
        only = values[0]
        return lambda rng, scope: only  # noqa: ARG005 - samplers have these parameters
    return lambda rng, scope: values[int(rng.random() * count)]  # noqa: ARG005 - as above


@_compile.register(Int)
def _int_sampler(constraint: Int) -> Sampler:
    if constraint.step:
        return _stepped_int_sampler(constraint)
    draw = table_sampler(tuple(map(LiteralValue, tabulated(constraint.min, constraint.max))))
    if constraint.size:
        return _sized_int_sampler(constraint.size, tabulated(constraint.min, constraint.max))
    if not constraint.axis_of:
        return draw
    parameter = constraint.axis_of

    def axis(rng: random.Random, scope: SamplingScope) -> Value:
        shape = scope.shape(parameter)
        if not shape:
            return draw(rng, scope) if shape is None else LiteralValue(0)
        rank = len(shape)
        return LiteralValue(int(rng.random() * 2 * rank) - rank)

    return axis


def _stepped_int_sampler(constraint: Int) -> Sampler:
    """Return a sampler for a range with steps, which prefers the ends."""
    minimum, step = constraint.min, constraint.step
    count = (constraint.max - minimum) // step + 1

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - samplers have these parameters
        pick = rng.random()
        if pick < _END_PROBABILITY:
            return LiteralValue(minimum + step * (count - 1) * (pick < _END_PROBABILITY / 2))
        return LiteralValue(minimum + step * rng.randrange(count))

    return draw


def _sized_int_sampler(symbol: str, table: tuple[int, ...]) -> Sampler:
    """Return a sampler that returns a symbol's size, or draws it from a table and stores it."""

    def size(rng: random.Random, scope: SamplingScope) -> Value:
        bound = scope.sizes.get(symbol)
        if bound is not None:
            return LiteralValue(bound)
        number = table[int(rng.random() * len(table))]
        scope.sizes[symbol] = number
        return LiteralValue(number)

    return size


def tabulated(minimum: int, maximum: int) -> tuple[int, ...]:
    """Return all ints of a range, or for a long range its ends, small ints and powers of two."""
    if maximum - minimum <= _MAX_TABULATED:
        return tuple(range(minimum, maximum + 1))
    candidates = {minimum, maximum, *range(-8, 17), *(2**bit for bit in range(5, 63))}
    return tuple(sorted(number for number in candidates if minimum <= number <= maximum))


@_compile.register(Float)
def _float_sampler(constraint: Float) -> Sampler:
    minimum, maximum = closed_range(constraint)
    width = constraint.width
    round_numbers = [round_to_width(number, width) for number in _ROUND_NUMBERS]
    candidates_in_range = {number for number in round_numbers if minimum <= number <= maximum} | {
        minimum,
        maximum,
    }
    finite = sorted(number for number in candidates_in_range if abs(number) != float("inf"))
    special = [float("nan")] * constraint.nan + [float("inf"), float("-inf")] * constraint.inf
    table = tuple(LiteralValue(number) for number in [*finite, *special])
    count, span = len(table), maximum - minimum

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - samplers have these parameters
        pick = rng.random() * 2
        if pick < 1:
            return table[int(pick * count)]
        number = round_to_width(minimum + (pick - 1) * span, width)
        return LiteralValue(max(minimum, min(number, maximum)))

    return draw


_ROUND_NUMBERS = (0.0, 0.1, 0.5, 1.0, 2.0, -1.0, 1e-5)


@_compile.register(Bool)
def _bool_sampler(constraint: Bool) -> Sampler:  # noqa: ARG001 - dispatched by its type
    return table_sampler(_BOOLS)


@_compile.register(OneOf)
def _one_of_sampler(constraint: OneOf) -> Sampler:
    return table_sampler(constraint.values)


def _texts(max_length: int) -> tuple[str, ...]:
    """Return a table of strings of up to `max_length` characters."""
    doubled = _ALPHABET * 2
    return tuple(
        doubled[start : start + length]
        for length in range(max_length + 1)
        for start in range(0, len(_ALPHABET), 5)
    )


@_compile.register(String)
def _string_sampler(constraint: String) -> Sampler:
    if constraint.pattern:
        return pattern_sampler(constraint.pattern)
    if constraint.alphabet or constraint.min_length:
        return _alphabet_string_sampler(constraint)
    return table_sampler(tuple(map(LiteralValue, _texts(constraint.max_length))))


def _alphabet_string_sampler(constraint: String) -> Sampler:
    """Return a sampler that draws each character of a string separately."""
    letters = constraint.alphabet or _ALPHABET
    count, min_length = len(letters), constraint.min_length
    span = constraint.max_length - min_length + 1

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - samplers have these parameters
        length = min_length + int(rng.random() * span)
        return LiteralValue("".join([letters[int(rng.random() * count)] for _ in range(length)]))

    return draw


@_compile.register(Bytes)
def _bytes_sampler(constraint: Bytes) -> Sampler:
    length = constraint.max_length
    return table_sampler(
        tuple(LiteralValue(text.encode()[:length]) for text in _texts(constraint.max_length))
    )


@_compile.register(Dtype)
def _dtype_sampler(constraint: Dtype) -> Sampler:
    draw = table_sampler(tuple(map(DtypeValue, tables.weighted_dtypes(constraint.names))))
    parameter, names = constraint.dtype_of, constraint.names
    if not parameter:
        return draw

    def draw_same(rng: random.Random, scope: SamplingScope) -> Value:
        name = scope.dtype(parameter)
        return draw(rng, scope) if name is None or name not in names else DtypeValue(name)

    return draw_same


@_compile.register(Ints)
def _ints_sampler(constraint: Ints) -> Sampler:
    wrap = TupleValue if constraint.as_tuple else ListValue
    if constraint.sizes:
        return _size_list_sampler(constraint)
    choices = tuple(map(LiteralValue, tabulated(constraint.min, constraint.max)))
    count = len(choices)
    minimum, span = constraint.length[0], constraint.length[1] - constraint.length[0] + 1
    length_of, axes_of = constraint.length_of, constraint.axes_of
    increasing = constraint.increasing

    def draw(rng: random.Random, scope: SamplingScope) -> Value:
        length = scope.length(length_of) if length_of else None
        if length is None:
            length = minimum + int(rng.random() * span) if span > 1 else minimum
        if axes_of:
            shape = scope.shape(axes_of)
            if shape is not None:
                return wrap(_axes(rng, len(shape), None if length_of else length))
        pick = rng.random
        items = [choices[int(pick() * count)] for _ in range(length)]
        if increasing:
            items.sort(key=_number)
        return wrap(tuple(items))

    return draw


def _number(item: LiteralValue) -> int:
    return item.value if isinstance(item.value, int) else 0


def _axes(rng: random.Random, rank: int, length: int | None) -> tuple[LiteralValue, ...]:
    """Return distinct axes of a tensor in random order; all of them if `length` is None."""
    axes = list(range(rank))
    for index in range(rank - 1, 0, -1):
        other_index = int(rng.random() * (index + 1))
        axes[index], axes[other_index] = axes[other_index], axes[index]
    return tuple(map(LiteralValue, axes if length is None else axes[:length]))


def _size_list_sampler(constraint: Ints) -> Sampler:
    """Return a sampler for a list whose ints have symbols."""
    wrap = TupleValue if constraint.as_tuple else ListValue
    sizes = tuple(
        _int_sampler(Int(min=constraint.min, max=constraint.max, size=s)) for s in constraint.sizes
    )
    return lambda rng, scope: wrap(tuple([size(rng, scope) for size in sizes]))


@_compile.register(Tensor)
def _tensor_sampler(constraint: Tensor) -> Sampler:
    return tensor_sampler(constraint)


@_compile.register(List)
def _list_sampler(constraint: List) -> Sampler:
    minimum, span = constraint.length[0], constraint.length[1] - constraint.length[0] + 1
    item, length_of = _compile(constraint.item), constraint.length_of
    is_uniform = constraint.uniform and isinstance(constraint.item, Tensor)
    wrap = TupleValue if constraint.as_tuple else ListValue

    def draw(rng: random.Random, scope: SamplingScope) -> Value:
        length = scope.length(length_of) if length_of else None
        if length is None:
            length = minimum + int(rng.random() * span) if span > 1 else minimum
        if is_uniform and length:
            return wrap(tensors_like(item(rng, scope), length))
        return wrap(tuple([item(rng, scope) for _ in range(length)]))

    return draw


@_compile.register(Tuple)
def _tuple_sampler(constraint: Tuple) -> Sampler:
    items = tuple(map(_compile, constraint.items))
    return lambda rng, scope: TupleValue(tuple([item(rng, scope) for item in items]))


@_compile.register(Dict)
def _dict_sampler(constraint: Dict) -> Sampler:
    items = tuple((key, _compile(item)) for key, item in constraint.items)
    return lambda rng, scope: DictValue(tuple([(key, item(rng, scope)) for key, item in items]))


@_compile.register(Mapping)
def _mapping_sampler(constraint: Mapping) -> Sampler:
    minimum, span = constraint.length[0], constraint.length[1] - constraint.length[0] + 1
    key, item = _compile(constraint.key), _compile(constraint.item)

    def draw(rng: random.Random, scope: SamplingScope) -> Value:
        length = minimum + int(rng.random() * span)
        keys: dict[str, Value] = {}
        for _ in range(length * _ATTEMPTS_PER_KEY):
            if len(keys) == length:
                break
            key_value = key(rng, scope)
            keys.setdefault(key_text(key_value), key_value)
        return dictionary((key_value, item(rng, scope)) for key_value in keys.values())

    return draw


_ATTEMPTS_PER_KEY = 40
"""Maximum number of draws for each distinct key: enough to draw all keys of a small set."""


@_compile.register(Object)
def _object_sampler(constraint: Object) -> Sampler:
    function = constraint.function
    arguments = tuple(map(_compile, constraint.arguments))
    keywords = tuple((key, _compile(item)) for key, item in constraint.keywords)
    return lambda rng, scope: CallValue(
        function,
        tuple([argument(rng, scope) for argument in arguments]),
        tuple([(key, item(rng, scope)) for key, item in keywords]),
    )


@_compile.register(Optional)
def _optional_sampler(constraint: Optional) -> Sampler:
    share, inner = constraint.none_share, _compile(constraint.inner)
    return lambda rng, scope: NONE if rng.random() < share else inner(rng, scope)


@_compile.register(AnyOf)
def _any_of_sampler(constraint: AnyOf) -> Sampler:
    total = sum(weight for weight, _ in constraint.options)
    slots = 64
    samplers: list[Sampler] = []
    for weight, option in constraint.options:
        samplers += [_compile(option)] * max(1, round(slots * weight / total))
    table, count = tuple(samplers), len(samplers)
    return lambda rng, scope: table[int(rng.random() * count)](rng, scope)
