"""Splits a constraint into kinds: constraints that each allow values of a single type.

Preconditions are solved for each kind separately. For example, `type(x) is not list or len(x) == n`
fixes the length of a list, but does not restrict an integer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from ciguard.domain.values import LiteralValue
from ciguard.functions.solving.constraints import (
    DEFAULT_RANKS,
    DEFAULT_SIZES,
    float_range,
    int_range,
    length_range,
    resolved_length,
    shape_ranges,
)
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval, hull, point
from ciguard.functions.solving.resolving import ImpossibleError, has_references
from ciguard.functions.solving.views import OPAQUE, ArrayView, DtypeView, view
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    Dtypes,
    FloatRange,
    IntRange,
    Lists,
    Shapes,
    Spec,
    Strings,
    SymbolicSizes,
    Tuples,
)
from ciguard.values import Bool, OneOf

Key: TypeAlias = tuple[Any, ...]
"""Identifies a number that belongs to an argument with the name x.

- `("value", x)`: the argument itself.
- `("len", x)`: the argument's length.
- `("ndim", x)`: the argument's number of dimensions.
- `("dim", x, axis)`: the size of one dimension.
- `("item", x, index)`: one item.
- `("each", x)`: every item.
"""


def alternatives(spec: Spec) -> list[Spec]:
    """Return the kinds of a constraint without references; a shape has one kind per rank."""
    match spec:
        case Anys(options):
            return [kind for option in options for kind in alternatives(option)]
        case Bool():
            return [OneOf((LiteralValue(value=False), LiteralValue(value=True)))]
        case Shapes():
            return [Tuples(dims) for dims in _dims_by_rank(spec)]
        case Arrays(shape=None | Shapes()):
            shape = (
                spec.shape
                if isinstance(spec.shape, Shapes)
                else Shapes(*DEFAULT_RANKS, *DEFAULT_SIZES)
            )
            return [replace(spec, shape=Dims(dims)) for dims in _dims_by_rank(shape)]
        case Arrays(shape=Tuples(items)):
            return [replace(spec, shape=Dims(items))]
        case _:
            return [spec]


def _dims_by_rank(spec: Shapes) -> list[tuple[Spec, ...]]:
    ranks, sides = shape_ranges(spec)
    return [(IntRange(*sides),) * rank for rank in range(ranks[0], ranks[1] + 1)]


def representative(kind: Spec) -> Any:
    """Return the view of an arbitrary value with the type of a kind's values.

    Return `OPAQUE` if the type is unknown.
    """
    match kind:
        case Lists(is_tuple=is_tuple):
            return () if is_tuple else []
        case Arrays(is_tensor=is_tensor):
            return ArrayView((), "float32", is_tensor)
        case OneOf(values):
            views = [view(value) for value in values]
            has_one_type = len({type(item_view) for item_view in views}) == 1 and None not in views
            return views[0] if has_one_type else OPAQUE
        case _:
            return _REPRESENTATIVES.get(type(kind), OPAQUE)


_REPRESENTATIVES: dict[type, Any] = {
    IntRange: 0,
    FloatRange: 0.5,
    Strings: "",
    Tuples: (),
    Dicts: {},
    Dtypes: DtypeView("float32"),
    Bool: True,
}


def initial_range(spec: Spec, key: Key) -> Interval | None:
    """Return the range of a number that belongs to an argument, before preconditions narrow it.

    Args:
        spec: constraint of the argument; an unresolved reference may have any value.
        key: key of the number.

    Returns:
        The range; None if the argument has no such number, such as `x.shape[3]` of a matrix.
    """
    try:
        kinds = alternatives(spec)
    except (ImpossibleError, TypeError):
        return ANY
    ranges = []
    for kind in kinds:
        try:
            ranges.append(_range_in_kind(kind, key))
        except (EmptyError, ImpossibleError):
            continue
    return hull(ranges) if ranges else None


def _range_in_kind(kind: Spec, key: Key) -> Interval:
    """Return the range of a number in values of one kind."""
    if has_references(kind):
        return ANY
    reader = _RANGE_READERS.get(str(key[0]))
    return ANY if reader is None else reader(kind, key)


def _value(kind: Spec, key: Key) -> Interval:
    """Return the range of the value itself; `ANY` if it is not a number."""
    del key
    match kind:
        case IntRange():
            return Interval(*int_range(kind), is_whole=True)
        case FloatRange():
            is_finite = not (kind.nan or kind.inf)
            return Interval(*float_range(kind)) if is_finite else ANY
        case OneOf(values):
            numbers = [view(value) for value in values]
            finite = [
                number
                for number in numbers
                if isinstance(number, int | float) and number - number == 0
            ]
            return hull(map(point, finite)) if len(finite) == len(numbers) else ANY
        case _:
            return ANY


def _length(kind: Spec, key: Key) -> Interval:
    """Return the range of the length; `ANY` if it is unknown."""
    match kind:
        case Lists() | Strings():
            return Interval(
                *length_range(resolved_length(kind.min_len), resolved_length(kind.max_len)),
                is_whole=True,
            )
        case Dicts():
            return Interval(
                *length_range(resolved_length(kind.min_size), resolved_length(kind.max_size)),
                is_whole=True,
            )
        case Tuples(items):
            return point(len(items))
        case Arrays(shape=Dims()):
            return _dim(kind, ("dim", key[1], 0))
        case OneOf(values):
            views = [view(value) for value in values]
            sizes = [
                len(item_view)
                for item_view in views
                if isinstance(item_view, str | list | tuple | dict)
            ]
            return hull(map(point, sizes)) if len(sizes) == len(views) else ANY
        case _:
            return ANY


def _rank(kind: Spec, key: Key) -> Interval:
    """Return the number of dimensions as a range; `ANY` if it is unknown."""
    del key
    if isinstance(kind, Arrays) and isinstance(kind.shape, Dims):
        has_open_rank = any(isinstance(dim, SymbolicSizes) for dim in kind.shape.dims)
        return ANY if has_open_rank else point(len(kind.shape.dims))
    return ANY


def _dim(kind: Spec, key: Key) -> Interval:
    """Return the range of one size of an array.

    Raises:
        EmptyError: if the array has no such dimension.
    """
    if not isinstance(kind, Arrays) or not isinstance(kind.shape, Dims):
        return ANY
    dims, axis = kind.shape.dims, key[2]
    if any(isinstance(dim, SymbolicSizes) for dim in dims):
        return ANY
    if not -len(dims) <= axis < len(dims):
        raise EmptyError
    dim = dims[axis]
    if isinstance(dim, int):
        return point(dim)
    if isinstance(dim, IntRange):
        return Interval(*int_range(dim), is_whole=True).intersection(Interval(low=0))
    return Interval(*DEFAULT_SIZES, is_whole=True)


def _item(kind: Spec, key: Key) -> Interval:
    """Return the range of one item.

    Raises:
        EmptyError: if there is no such item.
    """
    if isinstance(kind, Tuples):
        if not -len(kind.items) <= key[2] < len(kind.items):
            raise EmptyError
        return _item_range(kind.items[key[2]])
    if isinstance(kind, Lists):
        return _item_range(kind.item)
    return ANY


def _item_range(item: Spec) -> Interval:
    return initial_range(item, ("value", "")) or ANY


def _each(kind: Spec, key: Key) -> Interval:
    """Return a range that contains every item."""
    del key
    if isinstance(kind, Lists):
        return _item_range(kind.item)
    if isinstance(kind, Tuples):
        return hull(map(_item_range, kind.items))
    return ANY


_RANGE_READERS = {
    "value": _value,
    "len": _length,
    "ndim": _rank,
    "dim": _dim,
    "item": _item,
    "each": _each,
}
