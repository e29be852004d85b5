"""The kinds of constraints that annotations have, as data; see `ciguard.annotations`.

What follows from nothing else is a constraint of `ciguard.values` as it is. The kinds defined here
have ends, lengths and shapes that other arguments decide, or that are left open; once a call's
arguments are known, `functions.solving.constraints` makes constraints of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ciguard.values import Bool, OneOf


@dataclass(frozen=True, slots=True)
class Reference:
    """What follows from other arguments, an expression of them."""

    expression: str


@dataclass(frozen=True, slots=True)
class SizeOfCall:
    """A size that follows from the symbols of the call: `b` and `2*b` in shapes of hints."""

    expression: str


@dataclass(frozen=True, slots=True)
class SizesOfCall:
    """A run of any number of sizes, the same in the whole call where it has a name."""

    symbol: str


Bound: TypeAlias = "int | float | Reference | None"
Length: TypeAlias = "int | Reference | None"


@dataclass(frozen=True, slots=True)
class IntsIn:
    """An integer of a closed range."""

    min: Bound = None
    max: Bound = None
    step: int = 1
    """Between neighbours; more than 1 only where a precondition fixes what `min` leaves over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatsIn:
    """A floating-point number of a range."""

    min: Bound = None
    max: Bound = None
    exclude_min: bool = False
    exclude_max: bool = False
    nan: bool = False
    inf: bool = False
    width: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """A text."""

    min_len: Length = None
    max_len: Length = None
    alphabet: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of items of one kind; a tuple where `is_tuple`."""

    item: Spec
    min_len: Length = None
    max_len: Length = None
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuples:
    """A tuple of one item for each kind."""

    items: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Shapes:
    """A tuple of positive integers."""

    min_dims: Length = None
    max_dims: Length = None
    min_side: int | None = None
    max_side: int | None = None


@dataclass(frozen=True, slots=True)
class Dims:
    """A shape of known rank: a size or what a size may be for each dimension; None is any."""

    dims: tuple[int | Reference | SizeOfCall | SizesOfCall | Spec | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """An array of numpy, or a tensor of a library."""

    dtype: tuple[str, ...] | Reference | None = None
    shape: Dims | Reference | Spec | None = None
    min: Bound = None
    max: Bound = None
    nan: bool = False
    is_tensor: bool = False
    library: str = ""
    """Of a tensor; empty for the one that the module imports."""


@dataclass(frozen=True, slots=True)
class Dtypes:
    """A dtype object of a library; empty for the one that the module imports."""

    names: tuple[str, ...] = ()
    library: str = ""


@dataclass(frozen=True, slots=True)
class Dicts:
    """A dictionary with keys and values of one kind each."""

    keys: Spec
    values: Spec
    min_size: Length = None
    max_size: Length = None


@dataclass(frozen=True, slots=True)
class Anys:
    """Any of several kinds."""

    options: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Objs:
    """What an annotated function returns."""

    generator: str
    """Its `FunctionSpec.name`."""


Spec: TypeAlias = (
    OneOf
    | Bool
    | IntsIn
    | FloatsIn
    | Strings
    | Lists
    | Tuples
    | Shapes
    | Arrays
    | Dtypes
    | Dicts
    | Anys
    | Objs
)


def parts_of(spec: Spec) -> tuple[Spec, ...]:
    """Return the constraints that a constraint is made of."""
    match spec:
        case Lists(item=item):
            return (item,)
        case Tuples(items):
            return items
        case Dicts(keys=keys, values=values):
            return (keys, values)
        case Anys(options):
            return options
        case Arrays(shape=shape):
            return _parts_of_shape(shape)
        case _:
            return ()


def _parts_of_shape(shape: Dims | Reference | Spec | None) -> tuple[Spec, ...]:
    match shape:
        case Dims(dims):
            plain = (int, Reference, SizeOfCall, SizesOfCall)
            return tuple(d for d in dims if d is not None and not isinstance(d, plain))
        case None | Reference():
            return ()
        case _:
            return (shape,)


def generators_of(spec: Spec) -> frozenset[str]:
    """Return the names of the functions that make parts of the value."""
    inner = frozenset[str]().union(*map(generators_of, parts_of(spec)))
    return inner | {spec.generator} if isinstance(spec, Objs) else inner
