"""Combines all clues on an argument into guesses for its annotation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    AllowedValues,
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    FactoryResult,
    Guess,
    LengthRange,
    NotNone,
    NumberRange,
    PossibleValues,
    PowersOfTwo,
    SameShape,
    ValueRange,
)
from ciguard.suggesting.widening import widen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.suggesting.clues import ArrayShape

_NUMBERS = {ArgumentKind.INT, ArgumentKind.FLOAT}
_WEAK_SOURCES = {ArgumentClueSource.CALL, ArgumentClueSource.DEFAULT, ArgumentClueSource.NAME}
"""Sources that may show an integer although any number is allowed."""
_MAX_LENGTH = 5
"""Maximum length of a list if no clue limits it."""


@dataclass(frozen=True, slots=True)
class CombinedClues:
    """Guesses for an argument's annotation."""

    options: tuple[Guess, ...]
    """Guesses for the valid values, one per kind; empty if the clues do not suffice."""
    reasons: tuple[str, ...]
    """Reasons of all clues."""
    factory: str = ""
    """Name of a function of the project that returns valid values; empty if none is known."""


def combine(clues: Sequence[ArgumentClue], items: Sequence[ArgumentClue] = ()) -> CombinedClues:
    """Return the guesses that follow from all clues on one argument.

    Args:
        clues: clues on the argument, in order of trust.
        items: clues on the argument's items, in order of trust.
    """
    facts = [clue.fact for clue in clues]
    allowed = next((fact for fact in facts if isinstance(fact, AllowedValues)), None)
    factory = next((fact.function for fact in facts if isinstance(fact, FactoryResult)), "")
    options = tuple(
        _merged_guesses(clues, items) if allowed is None else _enumerated_guesses(allowed)
    )
    if any(isinstance(fact, NotNone) for fact in facts) or not _may_be_none(clues):
        options = tuple(option for option in options if option.kind is not ArgumentKind.NONE)
    if {option.kind for option in options} <= {ArgumentKind.NONE}:
        options = ()
    return CombinedClues(
        options, tuple(dict.fromkeys(clue.reason for clue in (*clues, *items))), factory
    )


def _may_be_none(clues: Sequence[ArgumentClue]) -> bool:
    """Return whether a clue allows None; a default of None does not, as it may mean "required".

    A hint without None is trusted, unless None is the default.
    """
    none_sources = _sources_of(clues, {ArgumentKind.NONE})
    hinted = _sources_of(clues, set(ArgumentKind) - {ArgumentKind.NONE})
    is_excluded = ArgumentClueSource.HINT in hinted and not none_sources & {
        ArgumentClueSource.HINT,
        ArgumentClueSource.DEFAULT,
    }
    if is_excluded:
        return False
    return bool(none_sources - {ArgumentClueSource.DEFAULT}) or any(
        isinstance(clue.fact, AllowedValues) and None in clue.fact.values for clue in clues
    )


def _sources_of(clues: Sequence[ArgumentClue], kinds: set[ArgumentKind]) -> set[ArgumentClueSource]:
    """Return the sources of the clues that an argument may have a value of one of the kinds."""
    return {
        clue.source
        for clue in clues
        if isinstance(clue.fact, PossibleValues) and clue.fact.guess.kind in kinds
    }


def _enumerated_guesses(allowed: AllowedValues) -> list[Guess]:
    """Return guesses that cover exactly the allowed values."""
    texts = tuple(value for value in allowed.values if isinstance(value, str))
    guesses = [Guess(ArgumentKind.TEXT, examples=texts)] if texts else []
    for value in allowed.values:
        match value:
            case None:
                guesses.append(Guess(ArgumentKind.NONE))
            case bool():
                guesses.append(Guess(ArgumentKind.BOOL))
            case int():
                guesses.append(Guess(ArgumentKind.INT, NumberRange(value, value)))
            case float():
                guesses.append(Guess(ArgumentKind.FLOAT, NumberRange(value, value)))
            case str():
                pass
    return guesses


