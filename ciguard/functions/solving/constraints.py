"""Converts a constraint without references to a constraint of `ciguard.values`.

If an annotation has no bound, a default applies: integers and lengths that keep calls fast, and
floating-point numbers whose sums do not overflow.
"""

from __future__ import annotations

import math
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import CallValue, DtypeValue, LiteralValue
from ciguard.functions.in_target.describing.encoding import DTYPE
from ciguard.functions.solving.resolving import ImpossibleError
from ciguard.functions.specs.kinds import (
    Anys,
    Dicts,
    Dtypes,
    FloatRange,
    IntRange,
    Length,
    Lists,
    Reference,
    Shapes,
    Spec,
    Strings,
    Tuples,
)
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Float,
    Int,
    List,
    Mapping,
    OneOf,
    String,
    Tuple,
    closed_range,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Value

DEFAULT_INT_REACH = 1000
"""Distance of the default bounds of integers from 0, or from an annotated bound that is larger."""
DEFAULT_FLOAT_REACH = 1e6
"""Distance of the default bounds of floating-point numbers from 0."""
DEFAULT_LENGTH_RANGE = 5
"""Difference of the default maximum length and the minimum length."""
DEFAULT_RANKS = (1, 4)
"""Default range of the number of dimensions."""
DEFAULT_SIZES = (1, 8)
"""Default range of a dimension's size."""


def constraint_of(spec: Spec) -> Constraint:
    """Return the equivalent constraint of `ciguard.values`, with default bounds.

    Raises:
        ImpossibleError: if no value conforms.
        TypeError: for arrays and generated objects, which are drawn part by part.
    """
    return _constraint(spec)


@singledispatch
def _constraint(spec: Spec) -> Constraint:
    msg = f"{spec!r} is drawn part by part"
    raise TypeError(msg)


@_constraint.register(OneOf)
def _one_of(spec: OneOf) -> Constraint:
    if not spec.values:
        msg = "no allowed value is left"
        raise ImpossibleError(msg)
    return spec


@_constraint.register(Bool)
def _bool(spec: Bool) -> Constraint:
    return spec


def int_range(spec: IntRange) -> tuple[int, int]:
    """Return the smallest and the largest integer of a range, with default bounds."""
    minimum, maximum = _finite(spec.min), _finite(spec.max)
    if minimum is None:
        minimum = (
            -DEFAULT_INT_REACH
            if maximum is None
            else min(-DEFAULT_INT_REACH, maximum - DEFAULT_INT_REACH)
        )
    if maximum is None:
        maximum = max(DEFAULT_INT_REACH, minimum + DEFAULT_INT_REACH)
    return int(minimum), int(maximum)


def _finite(bound: Any) -> Any:
    """Return a bound; None for an infinite bound."""
    return None if bound is None or math.isinf(bound) else bound


@_constraint.register(IntRange)
def _ints(spec: IntRange) -> Constraint:
    minimum, maximum = int_range(spec)
    _require_ordered(minimum, maximum)
    return Int(min=minimum, max=maximum, step=spec.step)


def _require_ordered(minimum: float, maximum: float) -> None:
    """Raise an ImpossibleError if a minimum exceeds its maximum."""
    if minimum > maximum:
        msg = f"no value lies between {minimum} and {maximum}"
        raise ImpossibleError(msg)


def float_range(spec: FloatRange) -> tuple[float, float]:
    """Return the bounds of a range of floating-point numbers, with default bounds."""
    minimum, maximum = _finite(spec.min), _finite(spec.max)
    open_end = min(DEFAULT_FLOAT_REACH, _MAX_BY_WIDTH.get(spec.width, DEFAULT_FLOAT_REACH))
    if minimum is None:
        minimum = -open_end if maximum is None else min(-open_end, maximum - abs(maximum))
    if maximum is None:
        maximum = max(open_end, minimum + abs(minimum))
    return float(minimum), float(maximum)


_MAX_BY_WIDTH = {16: 65504.0}
"""Largest number by the width in bits, where it is less than the default bound."""


@_constraint.register(FloatRange)
def _floats(spec: FloatRange) -> Constraint:
    minimum, maximum = float_range(spec)
    finite = Float(
        min=minimum,
        max=maximum,
        nan=spec.nan,
        exclude_min=spec.exclude_min,
        exclude_max=spec.exclude_max,
        width=spec.width,
    )
    _require_ordered(*closed_range(finite))
    infinities = _infinities(spec)
    if not infinities:
        return finite
    return AnyOf(((3.0, finite), (1.0, OneOf(infinities))))


