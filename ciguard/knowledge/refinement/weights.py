"""Draw from what works: the alternatives of a constraint, weighted by how they fared.

The language of constraints needs no word for this: alternatives that are listed twice are drawn
twice as often, and `AnyOf` has weights.
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
    """How much likelier a call passes when a trait is present, against the average call."""

    counts: Mapping[str, Sequence[int]]
    """Trait → how often it passed and was refused."""
    pass_rate: float
    """Of the average call."""
    lead: str = ""
    """The parameter that shapes and dtypes are compared with."""

    def __call__(self, trait: str) -> float:
        """Return a factor: 1 for no difference or no experience, never 0."""
        passed, refused = self.counts.get(trait, (0, 0))
        rate = (passed + _PRIOR * self.pass_rate) / (passed + refused + _PRIOR)
        return min(max(rate / self.pass_rate, _LEAST), _MOST)

    def seen(self, trait: str) -> int:
        """Return how often a trait was met."""
        return sum(self.counts.get(trait, ()))


_PRIOR = 2.0
_LEAST, _MOST = 1 / 16, 16.0
_DECISIVE = 3.0
"""A relation is taken up or dropped when its odds differ by this factor."""
_ENOUGH = 6
_STEPS = 8
"""Weights become repetitions: the best alternative is listed this often."""
_TABULATED = 16
_EQUAL = 1.15
"""Alternatives whose odds differ by less than this factor are left as they are."""


def weighted(constraint: Constraint, odds: Odds) -> Constraint:
    """Return the constraint whose alternatives are drawn by `odds`.

    Alternatives that never pass beside others that do are left out: the share of calls that
    ignores what was learned still draws them.
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
"""Structures whose values are called otherwise than the constraint; the others share its name."""


def _kinds(option: Constraint) -> tuple[str, ...]:
    """Return the traits of structure that values of a constraint have."""
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
    none = constraint.none_share * odds("kind:none")
    some = (1 - constraint.none_share) * max(map(odds, _kinds(constraint.inner)), default=1.0)
    share = min(max(none / (none + some), 0.02), 0.98)
    return Optional(_weighted(constraint.inner, odds), share)


@_weighted.register(OneOf)
def _one_of(constraint: OneOf, odds: Odds) -> Constraint:
    return _drawn_by_odds(constraint.values, odds) or constraint


@_weighted.register(Bool)
def _bool(constraint: Bool, odds: Odds) -> Constraint:
    return _drawn_by_odds((LiteralValue(value=False), LiteralValue(value=True)), odds) or constraint


@_weighted.register(Int)
def _int(constraint: Int, odds: Odds) -> Constraint:
    if constraint.size or constraint.axis_of or constraint.max - constraint.min > _TABULATED:
        return constraint
    every = tuple(map(LiteralValue, range(constraint.min, constraint.max + 1)))
    return _drawn_by_odds(every, odds) or constraint


def _drawn_by_odds(values: tuple[Value, ...], odds: Odds) -> OneOf | None:
    counts = _repetitions([odds(choice_of(value) or "") for value in values])
    if counts is None:
        return None
    repeated = zip(values, counts, strict=True)
    return OneOf(tuple(value for value, count in repeated for _ in range(count)))


def _repetitions(odds: list[float]) -> list[int] | None:
    """Return how often to list each alternative; nothing where they fared alike."""
    best = max(odds)
    if best < min(odds) * _EQUAL:
        return None
    counts = [round(_STEPS * one / best) for one in odds]
    return None if len(set(counts)) == 1 else counts


@_weighted.register(Dtype)
def _dtype(constraint: Dtype, odds: Odds) -> Constraint:
    chosen = _dtypes(constraint.names, odds)
    return replace(constraint, names=chosen)


def _dtypes(names: tuple[str, ...], odds: Odds) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(names))
    counts = _repetitions([odds(choice_of(DtypeValue(name))) for name in distinct])
    if counts is None:
        return names
    return tuple(n for n, count in zip(distinct, counts, strict=True) for _ in range(count))


@_weighted.register(Ints)
def _ints(constraint: Ints, odds: Odds) -> Constraint:
    least, most = constraint.length
    if constraint.length_of or constraint.sizes or not 0 < most - least <= _STEPS:
        return constraint
    counts = _repetitions([odds(f"length:{length}") for length in range(least, most + 1)])
    if counts is None:
        return constraint
    return _any_of_these(
        (float(count), replace(constraint, length=(length, length)))
        for length, count in zip(range(least, most + 1), counts, strict=True)
        if count
    )


def _any_of_these(options: Iterable[tuple[float, Constraint]]) -> Constraint:
    found = tuple(options)
    return found[0][1] if len(found) == 1 else AnyOf(found)


@_weighted.register(List)
def _list(constraint: List, odds: Odds) -> Constraint:
    least, most = constraint.length
    if constraint.length_of or not 0 < most - least <= _STEPS:
        return constraint
    counts = _repetitions([odds(f"length:{length}") for length in range(least, most + 1)])
    if counts is None:
        return constraint
    kept = [length for length, count in zip(range(least, most + 1), counts, strict=True) if count]
    return replace(constraint, length=(min(kept), max(kept)))


@_weighted.register(Tensor)
def _tensor(constraint: Tensor, odds: Odds) -> Constraint:
    dtypes = _dtypes(constraint.dtypes, odds)
    return _by_rank(_related(replace(constraint, dtypes=dtypes), odds), odds)


def _related(constraint: Tensor, odds: Odds) -> Tensor:
    """Take up the lead's shape and dtype where that passes and other ones do not; or drop them."""
    if not odds.lead:
        return constraint
    shape, dtype = _verdict(odds, "shape"), _verdict(odds, "dtype")
    is_bound = constraint.shape_of or constraint.broadcast_with
    if shape > 0 and constraint.shape is None and constraint.shape_of != odds.lead:
        constraint = replace(constraint, shape_of=odds.lead)
    elif shape < 0 and is_bound == odds.lead:
        constraint = replace(constraint, shape_of="", broadcast_with="")
    if dtype > 0 and not constraint.dtype_of:
        constraint = replace(constraint, dtype_of=odds.lead)
    elif dtype < 0 and constraint.dtype_of == odds.lead:
        constraint = replace(constraint, dtype_of="")
    return constraint


def _verdict(odds: Odds, relation: str) -> int:
    """Return 1 where equality with the lead passes, -1 where only difference does, else 0."""
    if odds.seen(f"{relation}=") < _ENOUGH:
        return 0
    equal, different = odds(f"{relation}="), odds(f"{relation}!")
    if odds.seen(f"{relation}!") >= _ENOUGH and equal > different * _DECISIVE:
        return 1
    return -1 if different > equal * _DECISIVE else 0


def _by_rank(constraint: Tensor, odds: Odds) -> Constraint:
    least, most = constraint.ndim
    is_free = constraint.shape is None and not constraint.shape_of and not constraint.broadcast_with
    if not is_free or most == least:
        return constraint
    ranks = range(least, most + 1)
    counts = _repetitions([odds(f"ndim:{rank}") for rank in ranks])
    if counts is None:
        return constraint
    return _any_of_these(
        (float(count), replace(constraint, ndim=(rank, rank)))
        for rank, count in zip(ranks, counts, strict=True)
        if count
    )
