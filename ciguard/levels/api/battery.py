"""Battery of a call: every change of one argument, and every joint change of all tensors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ciguard.domain.values import TensorValue
from ciguard.levels.api.options import options_of
from ciguard.values.changes import alternatives, limits, of_further_kinds

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Value
    from ciguard.levels.api.slots import ParameterSlot
    from ciguard.libraries import TensorForm
    from ciguard.values import SamplingScope


@dataclass(frozen=True, slots=True)
class ChangedArguments:
    """Arguments of a call that differ from those of another one."""

    values: Mapping[str, Value]
    """All arguments by parameter."""
    parameters: tuple[str, ...]
    """Names of the parameters whose arguments differ."""
    conforms: bool = False
    """True if the arguments satisfy all constraints if those of the other call do."""


def battery_of(
    slots: Sequence[ParameterSlot],
    scope: SamplingScope,
    rng: random.Random,
    *,
    forms: Sequence[TensorForm] = (),
) -> list[ChangedArguments]:
    """Return the changes of a call, each once, the first of each kind before the second of any.

    Values of kinds that seldom show a difference come last, since most batteries end before them.

    Args:
        slots: the parameters of the API.
        scope: the arguments of the call.
        rng: source of randomness, for values of optional parameters that are not listed.
        forms: further forms of a tensor; malformed ones are left out.
    """
    values = scope.values
    columns = [_options(slots, scope, rng)]
    further = _further(slots, scope, rng)
    columns += [_named(values, changed) for changed in alternatives(values, further)]
    valid = [form for form in forms if not form.instead_of]
    columns += [_in_forms(values, name, valid) for name in values]
    last = [_named(values, changed) for changed in of_further_kinds(values, further)]
    return _each_once(chain(_in_turn(columns), _in_turn(last)))


def limits_of(
    slots: Sequence[ParameterSlot], scope: SamplingScope, rng: random.Random
) -> list[ChangedArguments]:
    """Return the changes of a call to limits, each once, the first of each argument first.

    Args:
        slots: the parameters of the API.
        scope: the arguments of the call.
        rng: source of randomness, for values of optional parameters.
    """
    values = scope.values
    changes = limits(values, _further(slots, scope, rng))
    return _each_once(_in_turn([_named(values, changed) for changed in changes]))


def _further(
    slots: Sequence[ParameterSlot], scope: SamplingScope, rng: random.Random
) -> dict[str, Value]:
    """Return arguments for the parameters that a call lacks, except rare ones such as `out`."""
    return {
        slot.name: slot.sample(rng, scope)
        for slot in slots
        if slot.name not in scope.values and not 0 < slot.share < 1
    }


def _in_turn(columns: Sequence[Iterator[ChangedArguments]]) -> Iterator[ChangedArguments]:
    """Yield the changes of all columns, the first of each before the second of any."""
    rows = chain.from_iterable(zip_longest(*columns))
    yield from (change for change in rows if change is not None)


def _each_once(changes: Iterator[ChangedArguments]) -> list[ChangedArguments]:
    return list({tuple(change.values.items()): change for change in changes}.values())


def _options(
    slots: Sequence[ParameterSlot], scope: SamplingScope, rng: random.Random
) -> Iterator[ChangedArguments]:
    for option in options_of(slots, scope, rng):
        values = {**scope.values, option.parameter: option.value}
        yield ChangedArguments(values, (option.parameter,), conforms=option.is_within_range)


def _in_forms(
    values: Mapping[str, Value], parameter: str, forms: Sequence[TensorForm]
) -> Iterator[ChangedArguments]:
    tensor = values[parameter]
    for form in forms:
        if isinstance(tensor, TensorValue) and form.fits(tensor):
            yield ChangedArguments({**values, parameter: form.make(tensor)}, (parameter,))


def _named(
    values: Mapping[str, Value], changed: Iterator[dict[str, Value]]
) -> Iterator[ChangedArguments]:
    for other in changed:
        names = [name for name, value in other.items() if value is not values.get(name)]
        yield ChangedArguments(other, tuple(names))
