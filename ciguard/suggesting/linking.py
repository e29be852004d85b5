"""Relates the guesses for an argument to other arguments: sizes, shapes and axes."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.suggesting.argument_flow import item_name
from ciguard.suggesting.clues import (
    AllowedValues,
    ArgumentClueSource,
    ArgumentKind,
    ArgumentSize,
    Axis,
    Guess,
    NumberRange,
    Ranks,
    SameShape,
    ValueRange,
)
from ciguard.suggesting.combine import CombinedClues, combine

if TYPE_CHECKING:
    from ciguard.suggesting.clues import Clues
    from ciguard.suggesting.functions import UnannotatedFunction

ARRAYS = {ArgumentKind.ARRAY, ArgumentKind.TENSOR}


class LinkedArguments:
    """The guesses for all arguments of one function."""

    def __init__(self, subject: UnannotatedFunction, clues: Clues) -> None:
        """Combine the clues on each argument."""
        self._subject = subject
        self._clues = clues
        self._combined = {
            name: combine(clues.for_argument(name), clues.for_argument(item_name(name)))
            for name in subject.parameters
        }

    def combined(self, name: str) -> CombinedClues:
        """Return the guesses for an argument, with references to other arguments."""
        combined = self._combined[name]
        options = tuple(self._with_references(option) for option in combined.options)
        return replace(combined, options=self._with_axis(name, options))

    def _with_references(self, option: Guess) -> Guess:
        """Return a guess whose shape refers to other arguments where it names them."""
        match option.shape:
            case tuple():
                sizes = tuple(
                    ArgumentSize(size) if isinstance(size, str) and self._is_integer(size) else size
                    for size in option.shape
                )
                return replace(option, shape=sizes)
            case SameShape(argument) if self._rank_of(argument) is None:
                return replace(option, shape=None)
            case _:
                return option

    def _is_integer(self, name: str) -> bool:
        return {option.kind for option in self._options(name)} == {ArgumentKind.INT}

    def _options(self, name: str) -> tuple[Guess, ...]:
        return self._combined[name].options if name in self._combined else ()

    def _rank_of(self, name: str) -> int | None:
        """Return the smallest number of dimensions of an array; None if it is unknown."""
        ranks = [_smallest_rank(option) for option in self._options(name)]
        known = [rank for rank in ranks if rank is not None]
        return min(known) if known and len(known) == len(ranks) else None

    def _with_axis(self, name: str, options: tuple[Guess, ...]) -> tuple[Guess, ...]:
        """Return guesses in which an integer that is an axis has the range of an array's axes.

        A default remains valid, even if arrays may have fewer dimensions.
        """
        clues = self._clues.for_argument(name)
        axes = [clue.fact for clue in clues if isinstance(clue.fact, Axis)]
        is_stated = any(
            isinstance(clue.fact, ValueRange | AllowedValues)
            and clue.source <= ArgumentClueSource.DOC
            for clue in clues
        )
        if not axes or is_stated or any(option.examples for option in options):
            return options
        array = next((axis.array for axis in axes if axis.array), "") or self._first_array()
        rank = self._rank_of(array)
        if rank is None:
            return options
        axis = Guess(ArgumentKind.INT, axis_of=array)
        default = self._integer_default(name)
        others = tuple(option for option in options if option.kind is not ArgumentKind.INT)
        if default is None or -rank <= default < rank:
            return (*others, axis)
        return (*others, Guess(ArgumentKind.INT, NumberRange(default, default)), axis)

    def _first_array(self) -> str:
        return next((name for name in self._combined if self._rank_of(name) is not None), "")

    def _integer_default(self, name: str) -> int | None:
        default = self._subject.defaults.get(name)
        try:
            value = ast.literal_eval(default) if default is not None else None
        except ValueError:
            return None
        return value if type(value) is int else None


def _smallest_rank(option: Guess) -> int | None:
    match option.shape:
        case tuple():
            return len(option.shape)
        case Ranks(low):
            return low
        case _:
            return None
