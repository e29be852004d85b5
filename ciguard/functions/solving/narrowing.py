"""Narrows the constraint of an argument to the values that the preconditions allow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.values import LiteralValue
from ciguard.functions.solving.alternatives import alternatives, initial_range
from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import constraint_of, int_range
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval
from ciguard.functions.solving.resolving import ImpossibleError
from ciguard.functions.solving.views import view
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    FloatRange,
    IntRange,
    Lists,
    Spec,
    Strings,
    Tuples,
)
from ciguard.values import OneOf, conforms

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.functions.solving.congruences import Congruence

_ROUNDS = 2
"""Number of passes over the conditions: one condition's result may help to apply another."""


def narrow_constraint(
    spec: Spec,
    name: str,
    conditions: Sequence[ast.expr],
    drawn: Mapping[str, Any],
    undrawn: Mapping[str, Spec],
) -> Spec:
    """Return a constraint with only the values of an argument that the preconditions allow.

    Args:
        spec: constraint of the argument, with resolved references.
        name: name of the argument.
        conditions: conditions that name the argument.
        drawn: views of the arguments that are drawn already.
        undrawn: constraints of the arguments that are not drawn yet, by name.

    Raises:
        ImpossibleError: if the preconditions allow no value.
    """
    kinds: list[Spec] = []
    for kind in alternatives(spec):
        kinds += _narrow_kind(kind, name, conditions, drawn, undrawn)
    if not kinds:
        msg = f"the preconditions allow no value of {name}"
        raise ImpossibleError(msg)
    return kinds[0] if len(kinds) == 1 else Anys(tuple(kinds))


def _narrow_kind(
    kind: Spec,
    name: str,
    conditions: Sequence[ast.expr],
    drawn: Mapping[str, Any],
    undrawn: Mapping[str, Spec],
) -> list[Spec]:
    """Return a kind with only the allowed values, as the only item; empty if there are none."""
    if isinstance(kind, OneOf):
        values = [
            value
            for value in kind.values
            if _is_satisfiable(Box({**drawn, name: view(value)}, undrawn), conditions)
        ]
        return [OneOf(tuple(values))] if values else []
    box = Box(drawn, {**undrawn, name: kind})
    if not _is_satisfiable(box, conditions):
        return []
    try:
        return [
            _restrict_to_allowed_values(
                _restrict_to_ranges(kind, name, box), box.allowed_values.get(name)
            )
        ]
    except (EmptyError, ImpossibleError):
        return []


def _restrict_to_allowed_values(kind: Spec, members: frozenset[Any] | None) -> Spec:
    """Return a constraint with only those members of a set that conform to a kind.

    The kind is returned unchanged if `members` is None, or it is not of numbers or strings.

    Raises:
        EmptyError: if no member conforms.
    """
    if members is None or not isinstance(kind, IntRange | FloatRange | Strings):
        return kind
    constraint = constraint_of(kind)
    values = [LiteralValue(_convert_member(member, kind)) for member in sorted(members, key=repr)]
    allowed = tuple(value for value in values if conforms(value, constraint))
    if not allowed:
        raise EmptyError
    return OneOf(allowed)


def _convert_member(member: Any, kind: Spec) -> Any:
    """Return a member as an integer or float, as the kind requires, such as 1 for 1.0."""
    if isinstance(kind, FloatRange) and type(member) is int:
        return float(member)
    is_whole = isinstance(member, float) and member.is_integer()
    return int(member) if isinstance(kind, IntRange) and is_whole else member


def _is_satisfiable(box: Box, conditions: Sequence[ast.expr]) -> bool:
    """Narrow a box by conditions; return whether it still contains values."""
    try:
        for _ in range(_ROUNDS):
            for condition in conditions:
                box.assume(condition)
    except EmptyError:
        return False
    return True


def _restrict_to_ranges(kind: Spec, name: str, box: Box) -> Spec:
    """Return a kind, restricted to the ranges of a box.

    Raises:
        EmptyError: if the ranges leave no value.
    """
    apply = _RANGE_APPLIERS.get(type(kind))
    return kind if apply is None else apply(kind, name, box)


def _ints(kind: IntRange, name: str, box: Box) -> Spec:
    interval = box.ranges.get(("value", name))
    minimum, maximum = int_range(kind)
    if interval is not None:
        common = Interval(minimum, maximum, is_whole=True).intersection(interval)
        minimum, maximum = int(common.low), int(common.high)
    return _integers_in(minimum, maximum, box.congruences.get(("value", name)))


def _integers_in(minimum: int, maximum: int, congruence: Congruence | None) -> IntRange:
    """Return a constraint for the integers in a range that satisfy a congruence.

    Raises:
        EmptyError: if there are no such integers.
    """
    if congruence is None:
        return IntRange(minimum, maximum)
    minimum += (congruence.remainder - minimum) % congruence.step
    if minimum > maximum:
        raise EmptyError
    return IntRange(minimum, maximum, congruence.step)


