"""Proposals for a function: annotations as source text, each with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    ArgumentKind,
    ArgumentSize,
    Guess,
    NumberRange,
    Ranks,
    SameShape,
)

if TYPE_CHECKING:
    from ciguard.suggesting.clues import ArrayShape
    from ciguard.suggesting.functions import UnannotatedFunction


_MAX_TEXT_LENGTH = 20
"""Maximum length of strings that are proposed without examples."""


INCLUDE = "include"
"""Decorator of a function without arguments that is to be tested."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed annotation of an argument, or a precondition."""

    parameter: str
    """Name of the argument; empty for a precondition."""
    values: str
    """Source text of the constraint, such as `ints(min=1, max=8)`, or of the precondition; empty
    for the proposal to test a function without arguments."""
    reasons: tuple[str, ...]
    """Places and source texts that show the constraint, for the user."""
    is_guess: bool = False
    """True if only the name of the argument shows the constraint."""

    @property
    def decorator(self) -> str:
        """Source text of the decorator, without `@`."""
        if not self.parameter:
            return f"require({_string_literal(self.values)})" if self.values else INCLUDE
        return f"arg({_string_literal(self.parameter)}, {self.values})"


@dataclass(frozen=True, slots=True)
class UnknownArgument:
    """An argument for which the clues do not suffice."""

    parameter: str
    """Name of the argument."""
    has_default: bool
    """True if the parameter has a default."""
    reasons: tuple[str, ...]
    """Reasons of the clues, and a remedy if one is known."""


@dataclass(frozen=True, slots=True)
class FunctionProposals:
    """All proposals for one function."""

    subject: UnannotatedFunction
    proposals: tuple[Proposal, ...]
    """Proposals on which the clues agree, even if the function is left out."""
    unknown_arguments: tuple[UnknownArgument, ...]
    left_out: str = ""
    """Reason why the function is not annotated, as otherwise not all its arguments would be known;
    empty if it is annotated."""

    @property
    def written(self) -> tuple[Proposal, ...]:
        """Proposals to write into the program."""
        return () if self.left_out else self.proposals


def source_of(options: tuple[Guess, ...]) -> str:
    """Return the source text of a constraint that accepts the values of all guesses."""
    parts = [_source(option) for option in options]
    if len(parts) == 1 and (options[0].kind is ArgumentKind.NONE or _is_single(options[0])):
        return f"froms([{parts[0]}])"
    return parts[0] if len(parts) == 1 else f"anys({', '.join(parts)})"


def _source(guess: Guess) -> str:
    """Return the source text of the constraint for one guess."""
    if guess.kind in {ArgumentKind.INT, ArgumentKind.FLOAT}:
        return _number(guess)
    if guess.kind is ArgumentKind.TEXT:
        return _text(guess)
    if guess.kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
        return _sequence(guess)
    if guess.kind in {ArgumentKind.ARRAY, ArgumentKind.TENSOR}:
        return _array(guess)
    return "None" if guess.kind is ArgumentKind.NONE else "bools()"


def _text(guess: Guess) -> str:
    if not guess.examples:
        return f"strings(max_len={_MAX_TEXT_LENGTH})"
    return f"froms([{', '.join(_string_literal(str(text)) for text in guess.examples)}])"


def _number(guess: Guess) -> str:
    bounds = guess.bounds
    if guess.axis_of:
        low, high = f"-{guess.axis_of}.ndim", f"{guess.axis_of}.ndim - 1"
        return f"ints(min=ref({_string_literal(low)}), max=ref({_string_literal(high)}))"
    if guess.examples:
        return f"froms([{', '.join(map(str, guess.examples))}])"
    if _is_single(guess):
        return _number_literal(bounds.low, guess.kind)
    parts = _bound_options(bounds, "min", "max", guess.kind)
    parts += ["exclude_min=True"] if bounds.open_low and bounds.low is not None else []
    parts += ["exclude_max=True"] if bounds.open_high and bounds.high is not None else []
    return f"{guess.kind.value}({', '.join(parts)})"


def _is_single(guess: Guess) -> bool:
    """Return whether a guess is a single number."""
    bounds = guess.bounds
    return (
        guess.kind in {ArgumentKind.INT, ArgumentKind.FLOAT}
        and bounds.low == bounds.high is not None
    )


def _sequence(guess: Guess) -> str:
    """Return the source text of the constraint for a list or tuple."""
    lengths = _bound_options(guess.length, "min_len", "max_len", ArgumentKind.INT)
    if (
        guess.kind is ArgumentKind.TUPLE
        and guess.length.low == len(guess.items) == guess.length.high
    ):
        return f"tuples({', '.join(_source(item) for item in guess.items)})"
    item = guess.items[0]
    if guess.kind is ArgumentKind.LIST and item.kind is ArgumentKind.INT and not _is_single(item):
        parts = [*lengths, *_bound_options(item.bounds, "min", "max", ArgumentKind.INT)]
        return f"int_lists({', '.join(parts)})"
    name = "lists" if guess.kind is ArgumentKind.LIST else "tuples"
    return f"{name}({', '.join([_source(item), *lengths])})"


def _array(guess: Guess) -> str:
    """Return the source text of the constraint for arrays."""
    dtype = guess.dtype or "float32"
    is_integer = "int" in dtype
    bounds = guess.bounds.integer_range() if is_integer else _closed(guess.bounds)
    kind = ArgumentKind.INT if is_integer else ArgumentKind.FLOAT
    shape = [] if guess.shape is None else [_shape(guess.shape)]
    parts = [_string_literal(dtype), *shape, *_bound_options(bounds, "min", "max", kind)]
    return f"{guess.kind.value}({', '.join(parts)})"


def _shape(shape: ArrayShape) -> str:
    """Return the source text of an array's shape."""
    match shape:
        case SameShape(argument):
            return f"ref({_string_literal(f'{argument}.shape')})"
        case Ranks(low, high):
            return f"np_shapes(min_dims={low}, max_dims={high})"
        case tuple():
            if not any(shape):
                return f"np_shapes(min_dims={len(shape)}, max_dims={len(shape)})"
            sizes = [_size(size) for size in shape]
            return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _closed(bounds: NumberRange) -> NumberRange:
    """Return a range without its open ends, since arrays have closed ranges only."""
    low, high = bounds.low, bounds.high
    if bounds.open_low and low is not None:
        low += _MARGIN
    if bounds.open_high and high is not None:
        high -= _MARGIN
    return NumberRange(low, high)


_MARGIN = 0.001
"""Distance of the smallest and largest elements of arrays from open ends of their range."""


def _size(size: int | str | ArgumentSize | None) -> str:
    """Return the source text of a dimension's size."""
    if isinstance(size, ArgumentSize):
        return f"ref({_string_literal(size.argument)})"
    return _string_literal(size) if isinstance(size, str) else repr(size)


def _bound_options(
    bounds: NumberRange, low_name: str, high_name: str, kind: ArgumentKind
) -> list[str]:
    """Return the options for the bounds of a range, as source texts."""
    if bounds == ANY:
        return []
    pairs = ((low_name, bounds.low), (high_name, bounds.high))
    return [f"{name}={_number_literal(end, kind)}" for name, end in pairs if end is not None]


def _number_literal(number: float | None, kind: ArgumentKind) -> str:
    if number is None:
        return "None"
    return repr(int(number) if kind is ArgumentKind.INT or number == int(number) else number)


def _string_literal(text: str) -> str:
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal
