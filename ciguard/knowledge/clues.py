"""Clues: what one source says of one parameter. The currency of the readers in this room."""

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
    """Where a clue comes from. The lesser outranks the greater where two disagree."""

    REJECTION = -1
    """What the library itself said when it refused a call."""
    OPDEF = 0
    """The operator definition of TensorFlow: types, attributes, allowed values."""
    SCHEMA = 1
    """The operator schema of torch, or a stub made from it."""
    ANNOTATION = 2
    DOC_TYPE = 3
    """The type in the docstring's parameter section."""
    FAMILY = 4
    """What all operators of a family (convolution, pooling, …) ask of their parameters."""
    DOC_PHRASE = 5
    """A phrase of the documentation that a hand-written rule knows."""
    MINED_RULE = 6
    """A sentence of the documentation that a mined rule knows."""
    DEFAULT = 7
    NAME = 8
    """The parameter's name alone."""


class Structure(StrEnum):
    """What kind of object a parameter takes."""

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
    """Something that generation cannot make: a callable, a generator, an open handle."""


LEAD = "*"
"""Stands for the first tensor parameter of the call, whatever its name is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What one source says of one parameter; what it does not say stays at its default."""

    source: ClueSource
    evidence: str
    """The words of the source: the phrase, the schema type, the default."""
    rule: str = ""
    """Which of the source's rules read them; empty where the source has no rules."""
    structures: tuple[Structure, ...] = ()
    dtypes: tuple[str, ...] = ()
    dtype_of: str = ""
    ndim: tuple[int, int] | None = None
    shape: tuple[Dim, ...] | None = None
    shape_of: str = ""
    broadcast_with: str = ""
    low: float | None = None
    high: float | None = None
    axis_of: str = ""
    index_of: str = ""
    increasing: bool = False
    size: str = ""
    """Symbol of the size that an int is."""
    length: tuple[int, int] | None = None
    """Of a list."""
    length_of: str = ""
    allowed: tuple[Value, ...] = ()
    nullable: bool | None = None


Reader: TypeAlias = Callable[["ApiRecord", "ParameterRecord"], list[Clue]]
"""Reads the clues of one source. Pure: it knows the record only."""
