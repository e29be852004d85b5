"""Clues: facts about an argument from one place of a program, with how far the place is trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Plain: TypeAlias = "bool | int | float | str | None"


class ArgumentClueSource(IntEnum):
    """Source of a clue. If sources contradict each other, the lower number wins."""

    GUARD = 0
    """Assertion or raised exception in the function: Table 1 of the paper, row 2."""
    HINT = 1
    """Type hint."""
    LIBRARY = 2
    """Call of a library's function in the body: row 3."""
    PROJECT = 3
    """Call of another function of the project in the body: row 4."""
    USE = 4
    """Any other use of the argument in the body."""
    CALL = 5
    """Call of the function in the project: row 1."""
    DEFAULT = 6
    NAME = 7


class ArgumentKind(Enum):
    """Kind of an argument's values; the value names the annotation."""

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
    """A range of numbers; an end is closed unless it is marked open."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def within(self, other: NumberRange) -> NumberRange:
        """Return the intersection of two ranges."""
        low, open_low = _tighter((self.low, self.open_low), (other.low, other.open_low), 1)
        high, open_high = _tighter((self.high, self.open_high), (other.high, other.open_high), -1)
        return NumberRange(low, high, open_low, open_high)

    def holds(self, number: float) -> bool:
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

    def closed(self) -> NumberRange:
        """Return the closed range of the integers in this one."""
        low, high = self.low, self.high
        if low is not None:
            low = math.floor(low) + 1 if self.open_low else math.ceil(low)
        if high is not None:
            high = math.ceil(high) - 1 if self.open_high else math.floor(high)
        return NumberRange(low, high)


ANY = NumberRange()


@dataclass(frozen=True, slots=True)
class Guess:
    """Values that an argument may take, according to one clue."""

    kind: ArgumentKind
    bounds: NumberRange = ANY
    """Range of numbers, or of the elements of arrays."""
    seen: tuple[Plain, ...] = ()
    """Example values; for texts, all allowed ones."""
    items: tuple[Guess, ...] = ()
    """Kinds of a list's items, or the items of a tuple."""
    length: NumberRange = ANY
    sides: tuple[int | None, ...] | None = None
    """Shape of an array; None for a dimension of any size."""
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class MayBe:
    """The argument may have values of a guess."""

    guess: Guess


@dataclass(frozen=True, slots=True)
class Limited:
    """The argument lies in a range, if it is a number."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class LengthLimited:
    """The argument's length lies in a range, if it has a length."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class Only:
    """The argument is one of a few values."""

    values: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class NotNone:
    """The argument must not be None."""


@dataclass(frozen=True, slots=True)
class FactoryResult:
    """The argument is the result of a function of the project, which may serve as generator."""

    function: str


Fact: TypeAlias = MayBe | Limited | LengthLimited | Only | NotNone | FactoryResult


@dataclass(frozen=True, slots=True)
class ArgumentClue:
    """A fact about an argument, with its source and the reason for the user."""

    parameter: str
    source: ArgumentClueSource
    fact: Fact
    reason: str


@dataclass(slots=True)
class Clues:
    """All clues on the arguments of one function."""

    clues: list[ArgumentClue] = field(default_factory=list)
    requires: list[tuple[str, str]] = field(default_factory=list)
    """Preconditions on several arguments, each with its reason."""

    def add(self, parameter: str, source: ArgumentClueSource, fact: Fact, reason: str) -> None:
        """Add a clue, unless it is known."""
        clue = ArgumentClue(parameter, source, fact, reason)
        if clue not in self.clues:
            self.clues.append(clue)

    def extend(self, clues: Iterable[ArgumentClue]) -> None:
        """Add clues, except those that are known."""
        for clue in clues:
            self.add(clue.parameter, clue.source, clue.fact, clue.reason)

    def of(self, parameter: str) -> list[ArgumentClue]:
        """Return the clues on an argument, the most trusted first."""
        of_parameter = [clue for clue in self.clues if clue.parameter == parameter]
        return sorted(of_parameter, key=lambda clue: clue.source)


def _tighter(
    end: tuple[float | None, bool], other: tuple[float | None, bool], sign: int
) -> tuple[float | None, bool]:
    """Return the stricter of two ends: the greater lower end (sign 1) or the lesser upper end."""
    if end[0] is None or other[0] is None:
        return end if other[0] is None else other
    if end[0] == other[0]:
        return end[0], end[1] or other[1]
    return end if (end[0] - other[0]) * sign > 0 else other
