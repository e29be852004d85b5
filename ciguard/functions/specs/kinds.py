"""Kinds of constraints in annotations, as data; see `ciguard.annotations`.

Constraints that depend on no other argument are those of `ciguard.values`. The kinds here have
bounds, lengths and shapes that are open or depend on other arguments. Once these arguments are
known, `functions.solving.constraints` converts them to `ciguard.values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ciguard.values import Bool, OneOf


@dataclass(frozen=True, slots=True)
class Reference:
    """A value that depends on other arguments, as an expression of them."""

    expression: str


@dataclass(frozen=True, slots=True)
class SymbolicSize:
    """A size as an expression of symbols, such as `b` or `2*b` in the shape of a hint."""

    expression: str


@dataclass(frozen=True, slots=True)
class SymbolicSizes:
    """Any number of sizes. The same symbol means the same sizes throughout a call."""

    symbol: str


Bound: TypeAlias = "int | float | Reference | None"
Length: TypeAlias = "int | Reference | None"


@dataclass(frozen=True, slots=True)
class IntsIn:
    """An integer in a closed range."""

    min: Bound = None
    max: Bound = None
    step: int = 1
    """Distance of neighbours; more than 1 only if a precondition fixes the remainder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatsIn:
    """A floating-point number in a range."""

    min: Bound = None
    max: Bound = None
    exclude_min: bool = False
    exclude_max: bool = False
    nan: bool = False
    inf: bool = False
    width: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """A string."""

    min_len: Length = None
    max_len: Length = None
    alphabet: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Lists:
    """A list whose items share one constraint; a tuple if `is_tuple`."""

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
    """A shape of known rank, with a size or its constraint per dimension; None allows any size."""

    dims: tuple[int | Reference | SymbolicSize | SymbolicSizes | Spec | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """A numpy array, or a tensor of a library."""

    dtype: tuple[str, ...] | Reference | None = None
    shape: Dims | Reference | Spec | None = None
    min: Bound = None
    max: Bound = None
    nan: bool = False
    is_tensor: bool = False
    library: str = ""
    """Library of a tensor; empty for the one that the module imports."""


@dataclass(frozen=True, slots=True)
class Dtypes:
    """A dtype object of a library."""

    names: tuple[str, ...] = ()
    library: str = ""
    """Library of the dtype; empty for the one that the module imports."""


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
    """Return the constraints of the parts of a value, such as a list's items."""
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
    """Return the names of the functions that generate the value or parts of it."""
    inner = frozenset[str]().union(*map(generators_of, parts_of(spec)))
    return inner | {spec.generator} if isinstance(spec, Objs) else inner
