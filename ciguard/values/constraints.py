"""Value constraints: data that describe what a parameter accepts.

Constraints come from documentation, annotations and mutation. They are compiled to samplers,
Hypothesis strategies and checks. The constraints of a call may refer to each other's parameters by
name (`dtype_of`, `shape_of`, …), or share a symbol that stands for the same size in the whole call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types

if TYPE_CHECKING:
    from ciguard.domain.values import Value


@dataclass(frozen=True, slots=True)
class RankOf:
    """A size that equals the rank of another parameter's value."""

    parameter: str


@dataclass(frozen=True, slots=True)
class SizeOf:
    """A size that equals one dimension of another parameter's value."""

    parameter: str
    axis: int


@dataclass(frozen=True, slots=True)
class Named:
    """A size that is drawn from a range and has a symbol, which stands for it in the whole call."""

    symbol: str
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Between:
    """A size in a range, independent of the other sizes."""

    min: int
    max: int


Dim: TypeAlias = int | str | Named | RankOf | SizeOf | Between
"""One dimension: exact, a symbol shared by the whole call, a reference, or a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Int:
    """A Python int."""

    min: int = -4
    max: int = 8
    size: str = ""
    """Symbol of the size that the int must equal; empty for none. The first use of a symbol in a
    call decides its size."""
    axis_of: str = ""
    """Name of the parameter whose axis the int is; empty for none. An axis may be negative."""
    step: int = 0
    """Distance between valid ints, counted from `min`. With 0, all ints of the range are valid, but
    of a long range only the ends, small ints and powers of two are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Float:
    """A Python float."""

    min: float = -10.0
    max: float = 10.0
    nan: bool = False
    inf: bool = False
    exclude_min: bool = False
    exclude_max: bool = False
    width: int = 64
    """Width of the floating-point format in bits: 16, 32 or 64."""


@dataclass(frozen=True, slots=True)
class Bool:
    """A Python bool."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of the listed values. A value that is listed twice is drawn twice as often."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """A short Python string."""

    max_length: int = 8
    min_length: int = 0
    alphabet: str = ""
    """Valid characters; empty if all characters are valid."""
    pattern: str = ""
    """Regular expression that the whole string must match; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """A short Python bytes object."""

    max_length: int = 8


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype object of the library."""

    names: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Name of the parameter whose elements must have the dtype; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ints:
    """A list of Python ints, such as sizes, strides, axes or a shape."""

    length: tuple[int, int] = (0, 4)
    """Minimum and maximum number of ints."""
    min: int = 0
    max: int = 4
    length_of: str = ""
    """Name of the parameter whose rank is the number of ints; empty for none."""
    axes_of: str = ""
    """Name of the parameter whose axes the ints are; empty for none."""
    sizes: tuple[str, ...] = ()
    """Symbols of the sizes that the ints must equal, in order; empty for none."""
    increasing: bool = False
    """True if no int is less than its predecessor."""
    as_tuple: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of the target's library."""

    dtypes: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Name of a parameter whose dtype, or whose value if it is a dtype, the tensor must have; empty
    for none."""
    ndim: tuple[int, int] = (0, 4)
    """Minimum and maximum rank, if `shape` is None."""
    shape: tuple[Dim, ...] | None = None
    """Size of each dimension; None for any shape with a rank in `ndim`."""
    shape_of: str = ""
    """Name of a parameter whose shape the tensor must have; empty for none."""
    broadcast_with: str = ""
    """Name of a parameter with whose shape the tensor's shape must broadcast; empty for none."""
    low: float | None = None
    """Minimum element; None if unbounded."""
    high: float | None = None
    """Maximum element; None if unbounded."""
    axis_of: str = ""
    """Name of the parameter whose axes the elements are; empty for none."""
    index_of: str = ""
    """Name of the parameter whose first dimension the elements index; empty for none."""
    increasing: bool = False
    """True if no element is less than its predecessor, as in segment numbers."""
    nan: bool = False
    """True if floating-point elements may be NaN and, if the tensor has no range, infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array(Tensor):
    """A numpy array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A list whose items have the same constraint."""

    item: Constraint
    """Constraint of each item."""
    length: tuple[int, int] = (0, 3)
    """Minimum and maximum number of items."""
    length_of: str = ""
    """Name of the parameter whose length or rank is the number of items; empty for none."""
    uniform: bool = False
    """True if the tensors of the list must have the same dtype and shape."""
    as_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple with a constraint for each item."""

    items: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Dict:
    """A dictionary with a fixed set of string keys."""

    items: tuple[tuple[str, Constraint], ...]
    """Each key and the constraint of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A dictionary of variable length, with one constraint for its keys and one for its values."""

    key: Constraint
    """Constraint of each key. As in Python, `1` and `True` are the same key (see `key_text`)."""
    item: Constraint
    """Constraint of each value."""
    length: tuple[int, int] = (0, 3)
    """Minimum and maximum number of items."""


