"""All clues of an argument become one annotation, if they say enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    FactoryResult,
    Guess,
    LengthLimited,
    Limited,
    MayBe,
    NotNone,
    NumberRange,
    Only,
)
from ciguard.suggesting.widening import widened

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = {ArgumentKind.INT, ArgumentKind.FLOAT}
_SAYS_LITTLE = {ArgumentClueSource.CALL, ArgumentClueSource.DEFAULT, ArgumentClueSource.NAME}
"""Sources that show an integer where a number is meant."""
_MAX_LENGTH = 5
"""Items of a list of which no greatest length is known."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an argument when all clues are taken together."""

    options: tuple[Guess, ...]
    """What it may be; empty where that is unknown."""
    reasons: tuple[str, ...]
    maker: str = ""
    """A function of the project that makes such objects."""


def combined(clues: Sequence[ArgumentClue], items: Sequence[ArgumentClue] = ()) -> Known:
    """Return what clues of one argument say together.

    Args:
        clues: the most trusted first.
        items: likewise, of the argument's items.
    """
    facts = [clue.fact for clue in clues]
    only = next((fact for fact in facts if isinstance(fact, Only)), None)
    maker = next((fact.function for fact in facts if isinstance(fact, FactoryResult)), "")
    options = tuple(_merged(clues, items) if only is None else _enumerated(only))
    if any(isinstance(fact, NotNone) for fact in facts) or not _may_be_none(clues):
        options = tuple(option for option in options if option.kind is not ArgumentKind.NONE)
    if {option.kind for option in options} <= {ArgumentKind.NONE}:
        options = ()
    return Known(options, tuple(dict.fromkeys(clue.reason for clue in (*clues, *items))), maker)


def _may_be_none(clues: Sequence[ArgumentClue]) -> bool:
    """Return whether another source than the default, which may mean "required", says so."""
    return any(
        isinstance(clue.fact, MayBe)
        and clue.fact.guess.kind is ArgumentKind.NONE
        and clue.source is not ArgumentClueSource.DEFAULT
        for clue in clues
    ) or any(isinstance(clue.fact, Only) and None in clue.fact.values for clue in clues)


def _enumerated(only: Only) -> list[Guess]:
    texts = tuple(value for value in only.values if isinstance(value, str))
    found = [Guess(ArgumentKind.TEXT, seen=texts)] if texts else []
    for value in only.values:
        match value:
            case None:
                found.append(Guess(ArgumentKind.NONE))
            case bool():
                found.append(Guess(ArgumentKind.BOOL))
            case int():
                found.append(Guess(ArgumentKind.INT, NumberRange(value, value)))
            case float():
                found.append(Guess(ArgumentKind.FLOAT, NumberRange(value, value)))
            case str():
                pass
    return found


def _merged(clues: Sequence[ArgumentClue], items: Sequence[ArgumentClue]) -> list[Guess]:
    by_kind: dict[ArgumentKind, list[tuple[ArgumentClueSource, Guess]]] = {}
    for clue in clues:
        if isinstance(clue.fact, MayBe):
            by_kind.setdefault(clue.fact.guess.kind, []).append((clue.source, clue.fact.guess))
    kinds = _believed(by_kind)
    bounds, named = _bounds(clues)
    length = ANY
    for clue in clues:
        if isinstance(clue.fact, LengthLimited):
            length = length.within(clue.fact.bounds)
    found: list[Guess] = []
    for kind in kinds:
        guesses = [guess for _, guess in by_kind[kind]]
        if (
            kind is ArgumentKind.LIST
            and ArgumentKind.INT in kinds
            and not any(guess.items for guess in guesses)
        ):
            # An integer for all, or a list with one for each.
            guesses = [replace(guesses[0], items=(option,)) for option in found[-1:]]
        elif kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
            guesses = _with_items(guesses, items, is_looped=ArgumentKind.LIST in by_kind)
        if kind in _NUMBERS:
            guesses = [guess for other in _NUMBERS for _, guess in by_kind.get(other, ())]
            found += _numbers(kind, guesses, bounds, named)
        elif kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
            found += _sequence(kind, guesses, length)
        else:
            found += _other(kind, guesses)
    return found


def _with_items(
    guesses: list[Guess], items: Sequence[ArgumentClue], *, is_looped: bool
) -> list[Guess]:
    """Add what is known of items; a loop over them shows that there may be any number."""
    inner = combined(items).options if items else ()
    if inner and not any(guess.items for guess in guesses):
        return [replace(guesses[0], items=inner[:1])]
    if is_looped:
        alike = [guess for guess in guesses if len({item.kind for item in guess.items}) == 1]
        return [replace(guess, length=ANY) for guess in alike] or guesses
    return guesses


