"""Clues: facts about an argument, with the place in the program that shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

PlainValue: TypeAlias = "bool | int | float | str | None"


@dataclass(frozen=True, slots=True)
class ArgumentSize:
    """Size of a dimension that is the value of an argument."""

    argument: str


Shape: TypeAlias = "tuple[int | str | ArgumentSize | None, ...]"
"""Sizes of dimensions: a number, a symbol, an argument, or None for any size."""


@dataclass(frozen=True, slots=True)
class SameShape:
    """Shape of another argument."""

    argument: str


@dataclass(frozen=True, slots=True)
class Ranks:
    """Shapes with a number of dimensions in a range, inclusive."""

    low: int
    high: int


ArrayShape: TypeAlias = "Shape | SameShape | Ranks"
"""Known shape of an array."""


class ArgumentClueSource(IntEnum):
    """Source of a clue; if two sources contradict each other, the lower number is trusted."""

    GUARD = 0
    """Assertion or raised exception in the function: Table 1 of the aNNoTest paper, row 2."""
    HINT = 1
    """Type hint."""
    DOC = 2
    """Docstring of the function, or of its class."""
    LIBRARY = 3
    """Call of a library's function in the function's body: row 3 of the table."""
    PROJECT = 4
    """Call of another function of the project in the function's body: row 4 of the table."""
    USE = 5
    """Any other use of the argument in the function's body."""
    CALL = 6
    """Call of the function in the project: row 1 of the table."""
    DEFAULT = 7
    """Default of the parameter."""
    NAME = 8
    """Name of the parameter."""


class ArgumentKind(Enum):
    """Kind of an argument's values; each member's value is the annotation's function."""

    NONE = "None"
    BOOL = "bools"
    INT = "ints"
    FLOAT = "floats"
    TEXT = "froms"
    LIST = "lists"
    TUPLE = "tuples"
    ARRAY = "np_arrays"
    TENSOR = "tensors"


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A range of numbers."""

    low: float | None = None
    """Lower bound; None for no bound."""
    high: float | None = None
    """Upper bound; None for no bound."""
    open_low: bool = False
    """True if the lower bound itself is outside the range."""
    open_high: bool = False
    """True if the upper bound itself is outside the range."""

    def intersection(self, other: NumberRange) -> NumberRange:
        """Return the range of the numbers that lie in both ranges."""
        low, open_low = _tighter((self.low, self.open_low), (other.low, other.open_low), 1)
        high, open_high = _tighter((self.high, self.open_high), (other.high, other.open_high), -1)
        return NumberRange(low, high, open_low, open_high)

    def contains(self, number: float) -> bool:
        """Return whether a number lies in the range."""
        is_above = (
            self.low is None or number > self.low or (number == self.low and not self.open_low)
        )
        is_below = (
            self.high is None or number < self.high or (number == self.high and not self.open_high)
        )
        return is_above and is_below

    @property
    def is_empty(self) -> bool:
        """True if no number lies in the range."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def integer_range(self) -> NumberRange:
        """Return the range from the smallest to the largest integer in this range, inclusive."""
        low, high = self.low, self.high
        if low is not None:
            low = math.floor(low) + 1 if self.open_low else math.ceil(low)
        if high is not None:
            high = math.ceil(high) - 1 if self.open_high else math.floor(high)
        return NumberRange(low, high)


ANY = NumberRange()
"""Range without bounds."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Values that an argument may have, according to one clue."""

    kind: ArgumentKind
    bounds: NumberRange = ANY
    """Range of the numbers, or of an array's elements."""
    examples: tuple[PlainValue, ...] = ()
    """Example values; for strings, all allowed values."""
    items: tuple[Guess, ...] = ()
    """Guesses for the items: one for each item of a tuple, or one for each kind in a list."""
    length: NumberRange = ANY
    """Range of the number of items."""
    shape: ArrayShape | None = None
    """Shape of an array; None for an unknown shape."""
    dtype: str = ""
    """Dtype of an array; empty if unknown."""
    axis_of: str = ""
    """Array of which an integer is an axis; empty for other values."""


@dataclass(frozen=True, slots=True)
class PossibleValues:
    """Fact: the argument may have the values of a guess."""

    guess: Guess


@dataclass(frozen=True, slots=True)
class ValueRange:
    """Fact: the argument lies in a range if it is a number."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class PowersOfTwo:
    """Fact: the argument is a power of two if it is an integer."""


@dataclass(frozen=True, slots=True)
class LengthRange:
    """Fact: the argument's length lies in a range if the argument has a length."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """Fact: the argument is one of a few values."""

    values: tuple[PlainValue, ...]


@dataclass(frozen=True, slots=True)
class NotNone:
    """Fact: the argument is never None."""


@dataclass(frozen=True, slots=True)
class FactoryResult:
    """Fact: the argument is what a function of the project returns, a possible generator."""

    function: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Fact: the argument is an axis if it is an integer."""

    array: str
    """Name of the array argument; empty for the function's first array."""


Fact: TypeAlias = (
    PossibleValues
    | Axis
    | ValueRange
    | PowersOfTwo
    | LengthRange
    | AllowedValues
    | NotNone
    | FactoryResult
)


@dataclass(frozen=True, slots=True)
class ArgumentClue:
    """A fact about an argument, with its source."""

    parameter: str
    """Name of the argument, or of its items; see `item_name`."""
    source: ArgumentClueSource
    fact: Fact
    reason: str
    """Place and source text that show the fact, for the user."""


@dataclass(slots=True)
class Clues:
    """All clues on the arguments of one function."""

    clues: list[ArgumentClue] = field(default_factory=list)
    requires: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of a precondition on several arguments and its reason."""

    def add(self, parameter: str, source: ArgumentClueSource, fact: Fact, reason: str) -> None:
        """Add a clue, unless an equal clue exists."""
        clue = ArgumentClue(parameter, source, fact, reason)
        if clue not in self.clues:
            self.clues.append(clue)

    def extend(self, clues: Iterable[ArgumentClue]) -> None:
        """Add clues, except those that exist already."""
        for clue in clues:
            self.add(clue.parameter, clue.source, clue.fact, clue.reason)

    def for_argument(self, parameter: str) -> list[ArgumentClue]:
        """Return the clues on an argument, in order of trust."""
        of_parameter = [clue for clue in self.clues if clue.parameter == parameter]
        return sorted(of_parameter, key=lambda clue: clue.source)


def _tighter(
    end: tuple[float | None, bool], other: tuple[float | None, bool], sign: int
) -> tuple[float | None, bool]:
    """Return the stricter of two bounds of a range, each with whether it is open.

    Args:
        end: first bound; None for no bound.
        other: second bound.
        sign: 1 for lower bounds, of which the greater is stricter; -1 for upper bounds.
    """
    if end[0] is None or other[0] is None:
        return end if other[0] is None else other
    if end[0] == other[0]:
        return end[0], end[1] or other[1]
    return end if (end[0] - other[0]) * sign > 0 else other
