"""Clues: partial constraints on a parameter, each stated by one source and read by a reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value
    from ciguard.values import Dim


class ClueSource(IntEnum):
    """Source of a clue. If two sources disagree, the source with the smaller number wins."""

    REJECTION = -1
    """The message with which the library rejected a call."""
    OPDEF = 0
    """The operator definition of TensorFlow: types, attributes, allowed values."""
    SCHEMA = 1
    """The operator schema of torch, or a stub made from it."""
    ANNOTATION = 2
    """The type hint in the signature."""
    DOC_TYPE = 3
    """The type in the docstring's parameter section."""
    FAMILY = 4
    """A rule for all operators of a family (convolution, pooling, …)."""
    DOC_PHRASE = 5
    """A phrase of the documentation that a hand-written rule matches."""
    MINED_RULE = 6
    """A sentence of the documentation that a mined rule matches."""
    CLASS = 7
    """A type that is a class of the library, of which no call can contain an instance."""
    DEFAULT = 8
    """The default value in the signature."""
    NAME = 9
    """The parameter's name alone."""


class Structure(StrEnum):
    """Kind of object that a parameter accepts."""

    TENSOR = "tensor"
    TENSORS = "tensors"
    """A list of tensors."""
    NUMBER = "number"
    """An int or a float (torch's Scalar)."""
    INT = "int"
    INTS = "ints"
    FLOAT = "float"
    FLOATS = "floats"
    BOOL = "bool"
    BOOLS = "bools"
    STRING = "string"
    STRINGS = "strings"
    DTYPE = "dtype"
    DTYPES = "dtypes"
    SHAPES = "shapes"
    """A list of lists of ints."""
    DEVICE = "device"
    LAYOUT = "layout"
    FORMAT = "format"
    """torch's memory format."""
    OPAQUE = "opaque"
    """An object that cannot be generated: a callable, a generator, an open handle."""


LEAD = "*"
"""Placeholder for the name of the first tensor parameter of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """Partial constraint that one source states for one parameter.

    Fields that the source does not state keep their defaults.
    """

    source: ClueSource
    """Source that states the constraint."""
    evidence: str
    """Text that states the constraint: a phrase, a schema type or a default value."""
    rule: str = ""
    """Pattern or name of the rule that read the text; empty if the source has no rules."""
    structures: tuple[Structure, ...] = ()
    """Kinds of objects that are accepted."""
    dtypes: tuple[str, ...] = ()
    """Dtypes that are accepted."""
    dtype_of: str = ""
    """Name of the parameter whose dtype the value must have."""
    ndim: tuple[int, int] | None = None
    """Minimum and maximum number of dimensions."""
    shape: tuple[Dim, ...] | None = None
    """Shape, one size or symbol per dimension."""
    shape_of: str = ""
    """Name of the parameter whose shape the value must have."""
    broadcast_with: str = ""
    """Name of the parameter with which the value must broadcast."""
    low: float | None = None
    """Minimum of the value or of each element, inclusive."""
    high: float | None = None
    """Maximum of the value or of each element, inclusive."""
    axis_of: str = ""
    """Name of the tensor parameter of which the value is an axis."""
    index_of: str = ""
    """Name of the tensor parameter whose elements the value indexes."""
    increasing: bool = False
    """True if the elements must not decrease."""
    size: str = ""
    """Symbol in the shape of a tensor; an int must equal the size that the symbol has."""
    length: tuple[int, int] | None = None
    """Minimum and maximum length of a list."""
    length_of: str = ""
    """Name of the tensor parameter whose number of dimensions is the list's length."""
    allowed: tuple[Value, ...] = ()
    """The only values that are accepted; empty if the source does not limit them."""
    nullable: bool | None = None
    """True if None is accepted; None if the source does not state it."""


Reader: TypeAlias = Callable[["ApiRecord", "ParameterRecord"], list[Clue]]
"""Pure function from an API's record and one of its parameters to the clues of one source."""