@dataclass(frozen=True, slots=True)
class Object:
    """The result of a function call in the target."""

    function: str
    """Qualified name of the function."""
    arguments: tuple[Constraint, ...] = ()
    """Constraints of the positional arguments."""
    keywords: tuple[tuple[str, Constraint], ...] = ()
    """Name and constraint of each keyword argument."""


@dataclass(frozen=True, slots=True)
class Optional:
    """None, or a value that satisfies the inner constraint."""

    inner: Constraint
    none_share: float = 0.3
    """Probability that the sampler draws None."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A value that satisfies one of several constraints."""

    options: tuple[tuple[float, Constraint], ...] = field(default=())
    """Weight and constraint of each option; an option is drawn in proportion to its weight."""

    def __post_init__(self) -> None:
        if not self.options:
            msg = "AnyOf needs at least one option"
            raise ValueError(msg)


Constraint: TypeAlias = (
    Int
    | Float
    | Bool
    | OneOf
    | String
    | Bytes
    | Dtype
    | Ints
    | Tensor
    | List
    | Tuple
    | Dict
    | Mapping
    | Object
    | Optional
    | AnyOf
)


def references(constraint: Constraint) -> frozenset[str]:
    """Return the names of the parameters that `constraint` refers to."""
    return frozenset(_referenced_parameters(constraint)) - {""}


def _referenced_parameters(constraint: Constraint) -> list[str]:
    names = [getattr(constraint, field, "") for field in _REFERENCE_FIELDS]
    if isinstance(constraint, Tensor):
        dims = constraint.shape or ()
        names += [dim.parameter for dim in dims if isinstance(dim, RankOf | SizeOf)]
    return names + [
        name for inner in _inner_constraints(constraint) for name in _referenced_parameters(inner)
    ]


_REFERENCE_FIELDS = (
    "dtype_of", "shape_of", "broadcast_with", "axis_of", "axes_of", "index_of", "length_of",
)  # fmt: skip
"""Names of the fields that hold the name of another parameter."""


def _inner_constraints(constraint: Constraint) -> list[Constraint]:
    """Return the constraints that a constraint consists of; empty for a simple one."""
    match constraint:
        case AnyOf():
            return [option for _, option in constraint.options]
        case Tuple():
            return list(constraint.items)
        case Dict(items) | Object(keywords=items):
            first = constraint.arguments if isinstance(constraint, Object) else ()
            return [*first, *(item for _, item in items)]
        case Mapping(key=key, item=item):
            return [key, item]
        case Optional(inner) | List(item=inner):
            return [inner]
        case _:
            return []


def has_symbols(constraint: Constraint) -> bool:
    """Return whether `constraint` has a symbol of a size, which other constraints may share."""
    match constraint:
        case Tensor(shape=shape) if shape is not None:
            return any(isinstance(dim, str | Named) for dim in shape)
        case Int(size=symbol):
            return bool(symbol)
        case Ints(sizes=symbols):
            return bool(symbols)
        case _:
            return any(map(has_symbols, _inner_constraints(constraint)))
