"""All clues of an argument become one annotation, if they say enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    Bounds,
    Clue,
    Guess,
    Kind,
    LengthLimited,
    Limited,
    Made,
    MayBe,
    NotNone,
    Only,
    Source,
)
from ciguard.suggesting.widening import widened

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = {Kind.INT, Kind.FLOAT}
_SAYS_LITTLE = {Source.CALL, Source.DEFAULT, Source.NAME}
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


def combined(clues: Sequence[Clue], items: Sequence[Clue] = ()) -> Known:
    """Return what clues of one argument say together.

    Args:
        clues: the most trusted first.
        items: likewise, of the argument's items.
    """
    facts = [clue.fact for clue in clues]
    only = next((fact for fact in facts if isinstance(fact, Only)), None)
    maker = next((fact.function for fact in facts if isinstance(fact, Made)), "")
    options = tuple(_merged(clues, items) if only is None else _enumerated(only))
    if any(isinstance(fact, NotNone) for fact in facts) or not _may_be_none(clues):
        options = tuple(option for option in options if option.kind is not Kind.NONE)
    if {option.kind for option in options} <= {Kind.NONE}:
        options = ()
    return Known(options, tuple(dict.fromkeys(clue.reason for clue in (*clues, *items))), maker)


def _may_be_none(clues: Sequence[Clue]) -> bool:
    """Return whether another source than the default, which may mean "required", says so."""
    return any(
        isinstance(clue.fact, MayBe)
        and clue.fact.guess.kind is Kind.NONE
        and clue.source is not Source.DEFAULT
        for clue in clues
    ) or any(isinstance(clue.fact, Only) and None in clue.fact.values for clue in clues)


def _enumerated(only: Only) -> list[Guess]:
    texts = tuple(value for value in only.values if isinstance(value, str))
    found = [Guess(Kind.TEXT, seen=texts)] if texts else []
    for value in only.values:
        match value:
            case None:
                found.append(Guess(Kind.NONE))
            case bool():
                found.append(Guess(Kind.BOOL))
            case int():
                found.append(Guess(Kind.INT, Bounds(value, value)))
            case float():
                found.append(Guess(Kind.FLOAT, Bounds(value, value)))
            case str():
                pass
    return found


def _merged(clues: Sequence[Clue], items: Sequence[Clue]) -> list[Guess]:
    by_kind: dict[Kind, list[tuple[Source, Guess]]] = {}
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
        if kind is Kind.LIST and Kind.INT in kinds and not any(guess.items for guess in guesses):
            # An integer for all, or a list with one for each.
            guesses = [replace(guesses[0], items=(option,)) for option in found[-1:]]
        elif kind in {Kind.LIST, Kind.TUPLE}:
            guesses = _with_items(guesses, items, is_looped=Kind.LIST in by_kind)
        if kind in _NUMBERS:
            guesses = [guess for other in _NUMBERS for _, guess in by_kind.get(other, ())]
            found += _numbers(kind, guesses, bounds, named)
        elif kind in {Kind.LIST, Kind.TUPLE}:
            found += _sequence(kind, guesses, length)
        else:
            found += _other(kind, guesses)
    return found


def _with_items(guesses: list[Guess], items: Sequence[Clue], *, is_looped: bool) -> list[Guess]:
    """Add what is known of items; a loop over them shows that there may be any number."""
    inner = combined(items).options if items else ()
    if inner and not any(guess.items for guess in guesses):
        return [replace(guesses[0], items=inner[:1])]
    if is_looped:
        alike = [guess for guess in guesses if len({item.kind for item in guess.items}) == 1]
        return [replace(guess, length=ANY) for guess in alike] or guesses
    return guesses


def _believed(by_kind: dict[Kind, list[tuple[Source, Guess]]]) -> list[Kind]:
    """Return the kinds that clues agree on; those of weak sources give way to others."""
    strength = {kind: min(source for source, _ in found) for kind, found in by_kind.items()}
    kinds = set(strength)
    if {*strength.values()} - {Source.NAME} and kinds - {Kind.NONE}:
        firm = {kind for kind in kinds if strength[kind] is not Source.NAME}
        kinds = firm if firm - {Kind.NONE} else kinds
    if kinds >= _NUMBERS:
        is_int = (
            strength[Kind.INT] not in _SAYS_LITTLE and strength[Kind.INT] <= strength[Kind.FLOAT]
        )
        kinds.discard(Kind.FLOAT if is_int else Kind.INT)
    if Kind.BOOL in kinds and kinds & _NUMBERS:
        number = min(strength[kind] for kind in kinds & _NUMBERS)
        kinds -= {Kind.BOOL} if strength[Kind.BOOL] is Source.USE else set()
        kinds -= _NUMBERS if number in _SAYS_LITTLE and Kind.BOOL in kinds else set()
    if kinds & (set(Kind) - {Kind.BOOL, Kind.NONE}) and strength.get(Kind.BOOL) is Source.USE:
        kinds.discard(Kind.BOOL)  # `if texts:` asks whether there are any
    if Kind.ARRAY in kinds and Kind.TENSOR in kinds:
        kinds.discard(max(Kind.ARRAY, Kind.TENSOR, key=lambda kind: strength[kind]))
    if kinds & {Kind.ARRAY, Kind.TENSOR, Kind.TUPLE} and strength.get(Kind.LIST) is Source.USE:
        kinds.discard(Kind.LIST)  # these are looped over too
    return [kind for kind in Kind if kind in kinds]


def _bounds(clues: Sequence[Clue]) -> tuple[Bounds, Bounds]:
    """Return the range that was said, and the one that the argument's name suggests."""
    said, named = ANY, ANY
    for clue in clues:
        if isinstance(clue.fact, Limited):
            if clue.source is Source.NAME:
                named = named.within(clue.fact.bounds)
            elif not said.within(clue.fact.bounds).is_empty:
                said = said.within(clue.fact.bounds)
    return said, named


