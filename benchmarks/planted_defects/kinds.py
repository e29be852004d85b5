"""The kinds of defects, and what a run can show of each."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Trace(Enum):
    """In what a finding shows a defect. Of one API, no two defects leave the same trace."""

    RESULT = "result"
    """Values, element type, shape or structure of what is returned."""
    ARGUMENTS = "arguments"
    """The arguments are not what they were."""
    GRADIENT = "gradient"
    ACCEPTED = "accepted"
    """Passes, where the reference refuses."""
    REFUSED = "refused"
    EXCEPTION = "exception"
    """Refuses with another class of exception."""
    DEATH = "death"
    TIME = "time"
    MEMORY = "memory"


class Kind(Enum):
    """What is wrong with a planted function. Wrapped in this order, the last one outermost.

    What computes three times goes innermost: it must not see what the others do to arguments.
    """

    LEAK = "leak"
    """Each call keeps 4 KiB for good."""
    SLOW = "3x slowdown"
    """The function is computed three times."""
    STRIDES = "non-contiguous input read wrongly"
    """The first tensor is read as if its elements lay side by side."""
    IGNORED = "ignored argument"
    """One optional argument is taken for its default."""
    BOUNDS = "missing bounds check"
    """One argument out of its range is taken for another that is inside."""
    VALUE = "wrong value"
    """Every element is larger by one thousandth."""
    NAN = "wrong NaN handling"
    """Zero in place of NaN."""
    DTYPE = "wrong dtype"
    """The neighbouring element type: float64 for float32, int32 for int64, uint8 for bool."""
    SHAPE = "off-by-one shape"
    """The last element of the last dimension is missing; a single number gets a dimension."""
    GRADIENT = "wrong gradient"
    """The gradient is half as large again."""
    CORRUPTION = "in-place corruption of an input"
    """One is added to the first element of the first floating-point argument."""
    EXCEPTION = "changed exception class"
    """RuntimeError becomes ValueError, any other class RuntimeError."""
    CRASH = "crash for an edge value"
    """A segmentation fault for a tensor without elements, without dimensions, or with infinity."""

    @property
    def traces(self) -> frozenset[Trace]:
        """What a finding may show of such a defect."""
        return _TRACES[self]


_TRACES = {
    Kind.LEAK: frozenset({Trace.MEMORY}),
    Kind.SLOW: frozenset({Trace.TIME}),
    Kind.STRIDES: frozenset({Trace.RESULT}),
    # An argument that is out of order is not seen either: the call passes, or fails later.
    Kind.IGNORED: frozenset({Trace.RESULT, Trace.ACCEPTED, Trace.REFUSED, Trace.EXCEPTION}),
    Kind.BOUNDS: frozenset({Trace.ACCEPTED}),
    Kind.VALUE: frozenset({Trace.RESULT}),
    # What a check of gradients does with NaN, other types and changed arguments is no gradient's.
    Kind.NAN: frozenset({Trace.RESULT, Trace.GRADIENT}),
    Kind.DTYPE: frozenset({Trace.RESULT, Trace.GRADIENT}),
    Kind.SHAPE: frozenset({Trace.RESULT}),
    Kind.GRADIENT: frozenset({Trace.GRADIENT}),
    Kind.CORRUPTION: frozenset({Trace.ARGUMENTS, Trace.GRADIENT}),
    Kind.EXCEPTION: frozenset({Trace.EXCEPTION}),
    Kind.CRASH: frozenset({Trace.DEATH}),
}


class Argument(NamedTuple):
    """One argument of a function, and what it is taken for."""

    name: str
    place: int
    """Position if not given by name; a method's receiver counts. -1: by name only."""
    instead: object
    """For a tensor, a tensor of this number."""
