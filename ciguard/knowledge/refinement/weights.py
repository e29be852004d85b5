"""Weights for the alternatives of a constraint by their pass rates.

No new kind of constraint is needed: an alternative that is listed twice is drawn twice as often,
and the options of `AnyOf` have weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING

from ciguard.domain.values import DtypeValue, LiteralValue, Value
from ciguard.knowledge.refinement.traits import choice_of, kind_of
from ciguard.values import (
    AnyOf,
    Array,
    Bool,
    Constraint,
    Dtype,
    Int,
    Ints,
    List,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Odds:
    """Ratio of the pass rate of calls with a trait to the pass rate of all calls."""

    counts: Mapping[str, Sequence[int]]
    """Number of accepted calls and of rejected calls, by trait."""
    pass_rate: float
    """Pass rate of all calls."""
    lead: str = ""
    """Name of the leading tensor, with which shapes and dtypes are compared."""

    def __call__(self, trait: str) -> float:
        """Return the ratio for a trait: 1 if there is no difference or no experience, never 0."""
        passed, rejected = self.counts.get(trait, (0, 0))
        rate = (passed + _PRIOR * self.pass_rate) / (passed + rejected + _PRIOR)
        return min(max(rate / self.pass_rate, _MIN_ODDS), _MAX_ODDS)

    def call_count(self, trait: str) -> int:
        """Return the number of calls with a trait."""
        return sum(self.counts.get(trait, ()))


_PRIOR = 2.0
"""Number of assumed calls with the overall pass rate, which smooth the ratio."""
_MIN_ODDS, _MAX_ODDS = 1 / 16, 16.0
_DECISIVE_FACTOR = 3.0
"""Minimum ratio between the odds of a relation and of its opposite to add or remove it."""
_MIN_CALLS = 6
_MAX_REPETITIONS = 8
"""Number of repetitions of the best alternative; others are repeated in proportion."""
_MAX_TABULATED_RANGE = 16
_MIN_DIFFERENCE = 1.15
"""Minimum ratio of the highest to the lowest odds for which alternatives are weighted."""


def weighted(constraint: Constraint, odds: Odds) -> Constraint:
    """Return the constraint with its alternatives weighted by `odds`.

    Alternatives that never pass are left out if others pass. The share of calls that ignores
    experience still draws all alternatives.
    """
    return _weighted(constraint, odds)


@singledispatch
def _weighted(constraint: Constraint, odds: Odds) -> Constraint:
    del odds
    return constraint


@_weighted.register(AnyOf)
def _any_of(constraint: AnyOf, odds: Odds) -> Constraint:
    options = tuple(
        (weight * max(map(odds, _kinds(option)), default=1.0), _weighted(option, odds))
        for weight, option in constraint.options
    )
    best = max(weight for weight, _ in options)
    return AnyOf(tuple((weight, option) for weight, option in options if weight * 16 >= best))


_KINDS: dict[type, str] = {Ints: "kind:list of int", String: "kind:str", Array: "kind:tensor"}
"""Traits `kind:…` that cannot be derived from the name of the constraint's class."""


def _kinds(option: Constraint) -> tuple[str, ...]:
    """Return the traits `kind:…` that a constraint's values can have."""
    kinds: Iterable[str]
    match option:
        case OneOf(values):
            kinds = {f"kind:{kind_of(value)}" for value in values}
        case List(item=item) | Tuple((item, *_)):
            kinds = (f"kind:list of {kind.removeprefix('kind:')}" for kind in _kinds(item))
        case Object(function):
            kinds = (f"kind:{function}",)
        case Optional(inner):
            kinds = _kinds(inner)
        case AnyOf(options):
            kinds = (kind for _, inner in options for kind in _kinds(inner))
        case _:
            kinds = (_KINDS.get(type(option), f"kind:{type(option).__name__.lower()}"),)
    return tuple(kinds)


@_weighted.register(Optional)
def _optional(constraint: Optional, odds: Odds) -> Constraint:
    none_weight = constraint.none_share * odds("kind:none")
    value_weight = (1 - constraint.none_share) * max(
        map(odds, _kinds(constraint.inner)), default=1.0
    )
    share = min(max(none_weight / (none_weight + value_weight), 0.02), 0.98)
    return Optional(_weighted(constraint.inner, odds), share)


@_weighted.register(OneOf)
def _one_of(constraint: OneOf, odds: Odds) -> Constraint:
    return _repeated_by_odds(constraint.values, odds) or constraint


@_weighted.register(Bool)
def _bool(constraint: Bool, odds: Odds) -> Constraint:
    return (
        _repeated_by_odds((LiteralValue(value=False), LiteralValue(value=True)), odds) or constraint
    )


@_weighted.register(Int)
def _int(constraint: Int, odds: Odds) -> Constraint:
    if (
        constraint.size
        or constraint.axis_of
        or constraint.max - constraint.min > _MAX_TABULATED_RANGE
    ):
        return constraint
    values = tuple(map(LiteralValue, range(constraint.min, constraint.max + 1)))
    return _repeated_by_odds(values, odds) or constraint