def _numbers(kind: Kind, guesses: list[Guess], said: Bounds, named: Bounds) -> list[Guess]:
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
    if kind is Kind.INT:
        said = said.closed()
    negative = [value for value in seen if value < 0]
    if said.low is None and set(negative) == {-1} and len(negative) < len(seen):
        named = named.within(Bounds(0))  # minus one stands for something else
    inside = [value for value in seen if said.within(named).holds(value) or not negative]
    apart = sorted({value for value in seen if value not in inside and value == -1})
    found = Guess(kind, widened(kind, inside, said, named))
    return [*(Guess(kind, Bounds(value, value)) for value in apart), found]


def _sequence(kind: Kind, guesses: list[Guess], length: Bounds) -> list[Guess]:
    """Return lists and tuples whose items are known, of the lengths that were said or seen."""
    filled = [guess for guess in guesses if guess.items]
    if not filled:
        return []
    lengths = {guess.length for guess in guesses if guess.length != ANY}
    first = filled[0]
    if kind is Kind.TUPLE and len(first.items) > 1 and len(lengths) == 1:
        columns = zip(*(guess.items for guess in filled if guess.items), strict=False)
        items = tuple(_one_of(list(column)) for column in columns)
        return [replace(first, items=items)]
    item = _one_of([item for guess in filled for item in guess.items])
    low = min((one.low or 0 for one in lengths), default=1)
    high = max((one.high or 0 for one in lengths), default=_MAX_LENGTH)
    whole = length if length != ANY else Bounds(min(low, 1), max(high, _MAX_LENGTH))
    if whole.high is None:
        whole = replace(whole, high=max(_MAX_LENGTH, whole.low or 0))
    return [Guess(kind, items=(item,), length=whole)]


def _one_of(items: list[Guess]) -> Guess:
    """Return one kind of items that holds all of these."""
    kinds = {item.kind for item in items}
    kind = Kind.FLOAT if kinds == _NUMBERS else items[0].kind
    if kind in _NUMBERS:
        return _numbers(kind, items, ANY, Bounds(1) if kind is Kind.INT else ANY)[-1]
    if kind in {Kind.LIST, Kind.TUPLE}:
        return next(iter(_sequence(kind, items, ANY)), items[0])
    return next(iter(_other(kind, items)), items[0])


def _other(kind: Kind, guesses: list[Guess]) -> list[Guess]:
    if kind is Kind.TEXT:
        texts = tuple(dict.fromkeys(text for guess in guesses for text in guess.seen))
        return [Guess(kind, seen=texts)]
    if kind in {Kind.ARRAY, Kind.TENSOR}:
        shapes = {guess.sides for guess in guesses if guess.sides is not None}
        return [Guess(kind, sides=shape) for shape in sorted(shapes, key=len)] or [Guess(kind)]
    return [Guess(kind)]
