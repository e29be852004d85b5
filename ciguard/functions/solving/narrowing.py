"""A constraint narrowed to what the preconditions of the call leave of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.values import LiteralValue
from ciguard.functions.solving.alternatives import alternatives, initial
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
    FloatsIn,
    IntsIn,
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
"""What one condition narrows may let another narrow more."""


def narrowed(
    spec: Spec,
    name: str,
    conditions: Sequence[ast.expr],
    drawn: Mapping[str, Any],
    undrawn: Mapping[str, Spec],
) -> Spec:
    """Return what preconditions leave of an argument's constraint.

    Args:
        spec: of the argument, its references resolved.
        name: of the argument.
        conditions: that name it.
        drawn: views of the arguments that are drawn.
        undrawn: constraints of the others.

    Raises:
        ImpossibleError: if nothing is left.
    """
    found: list[Spec] = []
    for kind in alternatives(spec):
        found += _narrowed(kind, name, conditions, drawn, undrawn)
    if not found:
        msg = f"the preconditions leave no {name}"
        raise ImpossibleError(msg)
    return found[0] if len(found) == 1 else Anys(tuple(found))


def _narrowed(
    kind: Spec,
    name: str,
    conditions: Sequence[ast.expr],
    drawn: Mapping[str, Any],
    undrawn: Mapping[str, Spec],
) -> list[Spec]:
    if isinstance(kind, OneOf):
        left = [
            value
            for value in kind.values
            if _assumed(Box({**drawn, name: view(value)}, undrawn), conditions)
        ]
        return [OneOf(tuple(left))] if left else []
    box = Box(drawn, {**undrawn, name: kind})
    if not _assumed(box, conditions):
        return []
    try:
        return [_among(_applied(kind, name, box), box.members.get(name))]
    except (EmptyError, ImpossibleError):
        return []


def _among(kind: Spec, members: frozenset[Any] | None) -> Spec:
    """Return those members of a set that a kind of numbers or texts allows.

    Raises:
        EmptyError: if there are none.
    """
    if members is None or not isinstance(kind, IntsIn | FloatsIn | Strings):
        return kind
    constraint = constraint_of(kind)
    values = [LiteralValue(_as_kind(member, kind)) for member in sorted(members, key=repr)]
    allowed = tuple(value for value in values if conforms(value, constraint))
    if not allowed:
        raise EmptyError
    return OneOf(allowed)


def _as_kind(member: Any, kind: Spec) -> Any:
    """Return a number as the integer or float that equals it: `n in (1.0, 2.0)`."""
    if isinstance(kind, FloatsIn) and type(member) is int:
        return float(member)
    is_whole = isinstance(member, float) and member.is_integer()
    return int(member) if isinstance(kind, IntsIn) and is_whole else member


def _assumed(box: Box, conditions: Sequence[ast.expr]) -> bool:
    try:
        for _ in range(_ROUNDS):
            for condition in conditions:
                box.assume(condition)
    except EmptyError:
        return False
    return True


def _applied(kind: Spec, name: str, box: Box) -> Spec:
    """Return a kind within the ranges of a box.

    Raises:
        EmptyError: if these leave nothing.
    """
    apply = _APPLIED.get(type(kind))
    return kind if apply is None else apply(kind, name, box)


def _ints(kind: IntsIn, name: str, box: Box) -> Spec:
    interval = box.ranges.get(("value", name))
    least, most = int_range(kind)
    if interval is not None:
        met = Interval(least, most, is_whole=True).meet(interval)
        least, most = int(met.low), int(met.high)
    return _stepped(least, most, box.steps.get(("value", name)))


def _stepped(least: int, most: int, steps: Congruence | None) -> IntsIn:
    """Return the integers of a range that leave a remainder.

    Raises:
        EmptyError: if none does.
    """
    if steps is None:
        return IntsIn(least, most)
    least += (steps.remainder - least) % steps.step
    if least > most:
        raise EmptyError
    return IntsIn(least, most, steps.step)


def _lists(kind: Lists, name: str, box: Box) -> Spec:
    least, most = _length(name, box) or (kind.min_len, kind.max_len)
    return replace(kind, min_len=least, max_len=most, item=_each(kind.item, name, box))


def _strings(kind: Strings, name: str, box: Box) -> Spec:
    least, most = _length(name, box) or (kind.min_len, kind.max_len)
    return replace(kind, min_len=least, max_len=most)


def _dicts(kind: Dicts, name: str, box: Box) -> Spec:
    least, most = _length(name, box) or (kind.min_size, kind.max_size)
    return replace(kind, min_size=least, max_size=most)


def _tuples(kind: Tuples, name: str, box: Box) -> Spec:
    return Tuples(
        tuple(_item(item, name, place, kind, box) for place, item in enumerate(kind.items))
    )


def _floats(kind: FloatsIn, interval: Interval | None) -> Spec:
    if interval is None or kind.nan or kind.inf:
        return kind
    before = initial(kind, ("value", "")) or ANY
    met = before.meet(Interval(interval.low, interval.high))
    return replace(
        kind,
        min=met.low,
        max=met.high,
        exclude_min=kind.exclude_min and met.low == before.low,
        exclude_max=kind.exclude_max and met.high == before.high,
    )


def _length(name: str, box: Box) -> tuple[int, int | None] | None:
    interval = box.ranges.get(("len", name))
    if interval is None:
        return None
    met = interval.meet(Interval(low=0, is_whole=True))
    return int(met.low), int(met.high) if met.high < math.inf else None


def _each(item: Spec, name: str, box: Box) -> Spec:
    interval = box.ranges.get(("each", name))
    return item if interval is None else _number_within(item, interval)


def _item(item: Spec, name: str, place: int, kind: Tuples, box: Box) -> Spec:
    for key in (("item", name, place), ("item", name, place - len(kind.items)), ("each", name)):
        interval = box.ranges.get(key)
        if interval is not None:
            item = _number_within(item, interval)
    return item


def _number_within(item: Spec, interval: Interval) -> Spec:
    """Return what an interval leaves of a number; what is none stays as it is.

    Raises:
        EmptyError: if it leaves nothing.
    """
    match item:
        case IntsIn():
            met = Interval(*int_range(item), is_whole=True).meet(interval)
            return IntsIn(int(met.low), int(met.high), item.step)
        case FloatsIn():
            return _floats(item, interval)
        case _:
            return item


def _array(kind: Arrays, name: str, box: Box) -> Spec:
    allowed = box.dtypes.get(name)
    if allowed is not None:
        names = (
            tuple(n for n in kind.dtype if n in allowed) if isinstance(kind.dtype, tuple) else ()
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
    keys = [("dim", name, axis), ("dim", name, axis - rank)]
    found = [box.ranges[key] for key in keys if key in box.ranges]
    if axis == 0 and ("len", name) in box.ranges:
        found.append(box.ranges["len", name])
    steps = box.steps.get(("dim", name, axis))
    if not (found or steps) or not (dim is None or isinstance(dim, IntsIn | int)):
        return dim
    met = initial(Arrays(shape=Dims((dim,))), ("dim", "", 0)) or ANY
    for interval in found:
        met = met.meet(interval)
    return _stepped(int(met.low), int(met.high), steps)


_APPLIED: dict[type, Callable[[Any, str, Box], Spec]] = {
    IntsIn: _ints,
    FloatsIn: lambda kind, name, box: _floats(kind, box.ranges.get(("value", name))),
    Lists: _lists,
    Strings: _strings,
    Dicts: _dicts,
    Tuples: _tuples,
    Arrays: _array,
}
