"""What is proposed for a function: annotations as source, each with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import ANY, ArgumentKind, Guess, NumberRange

if TYPE_CHECKING:
    from ciguard.suggesting.functions import UnannotatedFunction


_MAX_TEXT_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Proposal:
    """One annotation of an argument, or a precondition."""

    parameter: str
    """Empty for a precondition."""
    values: str
    """Source of the values, `ints(min=1, max=8)`, or of the condition."""
    reasons: tuple[str, ...]

    @property
    def decorator(self) -> str:
        """Source of the decorator, without `@`."""
        if not self.parameter:
            return f"require({_quoted(self.values)})"
        return f"arg({_quoted(self.parameter)}, {self.values})"


@dataclass(frozen=True, slots=True)
class Unknown:
    """An argument of which too little is known to propose anything."""

    parameter: str
    has_default: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunctionProposals:
    """All proposals for one function."""

    subject: UnannotatedFunction
    proposals: tuple[Proposal, ...]
    unknown: tuple[Unknown, ...]


def source_of(options: tuple[Guess, ...]) -> str:
    """Return an annotation's values as source."""
    parts = [_source(option) for option in options]
    if len(parts) == 1 and (options[0].kind is ArgumentKind.NONE or _is_single(options[0])):
        return f"froms([{parts[0]}])"
    return parts[0] if len(parts) == 1 else f"anys({', '.join(parts)})"


def _source(guess: Guess) -> str:
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
    if not guess.seen:
        return f"strings(max_len={_MAX_TEXT_LENGTH})"
    return f"froms([{', '.join(_quoted(str(text)) for text in guess.seen)}])"


def _number(guess: Guess) -> str:
    bounds = guess.bounds
    if _is_single(guess):
        return _written(bounds.low, guess.kind)
    parts = _ends(bounds, "min", "max", guess.kind)
    parts += ["exclude_min=True"] if bounds.open_low and bounds.low is not None else []
    parts += ["exclude_max=True"] if bounds.open_high and bounds.high is not None else []
    return f"{guess.kind.value}({', '.join(parts)})"


def _is_single(guess: Guess) -> bool:
    bounds = guess.bounds
    return (
        guess.kind in {ArgumentKind.INT, ArgumentKind.FLOAT}
        and bounds.low == bounds.high is not None
    )


def _sequence(guess: Guess) -> str:
    lengths = _ends(guess.length, "min_len", "max_len", ArgumentKind.INT)
    if (
        guess.kind is ArgumentKind.TUPLE
        and guess.length.low == len(guess.items) == guess.length.high
    ):
        return f"tuples({', '.join(_source(item) for item in guess.items)})"
    item = guess.items[0]
    if guess.kind is ArgumentKind.LIST and item.kind is ArgumentKind.INT and not _is_single(item):
        parts = [*lengths, *_ends(item.bounds, "min", "max", ArgumentKind.INT)]
        return f"int_lists({', '.join(parts)})"
    name = "lists" if guess.kind is ArgumentKind.LIST else "tuples"
    return f"{name}({', '.join([_source(item), *lengths])})"


def _array(guess: Guess) -> str:
    parts = ['"float32"']
    if guess.sides is not None:
        parts.append(f"np_shapes(min_dims={len(guess.sides)}, max_dims={len(guess.sides)})")
    return f"{guess.kind.value}({', '.join(parts)})"


def _ends(bounds: NumberRange, least: str, most: str, kind: ArgumentKind) -> list[str]:
    if bounds == ANY:
        return []
    pairs = ((least, bounds.low), (most, bounds.high))
    return [f"{name}={_written(end, kind)}" for name, end in pairs if end is not None]


def _written(number: float | None, kind: ArgumentKind) -> str:
    if number is None:
        return "None"
    return repr(int(number) if kind is ArgumentKind.INT or number == int(number) else number)


def _quoted(text: str) -> str:
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown
