"""Value constraints: what a parameter accepts, as data.

Constraints come from documentation, annotations and mutation. They are compiled into samplers,
Hypothesis strategies and checks. Parameters of one call may refer to each other by name
(`dtype_of`, `shape_of`, …), or share a symbol that stands for one size in the whole call.
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
    """A size with a symbol that the whole call shares; its first use draws it from a range."""

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
    """Symbol of the size that the int equals; its first use binds the symbol."""
    axis_of: str = ""
    """Name of the parameter of which the int is an axis, possibly negative."""
    step: int = 0
    """Step between valid ints, counted from `min`. With 0 all ints of the range are valid, but of
    a long range only ends, small ints and powers of two are drawn."""


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
    """Precision of the numbers in bits: 16, 32 or 64."""


@dataclass(frozen=True, slots=True)
class Bool:
    """A Python bool."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these values; a value that is listed twice is drawn twice as often."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """A short Python string."""

    max_length: int = 8
    min_length: int = 0
    alphabet: str = ""
    """Valid characters; empty for any."""
    pattern: str = ""
    """Regular expression that the whole string matches; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """A short Python bytes object."""

    max_length: int = 8


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype object of the library."""

    names: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Name of the parameter whose elements have this dtype."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ints:
    """A list of Python ints: sizes, strides, axes, a shape."""

    length: tuple[int, int] = (0, 4)
    min: int = 0
    max: int = 4
    length_of: str = ""
    """Name of the parameter whose rank is the number of ints."""
    axes_of: str = ""
    """Name of the parameter of which the ints are axes."""
    sizes: tuple[str, ...] = ()
    """Symbols of the sizes that the ints equal, in order."""
    increasing: bool = False
    """True if no int is less than its predecessor."""
    as_tuple: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of the target's library."""

    dtypes: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Name of the parameter that has, or is, the same dtype."""
    ndim: tuple[int, int] = (0, 4)
    """Minimum and maximum rank."""
    shape: tuple[Dim, ...] | None = None
    """Pattern of the shape; None for any shape with a rank in `ndim`."""
    shape_of: str = ""
    """Name of the parameter with the same shape."""
    broadcast_with: str = ""
    """Name of the parameter with whose shape this shape broadcasts."""
    low: float | None = None
    """Least element; None if unbounded."""
    high: float | None = None
    """Greatest element; None if unbounded."""
    axis_of: str = ""
    """Name of the parameter of which the elements are axes."""
    index_of: str = ""
    """Name of the parameter whose first dimension the elements index."""
    increasing: bool = False
    """True if no element is less than its predecessor, as in segment numbers."""
    nan: bool = False
    """True if floating elements may be NaN, or infinite without a range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array(Tensor):
    """A numpy array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A list whose items have one constraint."""

    item: Constraint
    length: tuple[int, int] = (0, 3)
    length_of: str = ""
    """Name of the parameter whose length, or rank, is the number of items."""
    uniform: bool = False
    """True if the tensors of the list share one dtype and one shape."""
    as_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple with one constraint per item."""

    items: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Dict:
    """A dictionary with exactly these keys."""

    items: tuple[tuple[str, Constraint], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """A dictionary whose keys have one constraint and whose values have one constraint."""

    key: Constraint
    """Constraint of the keys, which are compared by `key_text`: `1` and `True` are one key."""
    item: Constraint
    length: tuple[int, int] = (0, 3)


@dataclass(frozen=True, slots=True)
class Object:
    """The result of a function of the target for arguments with these constraints."""

    function: str
    arguments: tuple[Constraint, ...] = ()
    keywords: tuple[tuple[str, Constraint], ...] = ()


@dataclass(frozen=True, slots=True)
class Optional:
    """A value with the inner constraint, or None."""

    inner: Constraint
    none_share: float = 0.3
    """Probability that the sampler draws None."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several constraints, drawn by weight."""

    options: tuple[tuple[float, Constraint], ...] = field(default=())

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
    return names + [name for part in _parts(constraint) for name in _referenced_parameters(part)]


_REFERENCE_FIELDS = (
    "dtype_of", "shape_of", "broadcast_with", "axis_of", "axes_of", "index_of", "length_of",
)  # fmt: skip
"""Names of the fields that refer to another parameter."""


def _parts(constraint: Constraint) -> list[Constraint]:
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
    """Return whether `constraint` has a symbol for a size, which other parameters may share."""
    match constraint:
        case Tensor(shape=shape) if shape is not None:
            return any(isinstance(dim, str | Named) for dim in shape)
        case Int(size=symbol):
            return bool(symbol)
        case Ints(sizes=symbols):
            return bool(symbols)
        case _:
            return any(map(has_symbols, _parts(constraint)))