def _merged_guesses(clues: Sequence[ArgumentClue], items: Sequence[ArgumentClue]) -> list[Guess]:
    """Return guesses for the valid values, one or more per agreed kind."""
    by_kind: dict[ArgumentKind, list[tuple[ArgumentClueSource, Guess]]] = {}
    for clue in clues:
        if isinstance(clue.fact, PossibleValues):
            by_kind.setdefault(clue.fact.guess.kind, []).append((clue.source, clue.fact.guess))
    kinds = _agreed_kinds(by_kind)
    bounds, named = _bounds(clues)
    is_power = any(isinstance(clue.fact, PowersOfTwo) for clue in clues)
    length = ANY
    for clue in clues:
        if isinstance(clue.fact, LengthRange):
            length = length.intersection(clue.fact.bounds)
    merged: list[Guess] = []
    for kind in kinds:
        guesses = [guess for _, guess in by_kind[kind]]
        if (
            kind is ArgumentKind.LIST
            and ArgumentKind.INT in kinds
            and not any(guess.items for guess in guesses)
        ):
            # Either one integer for all dimensions, or a list with one integer per dimension.
            guesses = [replace(guesses[0], items=(option,)) for option in merged[-1:]]
        elif kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
            is_looped = ArgumentKind.LIST in by_kind and not _has_stated_length(by_kind[kind])
            guesses = _with_items(guesses, items, is_looped=is_looped)
        if kind in _NUMBERS:
            guesses = [guess for other in _NUMBERS for _, guess in by_kind.get(other, ())]
            numbers = _numbers(kind, guesses, bounds, named)
            is_list = is_power and kind is ArgumentKind.INT
            merged += [_powers_of_two(numbers[-1].bounds, guesses)] if is_list else numbers
        elif kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
            merged += _sequence(kind, guesses, length)
        else:
            is_array = kind in {ArgumentKind.ARRAY, ArgumentKind.TENSOR}
            merged += _arrays(kind, by_kind[kind]) if is_array else _other_guesses(kind, guesses)
    return merged


def _has_stated_length(guesses: list[tuple[ArgumentClueSource, Guess]]) -> bool:
    """Return whether a hint or the documentation states the number of items."""
    return any(
        source <= ArgumentClueSource.DOC and guess.length.low == guess.length.high is not None
        for source, guess in guesses
    )


