"""What one place of a program says of one argument, and how much such a place is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Plain: TypeAlias = "bool | int | float | str | None"


class ArgumentClueSource(IntEnum):
    """Where a clue comes from. The lesser outranks the greater where two disagree."""

    GUARD = 0
    """An assertion, or an exception that is raised: Table 1 of the paper, row 2."""
    HINT = 1
    """A type hint."""
    LIBRARY = 2
    """A call of a library's function inside: row 3."""
    PROJECT = 3
    """A call of another function of the project inside: row 4."""
    USE = 4
    """Any other use of the argument inside."""
    CALL = 5
    """A call of the function in the project: row 1."""
    DEFAULT = 6
    NAME = 7


class ArgumentKind(Enum):
    """What an argument may be."""

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
    """A range of numbers, its ends open where that is said."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def within(self, other: NumberRange) -> NumberRange:
        """Return what lies in both ranges."""
        low, open_low = _tighter((self.low, self.open_low), (other.low, other.open_low), 1)
        high, open_high = _tighter((self.high, self.open_high), (other.high, other.open_high), -1)
        return NumberRange(low, high, open_low, open_high)

    def holds(self, number: float) -> bool:
        """Return whether a number lies in the range."""
        above = self.low is None or number > self.low or (number == self.low and not self.open_low)
        below = (
            self.high is None or number < self.high or (number == self.high and not self.open_high)
        )
        return above and below

    @property
    def is_empty(self) -> bool:
        """Whether no number lies in the range."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def closed(self) -> NumberRange:
        """Return the range of the integers in it, whose ends are closed."""
        low, high = self.low, self.high
        if low is not None:
            low = math.floor(low) + 1 if self.open_low else math.ceil(low)
        if high is not None:
            high = math.ceil(high) - 1 if self.open_high else math.floor(high)
        return NumberRange(low, high)


ANY = NumberRange()


@dataclass(frozen=True, slots=True)
class Guess:
    """Values that an argument may take, as far as one clue tells."""

    kind: ArgumentKind
    bounds: NumberRange = ANY
    """Of numbers, and of the elements of arrays."""
    seen: tuple[Plain, ...] = ()
    """Examples; of texts, all that there are."""
    items: tuple[Guess, ...] = ()
    """Of a list, what its items may be; of a tuple, its items."""
    length: NumberRange = ANY
    sides: tuple[int | None, ...] | None = None
    """Shape of an array; None for a side of any length."""
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class MayBe:
    """The argument may be this."""

    guess: Guess


@dataclass(frozen=True, slots=True)
class Limited:
    """Where the argument is a number, it lies in this range."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class LengthLimited:
    """Where the argument has a length, it lies in this range."""

    bounds: NumberRange


@dataclass(frozen=True, slots=True)
class Only:
    """The argument is one of these."""

    values: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class NotNone:
    """The argument must be given."""


@dataclass(frozen=True, slots=True)
class FactoryResult:
    """The argument is what a function of the project returns: it may serve as a generator."""

    function: str


Fact: TypeAlias = MayBe | Limited | LengthLimited | Only | NotNone | FactoryResult


@dataclass(frozen=True, slots=True)
class ArgumentClue:
    """A fact about an argument, who says so, and in which words."""

    parameter: str
    source: ArgumentClueSource
    fact: Fact
    reason: str


@dataclass(slots=True)
class Clues:
    """All that has been found of one function."""

    found: list[ArgumentClue] = field(default_factory=list)
    requires: list[tuple[str, str]] = field(default_factory=list)
    """Preconditions that concern several arguments, each with its reason."""

    def add(self, parameter: str, source: ArgumentClueSource, fact: Fact, reason: str) -> None:
        """Note a clue, once."""
        clue = ArgumentClue(parameter, source, fact, reason)
        if clue not in self.found:
            self.found.append(clue)

    def extend(self, clues: Iterable[ArgumentClue]) -> None:
        """Note clues, each once."""
        for clue in clues:
            self.add(clue.parameter, clue.source, clue.fact, clue.reason)

    def of(self, parameter: str) -> list[ArgumentClue]:
        """Return what is known of an argument, the most trusted first."""
        mine = [clue for clue in self.found if clue.parameter == parameter]
        return sorted(mine, key=lambda clue: clue.source)


def _tighter(
    one: tuple[float | None, bool], other: tuple[float | None, bool], sign: int
) -> tuple[float | None, bool]:
    """Return the end that leaves less: of lower ends (sign 1) the greater, else the lesser."""
    if one[0] is None or other[0] is None:
        return one if other[0] is None else other
    if one[0] == other[0]:
        return one[0], one[1] or other[1]
    return one if (one[0] - other[0]) * sign > 0 else other
