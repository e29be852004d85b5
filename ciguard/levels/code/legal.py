"""Legal values of a parameter that a program can write: literals, with small numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import ListValue, LiteralValue, TupleValue
from ciguard.values import (
    AnyOf,
    Bool,
    Float,
    Int,
    Ints,
    List,
    OneOf,
    Optional,
    SamplingScope,
    String,
    Tuple,
    compile_sampler,
)

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Value
    from ciguard.values import Constraint

MAX_INTEGER = 64
"""Largest integer that is drawn, since sizes decide how long a program runs."""
_INNER_WEIGHT, _MINIMUM_WEIGHT, _MAXIMUM_WEIGHT = 3, 1, 1
"""Weights of a number within a range, of its minimum and of its maximum (MoCo)."""
_DIGITS = 4
_NONE = OneOf((LiteralValue(None),))


def literal_part(
    constraint: Constraint,
    spatial_dimensions: frozenset[str] = frozenset(),
    *,
    is_ranged: bool = True,
) -> Constraint | None:
    """Return the part of a constraint that literals can express; None if there is none.

    Args:
        constraint: the constraint of the parameter.
        spatial_dimensions: the numbers of spatial dimensions in the API's names, as digits. A list
            of sizes has one item per dimension, unless the constraint is more precise.
        is_ranged: True if the range of the parameter's numbers is known; if False, no number is
            assumed to be legal.
    """
    match constraint:
        case Bool():
            return constraint
        case Int() | Float():
            return _bounded_number(constraint) if is_ranged else None
        case Ints():
            return _with_known_length(constraint, spatial_dimensions) if is_ranged else None
        case OneOf(values):
            literals = tuple(value for value in values if is_literal(value))
            return OneOf(literals) if literals else None
        case Optional(inner):
            part = literal_part(inner, spatial_dimensions, is_ranged=is_ranged)
            return _NONE if part is None else Optional(part, constraint.none_share)
        case _:
            return _literal_part_of_nested(constraint, spatial_dimensions, is_ranged=is_ranged)


def _literal_part_of_nested(
    constraint: Constraint, spatial_dimensions: frozenset[str], *, is_ranged: bool
) -> Constraint | None:
    match constraint:
        case AnyOf(options):
            parts = [
                (w, literal_part(option, spatial_dimensions, is_ranged=is_ranged))
                for w, option in options
            ]
            literal = tuple((weight, part) for weight, part in parts if part is not None)
            return AnyOf(literal) if literal else None
        case List(item=item, length=(min_length, max_length)):
            part = literal_part(item, spatial_dimensions, is_ranged=is_ranged)
            length = _length(min_length, max_length, spatial_dimensions)
            if part is None or length is None:
                return None
            # Programs write sizes as tuples, which some libraries distinguish from lists.
            return Tuple((part,) * length)
        case Tuple(items):
            inner = [literal_part(item, spatial_dimensions, is_ranged=is_ranged) for item in items]
            known = tuple(part for part in inner if part is not None)
            return Tuple(known) if len(known) == len(items) else None
        case _:
            return None


def _bounded_number(constraint: Int | Float) -> Int | Float | None:
    if isinstance(constraint, Float):
        return Float(min=constraint.min, max=constraint.max)
    limit = min(constraint.max, MAX_INTEGER)
    return Int(min=constraint.min, max=limit) if constraint.min <= limit else None


def _with_known_length(constraint: Ints, spatial_dimensions: frozenset[str]) -> Ints | None:
    length = _length(*constraint.length, spatial_dimensions)
    number = _bounded_number(Int(min=constraint.min, max=constraint.max))
    if length is None or number is None or constraint.sizes:
        return None
    return Ints(
        length=(length, length),
        min=constraint.min,
        max=int(number.max),
        increasing=constraint.increasing,
        as_tuple=True,
    )


def _length(min_length: int, max_length: int, spatial_dimensions: frozenset[str]) -> int | None:
    """Return the length of a list of sizes; None if it is unknown."""
    if min_length == max_length:
        return min_length
    dimensions = [int(digit) for digit in spatial_dimensions]
    return (
        dimensions[0]
        if len(dimensions) == 1 and min_length <= dimensions[0] <= max_length
        else None
    )


def is_literal(value: Value) -> bool:
    """Return whether a program can write a value without the library."""
    match value:
        case LiteralValue(None | bool() | int() | str()):
            return True
        case LiteralValue(float() as number):
            return abs(number) < float("inf")
        case TupleValue(items) | ListValue(items):
            return all(map(is_literal, items))
        case _:
            return False


def draw(part: Constraint, rng: random.Random) -> Value:
    """Draw a literal; of numbers, the range's inside, minimum and maximum have weights 3 : 1 : 1.

    Args:
        part: a constraint that `literal_part` returned.
        rng: the source of randomness.
    """
    match part:
        case Optional(inner, none_share):
            return LiteralValue(None) if rng.random() < none_share else draw(inner, rng)
        case AnyOf(options):
            weights = [weight for weight, _ in options]
            return draw(rng.choices([option for _, option in options], weights)[0], rng)
        case Int() | Float():
            return _draw_number(part, rng)
        case Ints(min=low, max=high):
            end = _draw_end(low, high, rng)
            return _sample(part if end is None else replace(part, min=int(end), max=int(end)), rng)
        case Tuple(items):
            return TupleValue(tuple(draw(item, rng) for item in items))
        case _:
            return _sample(part, rng)


def _draw_number(part: Int | Float, rng: random.Random) -> Value:
    end = _draw_end(part.min, part.max, rng)
    if end is not None:
        return LiteralValue(end)
    drawn = _sample(part, rng)
    if isinstance(drawn, LiteralValue) and isinstance(drawn.value, float):
        rounded = round(drawn.value, _DIGITS)
        return LiteralValue(min(max(rounded, part.min), part.max))
    return drawn


def _draw_end(low: float, high: float, rng: random.Random) -> float | None:
    """Draw one of the ends of a range; None stands for a number within the range."""
    choices = (None, low, high)
    return rng.choices(choices, (_INNER_WEIGHT, _MINIMUM_WEIGHT, _MAXIMUM_WEIGHT))[0]


def _sample(part: Constraint, rng: random.Random) -> Value:
    return compile_sampler(part)(rng, SamplingScope())


def admits(constraint: Constraint, value: Value) -> bool:
    """Return whether a constraint accepts values of a value's kind.

    Ranges are ignored: they guide drawing, and an argument from a program may be outside of the
    range. A text must be one of the texts that the constraint lists.
    """
    match constraint, value:
        case Optional(inner), _:
            return value == LiteralValue(None) or admits(inner, value)
        case AnyOf(options), _:
            return any(admits(option, value) for _, option in options)
        case OneOf(values), _:
            return _is_one_of(values, value)
        case ((Ints() | List() | Tuple()), (TupleValue(items) | ListValue(items))):
            return _admits_items(constraint, items)
        case _, LiteralValue(scalar):
            return _admits_scalar(constraint, scalar)
        case _:
            return False


def _is_one_of(values: tuple[Value, ...], value: Value) -> bool:
    if value in values:
        return True
    texts = [v for v in values if isinstance(v, LiteralValue) and isinstance(v.value, str)]
    if len(texts) > 1 or not isinstance(value, LiteralValue):
        return False
    # A single value is a default or safe to draw; it does not exclude other values of its kind.
    return any(isinstance(v, LiteralValue) and type(v.value) is type(value.value) for v in values)


def _admits_items(constraint: Constraint, items: tuple[Value, ...]) -> bool:
    match constraint:
        case Ints(length=(min_length, max_length)):
            return min_length <= len(items) <= max_length and all(
                admits(Int(), item) for item in items
            )
        case List(item=item, length=(min_length, max_length)):
            return min_length <= len(items) <= max_length and all(
                admits(item, value) for value in items
            )
        case Tuple(parts):
            return len(parts) == len(items) and all(map(admits, parts, items))
        case _:
            return False


def _admits_scalar(constraint: Constraint, scalar: object) -> bool:
    match constraint:
        case Int():
            return type(scalar) is int
        case Float():
            return type(scalar) in {int, float}
        case Bool():
            return isinstance(scalar, bool)
        case String():
            return isinstance(scalar, str)
        case _:
            return False