def _powers_of_two(bounds: NumberRange, guesses: list[Guess]) -> Guess:
    """Return a guess for a few powers of two around the examples.

    Args:
        bounds: range of the integers to test.
        guesses: guesses from all clues, with examples.
    """
    examples = [value for guess in guesses for value in guess.examples if isinstance(value, int)]
    low = max(min(examples, default=_USUAL_POWER) // 2, bounds.low or 1)
    high = max(2 * max(examples, default=_USUAL_POWER), low)
    powers = [1 << exponent for exponent in range(int(high).bit_length())]
    return Guess(ArgumentKind.INT, examples=tuple(power for power in powers if power >= low))


_USUAL_POWER = 16
"""Power of two around which values are proposed without examples."""


def _with_items(
    guesses: list[Guess], items: Sequence[ArgumentClue], *, is_looped: bool
) -> list[Guess]:
    """Return guesses for a sequence, with the clues on its items.

    Args:
        guesses: guesses for the sequence itself.
        items: clues on its items.
        is_looped: whether a loop iterates over it, so that it may have any length.
    """
    item_options = combine(items).options if items else ()
    if item_options and not any(guess.items for guess in guesses):
        return [replace(guesses[0], items=item_options[:1])]
    if is_looped:
        uniform = [guess for guess in guesses if len({item.kind for item in guess.items}) == 1]
        return [replace(guess, length=ANY) for guess in uniform] or guesses
    return guesses


def _agreed_kinds(
    by_kind: dict[ArgumentKind, list[tuple[ArgumentClueSource, Guess]]],
) -> list[ArgumentKind]:
    """Return the kinds on which the clues agree.

    If clues contradict each other, the clues of less trusted sources are dropped.

    Args:
        by_kind: guesses by their kind, each with the source of its clue.
    """
    rank_by_kind = {kind: min(source for source, _ in guesses) for kind, guesses in by_kind.items()}
    kinds = set(rank_by_kind)
    if {*rank_by_kind.values()} - {ArgumentClueSource.NAME} and kinds - {ArgumentKind.NONE}:
        strong_kinds = {kind for kind in kinds if rank_by_kind[kind] is not ArgumentClueSource.NAME}
        kinds = strong_kinds if strong_kinds - {ArgumentKind.NONE} else kinds
    documented = {kind for kind in kinds if rank_by_kind[kind] <= ArgumentClueSource.DOC}
    if documented - {ArgumentKind.NONE}:
        kinds = {kind for kind in kinds if rank_by_kind[kind] is not ArgumentClueSource.USE}
    if kinds >= _NUMBERS:
        is_int = (
            rank_by_kind[ArgumentKind.INT] not in _WEAK_SOURCES
            and rank_by_kind[ArgumentKind.INT] <= rank_by_kind[ArgumentKind.FLOAT]
        )
        kinds.discard(ArgumentKind.FLOAT if is_int else ArgumentKind.INT)
    if ArgumentKind.BOOL in kinds and kinds & _NUMBERS:
        number_rank = min(rank_by_kind[kind] for kind in kinds & _NUMBERS)
        kinds -= (
            {ArgumentKind.BOOL}
            if rank_by_kind[ArgumentKind.BOOL] is ArgumentClueSource.USE
            else set()
        )
        kinds -= _NUMBERS if number_rank in _WEAK_SOURCES and ArgumentKind.BOOL in kinds else set()
    if (
        kinds & (set(ArgumentKind) - {ArgumentKind.BOOL, ArgumentKind.NONE})
        and rank_by_kind.get(ArgumentKind.BOOL) is ArgumentClueSource.USE
    ):
        kinds.discard(ArgumentKind.BOOL)  # `if texts:` tests whether the list is empty
    if ArgumentKind.ARRAY in kinds and ArgumentKind.TENSOR in kinds:
        kinds.discard(
            max(ArgumentKind.ARRAY, ArgumentKind.TENSOR, key=lambda kind: rank_by_kind[kind])
        )
    if (
        kinds & {ArgumentKind.ARRAY, ArgumentKind.TENSOR, ArgumentKind.TUPLE}
        and rank_by_kind.get(ArgumentKind.LIST) is ArgumentClueSource.USE
    ):
        kinds.discard(ArgumentKind.LIST)  # loops iterate over arrays, tensors and tuples too
    return [kind for kind in ArgumentKind if kind in kinds]


def _bounds(clues: Sequence[ArgumentClue]) -> tuple[NumberRange, NumberRange]:
    """Return the range that clues state, and the range that the argument's name suggests."""
    stated, suggested = ANY, ANY
    for clue in clues:
        if isinstance(clue.fact, ValueRange):
            if clue.source is ArgumentClueSource.NAME:
                suggested = suggested.intersection(clue.fact.bounds)
            elif not stated.intersection(clue.fact.bounds).is_empty:
                stated = stated.intersection(clue.fact.bounds)
    return stated, suggested


def _numbers(
    kind: ArgumentKind, guesses: list[Guess], stated: NumberRange, suggested: NumberRange
) -> list[Guess]:
    """Return guesses for a special value such as -1, if any, and for the range of usual values.

    Args:
        kind: integers or floating-point numbers.
        guesses: guesses from all clues.
        stated: range that reliable clues state.
        suggested: range that the argument's name suggests.
    """
    for guess in guesses:
        narrowed = stated.intersection(guess.bounds)
        stated = stated if narrowed.is_empty else narrowed
    examples = [
        value
        for guess in guesses
        for value in guess.examples
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if kind is ArgumentKind.INT:
        stated = stated.integer_range()
    negative = [value for value in examples if value < 0]
    if stated.low is None and set(negative) == {-1} and len(negative) < len(examples):
        suggested = suggested.intersection(NumberRange(0))  # -1 is a special value
    inside = [
        value
        for value in examples
        if stated.intersection(suggested).contains(value) or not negative
    ]
    special = sorted({value for value in examples if value not in inside and value == -1})
    usual = Guess(kind, widen(kind, inside, stated, suggested))
    return [*(Guess(kind, NumberRange(value, value)) for value in special), usual]


def _sequence(kind: ArgumentKind, guesses: list[Guess], length: NumberRange) -> list[Guess]:
    """Return a guess for lists or tuples; empty if no guess says what their items are."""
    with_items = [guess for guess in guesses if guess.items]
    if not with_items:
        return []
    lengths = {guess.length for guess in guesses if guess.length != ANY}
    first = with_items[0]
    if kind is ArgumentKind.TUPLE and len(first.items) > 1 and len(lengths) == 1:
        columns = zip(*(guess.items for guess in with_items if guess.items), strict=False)
        items = tuple(_column_item(list(column)) for column in columns)
        return [replace(first, items=items)]
    item = _common_item([item for guess in with_items for item in guess.items])
    low = min((length_range.low or 0 for length_range in lengths), default=1)
    high = max((length_range.high or 0 for length_range in lengths), default=_MAX_LENGTH)
    allowed = length if length != ANY else NumberRange(min(low, 1), max(high, _MAX_LENGTH))
    if allowed.high is None:
        allowed = replace(allowed, high=max(_MAX_LENGTH, allowed.low or 0))
    return [Guess(kind, items=(item,), length=allowed)]


def _column_item(items: list[Guess]) -> Guess:
    """Return one guess for the items at one position of tuples, which are often sizes.

    Layers need sizes of the examples' magnitude, and images have few channels.
    """
    examples = [value for item in items for value in item.examples if type(value) is int]
    if {item.kind for item in items} != {ArgumentKind.INT} or min(examples, default=0) < 1:
        return _common_item(items)
    if max(examples) <= _MAX_CHANNELS:
        return Guess(ArgumentKind.INT, NumberRange(1, max(3, *examples)))
    low = min(examples) // 2 if min(examples) >= _MIN_LARGE_SIZE else 1
    return _numbers(ArgumentKind.INT, items, NumberRange(low), ANY)[-1]


_MAX_CHANNELS = 4
"""Largest number in tuples that counts as a number of channels."""
_MIN_LARGE_SIZE = 16
"""Smallest size in tuples that is not reduced to 1."""


def _common_item(items: list[Guess]) -> Guess:
    """Return one guess that covers all items."""
    kinds = {item.kind for item in items}
    kind = ArgumentKind.FLOAT if kinds == _NUMBERS else items[0].kind
    if kind in _NUMBERS:
        return _numbers(kind, items, ANY, NumberRange(1) if kind is ArgumentKind.INT else ANY)[-1]
    if kind in {ArgumentKind.LIST, ArgumentKind.TUPLE}:
        return next(iter(_sequence(kind, items, ANY)), items[0])
    return next(iter(_other_guesses(kind, items)), items[0])


def _other_guesses(kind: ArgumentKind, guesses: list[Guess]) -> list[Guess]:
    """Return guesses for strings, flags or None, from several guesses of a kind."""
    if kind is ArgumentKind.TEXT:
        texts = tuple(dict.fromkeys(text for guess in guesses for text in guess.examples))
        return [Guess(kind, examples=texts)]
    return [Guess(kind)]


def _arrays(kind: ArgumentKind, guesses: list[tuple[ArgumentClueSource, Guess]]) -> list[Guess]:
    """Return guesses for arrays, one for each shape.

    Args:
        kind: arrays or tensors.
        guesses: guesses of this kind with the sources of their clues, in order of trust.
    """
    dtype = next((guess.dtype for _, guess in guesses if guess.dtype), "")
    bounds = ANY
    for _, guess in guesses:
        narrowed = bounds.intersection(guess.bounds)
        bounds = bounds if narrowed.is_empty else narrowed
    # A shape with sizes is more exact than a number of dimensions from another clue.
    shaped = [(source, guess.shape) for source, guess in guesses if guess.shape is not None]
    exact = [(source, shape) for source, shape in shaped if is_exact(shape)]
    trusted = exact or shaped
    shapes = {shape for source, shape in trusted if source is trusted[0][0]}
    ordered: list[ArrayShape | None] = [*sorted(shapes, key=_shape_order)]
    return [Guess(kind, bounds, shape=shape, dtype=dtype) for shape in ordered or [None]]


def is_exact(shape: ArrayShape | None) -> bool:
    """Return whether a shape states a size, and not only numbers of dimensions."""
    return isinstance(shape, SameShape) or (isinstance(shape, tuple) and any(shape))


def _shape_order(shape: ArrayShape) -> tuple[int, str]:
    return len(shape) if isinstance(shape, tuple) else 0, repr(shape)