def _believed(
    by_kind: dict[ArgumentKind, list[tuple[ArgumentClueSource, Guess]]],
) -> list[ArgumentKind]:
    """Return the kinds that clues agree on; those of weak sources give way to others."""
    strength = {kind: min(source for source, _ in found) for kind, found in by_kind.items()}
    kinds = set(strength)
    if {*strength.values()} - {ArgumentClueSource.NAME} and kinds - {ArgumentKind.NONE}:
        firm = {kind for kind in kinds if strength[kind] is not ArgumentClueSource.NAME}
        kinds = firm if firm - {ArgumentKind.NONE} else kinds
    if kinds >= _NUMBERS:
        is_int = (
            strength[ArgumentKind.INT] not in _SAYS_LITTLE
            and strength[ArgumentKind.INT] <= strength[ArgumentKind.FLOAT]
        )
        kinds.discard(ArgumentKind.FLOAT if is_int else ArgumentKind.INT)
    if ArgumentKind.BOOL in kinds and kinds & _NUMBERS:
        number = min(strength[kind] for kind in kinds & _NUMBERS)
        kinds -= (
            {ArgumentKind.BOOL} if strength[ArgumentKind.BOOL] is ArgumentClueSource.USE else set()
        )
        kinds -= _NUMBERS if number in _SAYS_LITTLE and ArgumentKind.BOOL in kinds else set()
    if (
        kinds & (set(ArgumentKind) - {ArgumentKind.BOOL, ArgumentKind.NONE})
        and strength.get(ArgumentKind.BOOL) is ArgumentClueSource.USE
    ):
        kinds.discard(ArgumentKind.BOOL)  # `if texts:` asks whether there are any
    if ArgumentKind.ARRAY in kinds and ArgumentKind.TENSOR in kinds:
        kinds.discard(max(ArgumentKind.ARRAY, ArgumentKind.TENSOR, key=lambda kind: strength[kind]))
    if (
        kinds & {ArgumentKind.ARRAY, ArgumentKind.TENSOR, ArgumentKind.TUPLE}
        and strength.get(ArgumentKind.LIST) is ArgumentClueSource.USE
    ):
        kinds.discard(ArgumentKind.LIST)  # these are looped over too
    return [kind for kind in ArgumentKind if kind in kinds]


def _bounds(clues: Sequence[ArgumentClue]) -> tuple[NumberRange, NumberRange]:
    """Return the range that was said, and the one that the argument's name suggests."""
    said, named = ANY, ANY
    for clue in clues:
        if isinstance(clue.fact, Limited):
            if clue.source is ArgumentClueSource.NAME:
                named = named.within(clue.fact.bounds)
            elif not said.within(clue.fact.bounds).is_empty:
                said = said.within(clue.fact.bounds)
    return said, named


def _numbers(
    kind: ArgumentKind, guesses: list[Guess], said: NumberRange, named: NumberRange
) -> list[Guess]:
    """Return a range of numbers, and values outside of it that are used for something else."""
    for guess in guesses:
        inner = said.within(guess.bounds)
        said = said if inner.is_empty else inner
    seen = [
        value
        for guess in guesses
        for value in guess.seen
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if kind is ArgumentKind.INT:
        said = said.closed()
    negative = [value for value in seen if value < 0]
    if said.low is None and set(negative) == {-1} and len(negative) < len(seen):
        named = named.within(NumberRange(0))  # minus one stands for something else
    inside = [value for value in seen if said.within(named).holds(value) or not negative]
    apart = sorted({value for value in seen if value not in inside and value == -1})
    found = Guess(kind, widened(kind, inside, said, named))
    return [*(Guess(kind, NumberRange(value, value)) for value in apart), found]


def _sequence(kind: ArgumentKind, guesses: list[Guess], length: NumberRange) -> list[Guess]:
    """Return lists and tuples whose items are known, of the lengths that were said or seen."""
    filled = [guess for guess in guesses if guess.items]
    if not filled:
        return []
    lengths = {guess.length for guess in guesses if guess.length != ANY}
    first = filled[0]
    if kind is ArgumentKind.TUPLE and len(first.items) > 1 and len(lengths) == 1:
        columns = zip(*(guess.items for guess in filled if guess.items), strict=False)
        items = tuple(_one_of(list(column)) for column in columns)
        return [replace(first, items=items)]
    item = _one_of([item for guess in filled for item in guess.items])
    low = min((one.low or 0 for one in lengths), default=1)
    high = max((one.high or 0 for one in lengths), default=_MAX_LENGTH)
    whole = length if length != ANY else NumberRange(min(low, 1), max(high, _MAX_LENGTH))
    if whole.high is None:
        whole = replace(whole, high=max(_MAX_LENGTH, whole.low or 0))
    return [Guess(kind, items=(item,), length=whole)]


def _one_of(items: list[Guess]) -> Guess:
    """Return one kind of items that holds all of these."""
    kinds = {item.kind for item in items}
    kind = ArgumentKind.FLOAT if kinds == _NUMBERS else items[0].kind
    if kind in _NUMBERS:
        return _numbers(kind, items, ANY, NumberRange(1) if kind is ArgumentKind.INT else ANY)[-1]
    if kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
        return next(iter(_sequence(kind, items, ANY)), items[0])
    return next(iter(_other(kind, items)), items[0])


def _other(kind: ArgumentKind, guesses: list[Guess]) -> list[Guess]:
    if kind is ArgumentKind.TEXT:
        texts = tuple(dict.fromkeys(text for guess in guesses for text in guess.seen))
        return [Guess(kind, seen=texts)]
    if kind in {ArgumentKind.ARRAY, ArgumentKind.TENSOR}:
        shapes = {guess.sides for guess in guesses if guess.sides is not None}
        return [Guess(kind, sides=shape) for shape in sorted(shapes, key=len)] or [Guess(kind)]
    return [Guess(kind)]
