"""Options: the values that one argument of a call can take while the others stay.

Each number and axis also takes values next to its range, which every backend should treat alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ciguard.domain.values import DtypeValue, LiteralValue, Value
from ciguard.values import AnyOf, Bool, Dtype, Int, OneOf, Optional

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from ciguard.levels.api.slots import ParameterSlot
    from ciguard.values import Constraint, SamplingScope


@dataclass(frozen=True, slots=True)
class CallOption:
    """A value of one parameter that differs from that of a call."""

    parameter: str
    """Name of the parameter."""
    value: Value
    is_within_range: bool = True
    """False for a value next to the range of the parameter."""


def options_of(
    slots: Sequence[ParameterSlot], scope: SamplingScope, rng: random.Random
) -> Iterator[CallOption]:
    """Yield the options of a call.

    The first value of each parameter precedes the second of any. A required parameter without
    listed values is left out, since other values of it are rarely valid for the rest of the call.

    Args:
        slots: the parameters of the API.
        scope: the arguments of the call.
        rng: source of randomness, for values of optional parameters that are not listed.
    """
    columns = []
    for slot in slots:
        listed = tuple(dict.fromkeys(_listed(slot.constraint, scope)))
        values = listed or ((slot.sample(rng, scope),) if slot.share else ())
        options = [CallOption(slot.name, value) for value in values]
        options += [
            CallOption(slot.name, value, is_within_range=False)
            for value in _beside_range(slot.constraint, scope)
        ]
        current = scope.values.get(slot.name)
        columns.append([option for option in options if option.value != current])
    rows = chain.from_iterable(zip_longest(*columns))
    yield from (option for option in rows if option is not None)


def _listed(constraint: Constraint, scope: SamplingScope) -> Iterator[Value]:
    """Yield the values that a constraint lists: members, both bools, axes and dtypes."""
    match constraint:
        case OneOf(values):
            yield from values
        case Bool():
            yield from map(LiteralValue, (True, False))
        case Optional(inner):
            yield from _listed(inner, scope)
            yield LiteralValue(None)
        case AnyOf(options):
            for _, option in options:
                yield from _listed(option, scope)
        case Int(axis_of=parameter) if parameter:
            rank = len(scope.shape(parameter) or ())
            yield from map(LiteralValue, range(-rank, rank))
        case Dtype(names=names, dtype_of=""):
            yield from map(DtypeValue, names)
        case _:
            return


def _beside_range(constraint: Constraint, scope: SamplingScope) -> Iterator[Value]:
    """Yield numbers next to the range of an integer: axes that are one off, 0, 1 and -1."""
    match constraint:
        case Optional(inner):
            yield from _beside_range(inner, scope)
        case Int(axis_of=parameter) if parameter:
            rank = len(scope.shape(parameter) or ())
            yield from map(LiteralValue, (rank, -rank - 1))
        case Int():
            yield from map(LiteralValue, (0, 1, -1))
        case _:
            return
