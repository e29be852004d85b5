"""Calls near a call that passed: most arguments stay, and some are drawn again.

A library checks far more than its documentation states. A call that passed satisfies all checks, so
a mutation of it often reaches the code behind the checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import Explicit, TensorValue, Value
from ciguard.values import SamplingScope

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.levels.api.slots import ParameterSlot

_KEEP_PROBABILITY = 0.5
_REFILL_THRESHOLD = 0.85
_ADD_PROBABILITY = 0.05
_EXACT_PROBABILITY = 0.5
"""Share of calls that keep all arguments of the example if one is mutated afterwards: a call with
many arguments that must fit each other seldom passes the checks if some are drawn again."""


class NeighbourSampler:
    """Sampler of calls that resemble examples."""

    def __init__(
        self, slots: Sequence[ParameterSlot], examples: Sequence[Mapping[str, Value]]
    ) -> None:
        self._slots = tuple(slots)
        names = {slot.name for slot in self._slots}
        # Values of parameters that calls no longer pass are left out.
        self._examples = tuple(
            {name: value for name, value in example.items() if name in names}
            for example in examples
        )

    def draw(
        self,
        rng: random.Random,
        mutated_slots: Sequence[ParameterSlot],
        *,
        is_mutated: bool = False,
    ) -> SamplingScope:
        """Return the arguments of a call near an example.

        Args:
            rng: source of randomness.
            mutated_slots: parameters that the arguments must include, as they will be mutated.
            is_mutated: whether any argument will be mutated.
        """
        example = self._examples[int(rng.random() * len(self._examples))]
        scope = SamplingScope()
        scope.values.update(example)
        if is_mutated and rng.random() < _EXACT_PROBABILITY:
            for slot in self._slots:
                if slot.name not in example and (not slot.share or slot in mutated_slots):
                    scope.values[slot.name] = slot.sample(rng, scope)
        else:
            self._redraw_some(rng, scope, example, mutated_slots)
        return scope

    def _redraw_some(
        self,
        rng: random.Random,
        scope: SamplingScope,
        example: Mapping[str, Value],
        mutated_slots: Sequence[ParameterSlot],
    ) -> None:
        """Draw some arguments of the example again, and add some parameters."""
        values = scope.values
        changed_names: set[str] = set()
        for slot in self._slots:
            original = example.get(slot.name)
            if original is None:
                if (
                    not slot.share
                    or slot in mutated_slots
                    or rng.random() < slot.share * _ADD_PROBABILITY
                ):
                    values[slot.name] = slot.sample(rng, scope)
                continue
            value = _resampled(
                rng,
                scope,
                slot,
                original,
                must_redraw=not changed_names.isdisjoint(slot.referenced_parameters),
            )
            if value is original:
                continue
            values[slot.name] = value
            if _has_changed(original, value):
                changed_names.add(slot.name)


def _resampled(
    rng: random.Random,
    scope: SamplingScope,
    slot: ParameterSlot,
    original: Value,
    *,
    must_redraw: bool,
) -> Value:
    """Return the original argument, or a new one that fits the rest of the call."""
    pick = rng.random()
    if pick < _KEEP_PROBABILITY and not must_redraw:
        return original
    new_value = slot.sample(rng, scope)
    if must_redraw:
        return new_value
    if not isinstance(original, TensorValue):
        return original if slot.is_sized else new_value
    if pick < _REFILL_THRESHOLD or slot.is_sized:
        return _refilled(original, new_value)
    return new_value


def _refilled(original: TensorValue, new_value: Value) -> Value:
    """Return a tensor with new elements, and the shape and dtype that fit the rest of the call."""
    if not isinstance(new_value, TensorValue) or new_value.dtype != original.dtype:
        return original
    if isinstance(new_value.fill, Explicit) and new_value.shape != original.shape:
        return original
    return TensorValue(original.dtype, original.shape, new_value.fill)


def _has_changed(original: Value, value: Value) -> bool:
    """Return whether the shape or dtype differs, to which other parameters may refer."""
    if isinstance(original, TensorValue) and isinstance(value, TensorValue):
        return (original.dtype, original.shape) != (value.dtype, value.shape)
    return original != value
