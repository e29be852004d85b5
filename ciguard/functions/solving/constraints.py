"""From a constraint of one call, its references resolved, to the language of `ciguard.values`.

What an annotation leaves open gets moderate ends here: integers and lengths that a program computes
with in no time, floating-point numbers that no sum of a few overflows.
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
    FloatsIn,
    IntsIn,
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

OPEN_INT = 1000
"""Farthest from 0 that an integer without a bound goes, and from a bound that lies beyond."""
OPEN_FLOAT = 1e6
"""Likewise for floating-point numbers."""
MORE_ITEMS = 5
"""How many more than the fewest items or characters there are where no most is given."""
RANKS = (1, 4)
SIDES = (1, 8)
"""Of a shape whose annotation says nothing."""


def constraint_of(spec: Spec) -> Constraint:
    """Return the constraint of `ciguard.values` that says the same.

    Raises:
        ImpossibleError: if no value conforms.
        TypeError: for arrays and what functions make: these are drawn part by part.
    """
    return _constraint(spec)


@singledispatch
def _constraint(spec: Spec) -> Constraint:
    msg = f"{spec!r} is drawn part by part"
    raise TypeError(msg)


@_constraint.register(OneOf)
def _one_of(spec: OneOf) -> Constraint:
    if not spec.values:
        msg = "no value is left"
        raise ImpossibleError(msg)
    return spec


@_constraint.register(Bool)
def _bool(spec: Bool) -> Constraint:
    return spec


def int_range(spec: IntsIn) -> tuple[int, int]:
    """Return the ends of a range of integers, both inclusive."""
    least, most = _finite(spec.min), _finite(spec.max)
    if least is None:
        least = -OPEN_INT if most is None else min(-OPEN_INT, most - OPEN_INT)
    if most is None:
        most = max(OPEN_INT, least + OPEN_INT)
    return int(least), int(most)


def _finite(bound: Any) -> Any:
    return None if bound is None or math.isinf(bound) else bound


@_constraint.register(IntsIn)
def _ints(spec: IntsIn) -> Constraint:
    least, most = int_range(spec)
    _ordered(least, most)
    return Int(min=least, max=most, step=spec.step)


def _ordered(least: float, most: float) -> None:
    if least > most:
        msg = f"nothing lies between {least} and {most}"
        raise ImpossibleError(msg)


def float_range(spec: FloatsIn) -> tuple[float, float]:
    """Return the ends of a range of floating-point numbers."""
    least, most = _finite(spec.min), _finite(spec.max)
    open_end = min(OPEN_FLOAT, _LARGEST.get(spec.width, OPEN_FLOAT))
    if least is None:
        least = -open_end if most is None else min(-open_end, most - abs(most))
    if most is None:
        most = max(open_end, least + abs(least))
    return float(least), float(most)


_LARGEST = {16: 65504.0}


@_constraint.register(FloatsIn)
def _floats(spec: FloatsIn) -> Constraint:
    least, most = float_range(spec)
    made = Float(
        min=least,
        max=most,
        nan=spec.nan,
        exclude_min=spec.exclude_min,
        exclude_max=spec.exclude_max,
        width=spec.width,
    )
    _ordered(*closed_range(made))
    infinities = _infinities(spec)
    if not infinities:
        return made
    return AnyOf(((3.0, made), (1.0, OneOf(infinities))))


def _infinities(spec: FloatsIn) -> tuple[Value, ...]:
    if not spec.inf:
        return ()
    below = (LiteralValue(-math.inf),) if _finite(spec.min) is None else ()
    above = (LiteralValue(math.inf),) if _finite(spec.max) is None else ()
    return (*below, *above)


def whole(length: Length) -> int | None:
    """Return a length whose reference is resolved."""
    if isinstance(length, Reference):
        msg = f"{length.expression} is not resolved"
        raise TypeError(msg)
    return length


def lengths(least: Any, most: Any) -> tuple[int, int]:
    """Return the fewest and the most items of a sequence.

    Raises:
        ImpossibleError: if there is no such number.
    """
    fewest = max(least or 0, 0)
    largest = fewest + MORE_ITEMS if most is None else most
    _ordered(fewest, largest)
    return fewest, largest


@_constraint.register(Strings)
def _strings(spec: Strings) -> Constraint:
    least, most = lengths(spec.min_len, spec.max_len)
    return String(
        min_length=least,
        max_length=most,
        alphabet=spec.alphabet or "",
        pattern=spec.pattern or "",
    )


@_constraint.register(Lists)
def _lists(spec: Lists) -> Constraint:
    length = lengths(spec.min_len, spec.max_len)
    return List(item=_constraint(spec.item), length=length, as_tuple=spec.is_tuple)


@_constraint.register(Tuples)
def _tuples(spec: Tuples) -> Constraint:
    return Tuple(tuple(map(_constraint, spec.items)))


def shape_ranges(spec: Shapes) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ranges of the number of dimensions and of each size.

    Raises:
        ImpossibleError: if there is no such number.
    """
    least, most = whole(spec.min_dims), whole(spec.max_dims)
    fewest = min(RANKS[0], most) if least is None and most is not None else least
    ranks = (
        RANKS[0] if fewest is None else fewest,
        max(RANKS[1], fewest or 0) if most is None else most,
    )
    smallest = SIDES[0] if spec.min_side is None else spec.min_side
    if spec.min_side is None and spec.max_side is not None:
        smallest = min(smallest, spec.max_side)
    sides = (smallest, max(SIDES[1], smallest) if spec.max_side is None else spec.max_side)
    first, last = lengths(*ranks)
    _ordered(*sides)
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
    least, most = whole(spec.min_size) or 0, whole(spec.max_size)
    keys = _constraint(spec.keys)
    count = _count(keys)
    if most is None:
        most = least + MORE_ITEMS
    if count is not None:
        most = min(most, count)
    return Mapping(key=keys, item=_constraint(spec.values), length=lengths(least, most))


def _count(keys: Constraint) -> int | None:
    """Return how many keys there are, where that may be few."""
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
