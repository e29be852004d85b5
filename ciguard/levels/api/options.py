"""Options: the values that one argument of a call can take while the others stay."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ciguard.domain.values import DtypeValue, LiteralValue, Value
from ciguard.values import AnyOf, Bool, Dtype, Int, OneOf, Optional

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from ciguard.levels.api.slots import ParameterSlot
    from ciguard.values import Constraint, SamplingScope


def options_of(
    slots: Sequence[ParameterSlot], scope: SamplingScope, rng: random.Random
) -> Iterator[tuple[str, Value]]:
    """Yield parameters with a value that differs from that of a call.

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
        columns.append(
            [(slot.name, value) for value in values if value != scope.values.get(slot.name)]
        )
    yield from (pair for pair in chain.from_iterable(zip_longest(*columns)) if pair is not None)


def _listed(constraint: Constraint, scope: SamplingScope) -> Iterator[Value]:
    """Yield the values that a constraint lists: members, both bools, axes and dtypes."""
    match constraint:
        case OneOf(values):
            yield from values
        case Bool():
            yield from map(LiteralValue, (True, False))
        case Optional(inner):
            yield from _listed(inner, scope)
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