def _repeated_by_odds(values: tuple[Value, ...], odds: Odds) -> OneOf | None:
    counts = _integer_weights([odds(choice_of(value) or "") for value in values])
    if counts is None:
        return None
    values_and_counts = zip(values, counts, strict=True)
    return OneOf(tuple(value for value, count in values_and_counts for _ in range(count)))


def _integer_weights(odds: list[float]) -> list[int] | None:
    """Return the number of repetitions of each alternative; None if their odds hardly differ."""
    best = max(odds)
    if best < min(odds) * _MIN_DIFFERENCE:
        return None
    counts = [round(_MAX_REPETITIONS * value_odds / best) for value_odds in odds]
    return None if len(set(counts)) == 1 else counts


@_weighted.register(Dtype)
def _dtype(constraint: Dtype, odds: Odds) -> Constraint:
    names = _dtypes(constraint.names, odds)
    return replace(constraint, names=names)


def _dtypes(names: tuple[str, ...], odds: Odds) -> tuple[str, ...]:
    distinct_names = tuple(dict.fromkeys(names))
    counts = _integer_weights([odds(choice_of(DtypeValue(name))) for name in distinct_names])
    if counts is None:
        return names
    return tuple(n for n, count in zip(distinct_names, counts, strict=True) for _ in range(count))


@_weighted.register(Ints)
def _ints(constraint: Ints, odds: Odds) -> Constraint:
    """Return an alternative per length, weighted by the odds."""
    min_length, max_length = constraint.length
    if (
        constraint.length_of
        or constraint.sizes
        or not 0 < max_length - min_length <= _MAX_REPETITIONS
    ):
        return constraint
    counts = _integer_weights(
        [odds(f"length:{length}") for length in range(min_length, max_length + 1)]
    )
    if counts is None:
        return constraint
    return _single_or_any_of(
        (float(count), replace(constraint, length=(length, length)))
        for length, count in zip(range(min_length, max_length + 1), counts, strict=True)
        if count
    )


def _single_or_any_of(options: Iterable[tuple[float, Constraint]]) -> Constraint:
    alternatives = tuple(options)
    return alternatives[0][1] if len(alternatives) == 1 else AnyOf(alternatives)


@_weighted.register(List)
def _list(constraint: List, odds: Odds) -> Constraint:
    """Return the constraint with the range of lengths that pass."""
    min_length, max_length = constraint.length
    if constraint.length_of or not 0 < max_length - min_length <= _MAX_REPETITIONS:
        return constraint
    counts = _integer_weights(
        [odds(f"length:{length}") for length in range(min_length, max_length + 1)]
    )
    if counts is None:
        return constraint
    lengths = [
        length
        for length, count in zip(range(min_length, max_length + 1), counts, strict=True)
        if count
    ]
    return replace(constraint, length=(min(lengths), max(lengths)))


@_weighted.register(Tensor)
def _tensor(constraint: Tensor, odds: Odds) -> Constraint:
    dtypes = _dtypes(constraint.dtypes, odds)
    return _split_by_rank(_with_decisive_relations(replace(constraint, dtypes=dtypes), odds), odds)


def _with_decisive_relations(constraint: Tensor, odds: Odds) -> Tensor:
    """Add helpful relations to the leading tensor, remove harmful ones, and return the result."""
    if not odds.lead:
        return constraint
    shape, dtype = _relation_sign(odds, "shape"), _relation_sign(odds, "dtype")
    related_parameter = constraint.shape_of or constraint.broadcast_with
    if shape > 0 and constraint.shape is None and constraint.shape_of != odds.lead:
        constraint = replace(constraint, shape_of=odds.lead)
    elif shape < 0 and related_parameter == odds.lead:
        constraint = replace(constraint, shape_of="", broadcast_with="")
    if dtype > 0 and not constraint.dtype_of:
        constraint = replace(constraint, dtype_of=odds.lead)
    elif dtype < 0 and constraint.dtype_of == odds.lead:
        constraint = replace(constraint, dtype_of="")
    return constraint


def _relation_sign(odds: Odds, relation: str) -> int:
    """Return 1 if equality with the leading tensor passes more often, -1 if inequality, else 0."""
    if odds.call_count(f"{relation}=") < _MIN_CALLS:
        return 0
    equal_odds, different_odds = odds(f"{relation}="), odds(f"{relation}!")
    if (
        odds.call_count(f"{relation}!") >= _MIN_CALLS
        and equal_odds > different_odds * _DECISIVE_FACTOR
    ):
        return 1
    return -1 if different_odds > equal_odds * _DECISIVE_FACTOR else 0


def _split_by_rank(constraint: Tensor, odds: Odds) -> Constraint:
    """Return an alternative per rank, weighted by the odds, if nothing else limits the shape."""
    min_rank, max_rank = constraint.ndim
    is_free = constraint.shape is None and not constraint.shape_of and not constraint.broadcast_with
    if not is_free or max_rank == min_rank:
        return constraint
    ranks = range(min_rank, max_rank + 1)
    counts = _integer_weights([odds(f"ndim:{rank}") for rank in ranks])
    if counts is None:
        return constraint
    return _single_or_any_of(
        (float(count), replace(constraint, ndim=(rank, rank)))
        for rank, count in zip(ranks, counts, strict=True)
        if count
    )
