"""Constraints in annotations, as data; see `ciguard.annotations`.

Unlike the constraints of `ciguard.values`, they may have bounds, lengths and shapes that depend on
other arguments, or have defaults. Once the other arguments of a call are known,
`functions.solving.constraints` converts a constraint to one of `ciguard.values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ciguard.values import Bool, OneOf


@dataclass(frozen=True, slots=True)
class Reference:
    """A number, shape or dtype that depends on other arguments."""

    expression: str
    """Python expression of the other arguments."""


@dataclass(frozen=True, slots=True)
class SymbolicSize:
    """A dimension's size in a type hint, as an expression of symbols, such as `b` or `2*b`."""

    expression: str
    """Python expression of symbols; a symbol has the same value throughout a call."""


@dataclass(frozen=True, slots=True)
class SymbolicSizes:
    """Any number of dimensions in a type hint, such as `...` or `*batch`."""

    symbol: str
    """Name for their sizes, which are the same throughout a call; empty if they may differ."""


Bound: TypeAlias = "int | float | Reference | None"
"""Bound of a number; None for no bound."""
Length: TypeAlias = "int | Reference | None"
"""Bound of a length; None for the default."""


@dataclass(frozen=True, slots=True)
class IntRange:
    """An integer in a closed range."""

    min: Bound = None
    max: Bound = None
    step: int = 1
    """Difference of successive values; more than 1 only if a precondition fixes a remainder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatRange:
    """A floating-point number in a range; for the options see `ciguard.annotations.floats`."""

    min: Bound = None
    max: Bound = None
    exclude_min: bool = False
    exclude_max: bool = False
    nan: bool = False
    inf: bool = False
    width: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """A string; for the options see `ciguard.annotations.strings`."""

    min_len: Length = None
    max_len: Length = None
    alphabet: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Lists:
    """A list, or a tuple, whose items all conform to one constraint."""

    item: Spec
    min_len: Length = None
    max_len: Length = None
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuples:
    """A tuple with one constraint per item."""

    items: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Shapes:
    """A tuple of sizes, which are positive integers."""

    min_dims: Length = None
    max_dims: Length = None
    min_side: int | None = None
    max_side: int | None = None


@dataclass(frozen=True, slots=True)
class Dims:
    """A shape with a known number of dimensions, apart from `SymbolicSizes`."""

    dims: tuple[int | Reference | SymbolicSize | SymbolicSizes | Spec | None, ...]
    """Size, or constraint of the size, of each dimension; None for any size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """A numpy array, or a tensor of a library; see `ciguard.annotations.np_arrays`."""

    dtype: tuple[str, ...] | Reference | None = None
    """Valid dtypes; None for the common dtypes."""
    shape: Dims | Reference | Spec | None = None
    """Constraint of the shape; None for any shape."""
    min: Bound = None
    max: Bound = None
    nan: bool = False
    is_tensor: bool = False
    library: str = ""
    """Name of a tensor's library; empty for the library of the target."""


@dataclass(frozen=True, slots=True)
class Dtypes:
    """A dtype object of a library."""

    names: tuple[str, ...] = ()
    library: str = ""
    """Name of the dtype's library; empty for the library of the target."""


@dataclass(frozen=True, slots=True)
class Dicts:
    """A dictionary with one constraint for keys and one for values."""

    keys: Spec
    values: Spec
    min_size: Length = None
    max_size: Length = None


@dataclass(frozen=True, slots=True)
class Anys:
    """A value that satisfies one of several constraints."""

    options: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class Objs:
    """A value that an annotated function returns."""

    generator: str
    """Name of the function, as `FunctionSpec.name`."""


Spec: TypeAlias = (
    OneOf
    | Bool
    | IntRange
    | FloatRange
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
    """Return the constraints of which a constraint consists, such as that of a list's items."""
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
            not_specs = (int, Reference, SymbolicSize, SymbolicSizes)
            return tuple(dim for dim in dims if dim is not None and not isinstance(dim, not_specs))
        case None | Reference():
            return ()
        case _:
            return (shape,)


def generators_of(spec: Spec) -> frozenset[str]:
    """Return the names of the functions that generate values of a constraint, or their parts."""
    inner = frozenset[str]().union(*map(generators_of, parts_of(spec)))
    return inner | {spec.generator} if isinstance(spec, Objs) else inner
