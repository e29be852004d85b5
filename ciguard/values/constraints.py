"""The one language of value constraints: what a parameter accepts, as data.

Three sources speak it (documentation, annotations, mutation) and three compilers read it: the
sampler, the Hypothesis strategy and the checker. Parameters of one call may refer to each other:
by name (`dtype_of`, `shape_of`, …) or through a symbol that stands for one size in the whole call.
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
    """A size that a symbol stands for in the whole call, drawn from a range by its first user."""

    symbol: str
    min: int
    max: int


@dataclass(frozen=True, slots=True)
class Between:
    """A size anywhere in a range, whatever the other sizes are."""

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
    """Symbol: the int equals the size of that name, or names it when it is the first to."""
    axis_of: str = ""
    """Parameter: the int is one of its axes, negative ones included."""
    step: int = 0
    """Between neighbours, counted from `min`. With 0 they are neighbours too, but of a long range
    only those are drawn that programs stumble over."""


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
    """Bits that its numbers fit into: 16, 32 or 64."""


@dataclass(frozen=True, slots=True)
class Bool:
    """A Python bool."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these values; those listed twice are drawn twice as often."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """A short Python string."""

    max_length: int = 8
    min_length: int = 0
    alphabet: str = ""
    """Characters that it is made of; empty for any."""
    pattern: str = ""
    """Regular expression that the whole of it matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """A short Python bytes object."""

    max_length: int = 8


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype object of the library."""

    names: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Parameter: the dtype is the one of its elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ints:
    """A list of Python ints: sizes, strides, axes, a shape."""

    length: tuple[int, int] = (0, 4)
    min: int = 0
    max: int = 4
    length_of: str = ""
    """Parameter: as many ints as its value has dimensions."""
    axes_of: str = ""
    """Parameter: the ints are axes of its value."""
    sizes: tuple[str, ...] = ()
    """Symbols: the ints are the sizes of these names, in order."""
    increasing: bool = False
    """Each is at least the one before."""
    as_tuple: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor of the target's library."""

    dtypes: tuple[str, ...] = element_types.COMMON
    dtype_of: str = ""
    """Parameter whose elements (or which, if it is a dtype) have the same dtype."""
    ndim: tuple[int, int] = (0, 4)
    shape: tuple[Dim, ...] | None = None
    """Pattern of the shape; None leaves it to `ndim`."""
    shape_of: str = ""
    """Parameter that has the same shape."""
    broadcast_with: str = ""
    """Parameter whose shape this one's broadcasts with."""
    low: float | None = None
    high: float | None = None
    axis_of: str = ""
    """Parameter: the elements are axes of its value."""
    index_of: str = ""
    """Parameter: the elements index the first dimension of its value."""
    increasing: bool = False
    """Each element is at least the one before, as in segment numbers."""
    nan: bool = False
    """True if floating elements may be NaN, or infinite where no range is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Array(Tensor):
    """A numpy array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A list of values of one kind."""

    item: Constraint
    length: tuple[int, int] = (0, 3)
    length_of: str = ""
    """Parameter: as many items as its list has, or as its value has dimensions."""
    uniform: bool = False
    """Tensors of the list share one dtype and one shape."""
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
    """A dictionary with keys of one kind and values of one kind."""

    key: Constraint
    """Its values are told apart by their text: `1` and `True` would be one key."""
    item: Constraint
    length: tuple[int, int] = (0, 3)


@dataclass(frozen=True, slots=True)
class Object:
    """What a function of the target returns for arguments of these kinds."""

    function: str
    arguments: tuple[Constraint, ...] = ()
    keywords: tuple[tuple[str, Constraint], ...] = ()


@dataclass(frozen=True, slots=True)
class Optional:
    """The inner kind, or None."""

    inner: Constraint
    none_share: float = 0.3
    """How often the sampler draws None."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of several kinds, drawn by weight."""

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
    return frozenset(_referred(constraint)) - {""}


def _referred(constraint: Constraint) -> list[str]:
    names = [getattr(constraint, field, "") for field in _REFERRING]
    if isinstance(constraint, Tensor):
        dims = constraint.shape or ()
        names += [dim.parameter for dim in dims if isinstance(dim, RankOf | SizeOf)]
    return names + [name for part in _parts(constraint) for name in _referred(part)]


_REFERRING = (
    "dtype_of", "shape_of", "broadcast_with", "axis_of", "axes_of", "index_of", "length_of",
)  # fmt: skip
"""Fields that name another parameter."""


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
    """Return whether some size of `constraint` has a name that other parameters may share."""
    match constraint:
        case Tensor(shape=shape) if shape is not None:
            return any(isinstance(dim, str | Named) for dim in shape)
        case Int(size=symbol):
            return bool(symbol)
        case Ints(sizes=symbols):
            return bool(symbols)
        case _:
            return any(map(has_symbols, _parts(constraint)))