def _lists(kind: Lists, name: str, box: Box) -> Spec:
    shortest, longest = _length(name, box) or (kind.min_len, kind.max_len)
    return replace(kind, min_len=shortest, max_len=longest, item=_each(kind.item, name, box))


def _strings(kind: Strings, name: str, box: Box) -> Spec:
    shortest, longest = _length(name, box) or (kind.min_len, kind.max_len)
    return replace(kind, min_len=shortest, max_len=longest)


def _dicts(kind: Dicts, name: str, box: Box) -> Spec:
    smallest, largest = _length(name, box) or (kind.min_size, kind.max_size)
    return replace(kind, min_size=smallest, max_size=largest)


def _tuples(kind: Tuples, name: str, box: Box) -> Spec:
    return Tuples(
        tuple(_item(item, name, index, kind, box) for index, item in enumerate(kind.items))
    )


def _floats(kind: FloatRange, interval: Interval | None) -> Spec:
    """Return a constraint, restricted to an interval; unchanged if NaN or infinity is valid."""
    if interval is None or kind.nan or kind.inf:
        return kind
    annotated = initial_range(kind, ("value", "")) or ANY
    common = annotated.intersection(Interval(interval.low, interval.high))
    return replace(
        kind,
        min=common.low,
        max=common.high,
        exclude_min=kind.exclude_min and common.low == annotated.low,
        exclude_max=kind.exclude_max and common.high == annotated.high,
    )


def _length(name: str, box: Box) -> tuple[int, int | None] | None:
    """Return the range of an argument's length in a box, or None if the box has none.

    The maximum is None if the box has only a minimum.
    """
    interval = box.ranges.get(("len", name))
    if interval is None:
        return None
    common = interval.intersection(Interval(low=0, is_whole=True))
    return int(common.low), int(common.high) if common.high < math.inf else None


def _each(item: Spec, name: str, box: Box) -> Spec:
    """Return the constraint of items, restricted to the range of every item."""
    interval = box.ranges.get(("each", name))
    return item if interval is None else _number_in_interval(item, interval)


def _item(item: Spec, name: str, index: int, kind: Tuples, box: Box) -> Spec:
    """Return the constraint of a tuple's item, restricted to its ranges in a box."""
    for key in (("item", name, index), ("item", name, index - len(kind.items)), ("each", name)):
        interval = box.ranges.get(key)
        if interval is not None:
            item = _number_in_interval(item, interval)
    return item


def _number_in_interval(item: Spec, interval: Interval) -> Spec:
    """Return a number's constraint, restricted to an interval; any other constraint unchanged.

    Raises:
        EmptyError: if no number of the interval conforms.
    """
    match item:
        case IntRange():
            common = Interval(*int_range(item), is_whole=True).intersection(interval)
            return IntRange(int(common.low), int(common.high), item.step)
        case FloatRange():
            return _floats(item, interval)
        case _:
            return item


def _array(kind: Arrays, name: str, box: Box) -> Spec:
    """Return an array's constraint, restricted to the dtypes and sizes of a box."""
    allowed = box.dtypes.get(name)
    if allowed is not None:
        names = (
            tuple(dtype for dtype in kind.dtype if dtype in allowed)
            if isinstance(kind.dtype, tuple)
            else ()
        )
        if isinstance(kind.dtype, tuple) and not names:
            raise EmptyError
        kind = replace(kind, dtype=names or tuple(sorted(allowed)))
    if not isinstance(kind.shape, Dims):
        return kind
    rank = len(kind.shape.dims)
    dims = tuple(_dim(dim, name, axis, rank, box) for axis, dim in enumerate(kind.shape.dims))
    return replace(kind, shape=Dims(dims))


def _dim(dim: Any, name: str, axis: int, rank: int, box: Box) -> Any:
    """Return one size or its constraint, restricted to the ranges of a box."""
    keys = [("dim", name, axis), ("dim", name, axis - rank)]
    ranges = [box.ranges[key] for key in keys if key in box.ranges]
    if axis == 0 and ("len", name) in box.ranges:
        ranges.append(box.ranges["len", name])
    congruence = box.congruences.get(("dim", name, axis))
    if not (ranges or congruence) or not (dim is None or isinstance(dim, IntRange | int)):
        return dim
    common = initial_range(Arrays(shape=Dims((dim,))), ("dim", "", 0)) or ANY
    for interval in ranges:
        common = common.intersection(interval)
    return _integers_in(int(common.low), int(common.high), congruence)


_RANGE_APPLIERS: dict[type, Callable[[Any, str, Box], Spec]] = {
    IntRange: _ints,
    FloatRange: lambda kind, name, box: _floats(kind, box.ranges.get(("value", name))),
    Lists: _lists,
    Strings: _strings,
    Dicts: _dicts,
    Tuples: _tuples,
    Arrays: _array,
}
