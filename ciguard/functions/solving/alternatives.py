"""The kinds of values that a constraint allows, apart: each has one type and its own ranges.

Preconditions are solved for one kind at a time: `type(x) is not list or len(x) == n` asks nothing
of an integer, and fixes the length of a list.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from ciguard.domain.values import LiteralValue
from ciguard.functions.solving.constraints import (
    RANKS,
    SIDES,
    float_range,
    int_range,
    lengths,
    shape_ranges,
    whole,
)
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval, hull, point
from ciguard.functions.solving.resolving import ImpossibleError, refers
from ciguard.functions.solving.views import OPAQUE, ArrayView, DtypeView, view
from ciguard.functions.specs.kinds import (
    Anys,
    Arrays,
    Dicts,
    Dims,
    Dtypes,
    FloatsIn,
    IntsIn,
    Lists,
    Shapes,
    SizesOfCall,
    Spec,
    Strings,
    Tuples,
)
from ciguard.values import Bool, OneOf

Key: TypeAlias = tuple[Any, ...]
"""A number that belongs to an argument: `("value", x)`, `("len", x)`, `("dim", x, axis)`, or of its
items: `("item", x, place)`, `("each", x)`."""


def alternatives(spec: Spec) -> list[Spec]:
    """Return the kinds of a resolved constraint; shapes of every rank apart."""
    match spec:
        case Anys(options):
            return [kind for option in options for kind in alternatives(option)]
        case Bool():
            return [OneOf((LiteralValue(value=False), LiteralValue(value=True)))]
        case Shapes():
            return [Tuples(dims) for dims in _ranked(spec)]
        case Arrays(shape=None | Shapes()):
            shape = spec.shape if isinstance(spec.shape, Shapes) else Shapes(*RANKS, *SIDES)
            return [replace(spec, shape=Dims(dims)) for dims in _ranked(shape)]
        case Arrays(shape=Tuples(items)):
            return [replace(spec, shape=Dims(items))]
        case _:
            return [spec]


def _ranked(spec: Shapes) -> list[tuple[Spec, ...]]:
    ranks, sides = shape_ranges(spec)
    return [(IntsIn(*sides),) * rank for rank in range(ranks[0], ranks[1] + 1)]


def specimen(kind: Spec) -> Any:
    """Return the view of some value of a kind: of its type, and nothing else is meant.

    `OPAQUE` where the type cannot be told.
    """
    match kind:
        case Lists(is_tuple=is_tuple):
            return () if is_tuple else []
        case Arrays(is_tensor=is_tensor):
            return ArrayView((), "float32", is_tensor)
        case OneOf(values):
            views = [view(value) for value in values]
            alike = len({type(one) for one in views}) == 1 and None not in views
            return views[0] if alike else OPAQUE
        case _:
            return _SPECIMENS.get(type(kind), OPAQUE)


_SPECIMENS: dict[type, Any] = {
    IntsIn: 0,
    FloatsIn: 0.5,
    Strings: "",
    Tuples: (),
    Dicts: {},
    Dtypes: DtypeView("float32"),
    Bool: True,
}


def initial(spec: Spec, key: Key) -> Interval | None:
    """Return the range of a number of an argument that is not drawn.

    Args:
        spec: of the argument; unresolved references are of any worth.
        key: the number.

    Returns:
        None if there is no such number, as in `x.shape[3]` of a matrix.
    """
    try:
        kinds = alternatives(spec)
    except (ImpossibleError, TypeError):
        return ANY
    found = []
    for kind in kinds:
        try:
            found.append(_of_kind(kind, key))
        except (EmptyError, ImpossibleError):
            continue
    return hull(found) if found else None


def _of_kind(kind: Spec, key: Key) -> Interval:
    if refers(kind):
        return ANY
    reader = _RANGES.get(str(key[0]))
    return ANY if reader is None else reader(kind, key)


def _value(kind: Spec, key: Key) -> Interval:
    del key
    match kind:
        case IntsIn():
            return Interval(*int_range(kind), is_whole=True)
        case FloatsIn():
            usual = not (kind.nan or kind.inf)
            return Interval(*float_range(kind)) if usual else ANY
        case OneOf(values):
            numbers = [view(value) for value in values]
            real = [n for n in numbers if isinstance(n, int | float) and n - n == 0]
            return hull(map(point, real)) if len(real) == len(numbers) else ANY
        case _:
            return ANY


def _length(kind: Spec, key: Key) -> Interval:
    match kind:
        case Lists() | Strings():
            return Interval(*lengths(whole(kind.min_len), whole(kind.max_len)), is_whole=True)
        case Dicts():
            return Interval(*lengths(whole(kind.min_size), whole(kind.max_size)), is_whole=True)
        case Tuples(items):
            return point(len(items))
        case Arrays(shape=Dims()):
            return _dim(kind, ("dim", key[1], 0))
        case OneOf(values):
            views = [view(value) for value in values]
            sized = [len(v) for v in views if isinstance(v, str | list | tuple | dict)]
            return hull(map(point, sized)) if len(sized) == len(views) else ANY
        case _:
            return ANY


def _rank(kind: Spec, key: Key) -> Interval:
    del key
    if isinstance(kind, Arrays) and isinstance(kind.shape, Dims):
        several = any(isinstance(dim, SizesOfCall) for dim in kind.shape.dims)
        return ANY if several else point(len(kind.shape.dims))
    return ANY


def _dim(kind: Spec, key: Key) -> Interval:
    if not isinstance(kind, Arrays) or not isinstance(kind.shape, Dims):
        return ANY
    dims, axis = kind.shape.dims, key[2]
    if any(isinstance(dim, SizesOfCall) for dim in dims):
        return ANY
    if not -len(dims) <= axis < len(dims):
        raise EmptyError
    dim = dims[axis]
    if isinstance(dim, int):
        return point(dim)
    if isinstance(dim, IntsIn):
        return Interval(*int_range(dim), is_whole=True).meet(Interval(low=0))
    return Interval(*SIDES, is_whole=True)


def _item(kind: Spec, key: Key) -> Interval:
    if isinstance(kind, Tuples):
        if not -len(kind.items) <= key[2] < len(kind.items):
            raise EmptyError
        return _of_item(kind.items[key[2]])
    if isinstance(kind, Lists):
        return _of_item(kind.item)
    return ANY


def _of_item(item: Spec) -> Interval:
    return initial(item, ("value", "")) or ANY


def _each(kind: Spec, key: Key) -> Interval:
    del key
    if isinstance(kind, Lists):
        return _of_item(kind.item)
    if isinstance(kind, Tuples):
        return hull(map(_of_item, kind.items))
    return ANY


_RANGES = {
    "value": _value,
    "len": _length,
    "ndim": _rank,
    "dim": _dim,
    "item": _item,
    "each": _each,
}