def _infinities(spec: FloatRange) -> tuple[Value, ...]:
    """Return the infinities that a constraint accepts."""
    if not spec.inf:
        return ()
    below = (LiteralValue(-math.inf),) if _finite(spec.min) is None else ()
    above = (LiteralValue(math.inf),) if _finite(spec.max) is None else ()
    return (*below, *above)


def resolved_length(length: Length) -> int | None:
    """Return a length that is not a reference.

    Raises:
        TypeError: if `length` is a reference.
    """
    if isinstance(length, Reference):
        msg = f"reference {length.expression} is not resolved"
        raise TypeError(msg)
    return length


def length_range(minimum: Any, maximum: Any) -> tuple[int, int]:
    """Return the minimum and maximum length of a sequence, with default bounds for None.

    Raises:
        ImpossibleError: if the minimum exceeds the maximum.
    """
    shortest = max(minimum or 0, 0)
    longest = shortest + DEFAULT_LENGTH_RANGE if maximum is None else maximum
    _require_ordered(shortest, longest)
    return shortest, longest


@_constraint.register(Strings)
def _strings(spec: Strings) -> Constraint:
    shortest, longest = length_range(spec.min_len, spec.max_len)
    return String(
        min_length=shortest,
        max_length=longest,
        alphabet=spec.alphabet or "",
        pattern=spec.pattern or "",
    )


@_constraint.register(Lists)
def _lists(spec: Lists) -> Constraint:
    length = length_range(spec.min_len, spec.max_len)
    return List(item=_constraint(spec.item), length=length, as_tuple=spec.is_tuple)


@_constraint.register(Tuples)
def _tuples(spec: Tuples) -> Constraint:
    return Tuple(tuple(map(_constraint, spec.items)))


def shape_ranges(spec: Shapes) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the range of the number of dimensions, and the range of each size.

    Raises:
        ImpossibleError: if a range is empty.
    """
    min_rank, max_rank = resolved_length(spec.min_dims), resolved_length(spec.max_dims)
    lowest_rank = (
        min(DEFAULT_RANKS[0], max_rank) if min_rank is None and max_rank is not None else min_rank
    )
    ranks = (
        DEFAULT_RANKS[0] if lowest_rank is None else lowest_rank,
        max(DEFAULT_RANKS[1], lowest_rank or 0) if max_rank is None else max_rank,
    )
    smallest = DEFAULT_SIZES[0] if spec.min_side is None else spec.min_side
    if spec.min_side is None and spec.max_side is not None:
        smallest = min(smallest, spec.max_side)
    sides = (smallest, max(DEFAULT_SIZES[1], smallest) if spec.max_side is None else spec.max_side)
    first, last = length_range(*ranks)
    _require_ordered(*sides)
    return (first, last), sides


@_constraint.register(Shapes)
def _shapes(spec: Shapes) -> Constraint:
    ranks, sides = shape_ranges(spec)
    return List(item=Int(min=sides[0], max=sides[1], step=1), length=ranks, as_tuple=True)


@_constraint.register(Dtypes)
def _dtypes(spec: Dtypes) -> Constraint:
    names = spec.names or element_types.COMMON
    if not spec.library:
        return OneOf(tuple(map(DtypeValue, names)))
    library = LiteralValue(spec.library)
    return OneOf(tuple(CallValue(DTYPE, (library, LiteralValue(name))) for name in names))


@_constraint.register(Dicts)
def _dicts(spec: Dicts) -> Constraint:
    smallest, largest = resolved_length(spec.min_size) or 0, resolved_length(spec.max_size)
    keys = _constraint(spec.keys)
    count = _key_count(keys)
    if largest is None:
        largest = smallest + DEFAULT_LENGTH_RANGE
    if count is not None:
        largest = min(largest, count)
    return Mapping(key=keys, item=_constraint(spec.values), length=length_range(smallest, largest))


def _key_count(keys: Constraint) -> int | None:
    """Return the number of possible keys; None if it is unlimited or unknown."""
    match keys:
        case OneOf(values):
            return len({repr(value) for value in values})
        case Bool():
            return 2
        case Int():
            return keys.max - keys.min + 1
        case _:
            return None


@_constraint.register(Anys)
def _anys(spec: Anys) -> Constraint:
    return AnyOf(tuple((1.0, _constraint(option)) for option in spec.options))
