"""Calls near one that passed: most arguments stay, some are drawn again.

A library checks far more than its documentation states. A call that passed satisfies all checks, so
that a further mutation reaches the code behind them.
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


class NeighbourSampler:
    """Draws calls near the examples."""

    def __init__(
        self, slots: Sequence[ParameterSlot], examples: Sequence[Mapping[str, Value]]
    ) -> None:
        self._slots = tuple(slots)
        names = {slot.name for slot in self._slots}
        # Values of parameters that are no longer given are left out.
        self._examples = tuple(
            {name: value for name, value in example.items() if name in names}
            for example in examples
        )

    def draw(self, rng: random.Random, focuses: Sequence[ParameterSlot]) -> SamplingScope:
        """Return the arguments of a call near one that passed, including all focused parameters."""
        example = self._examples[int(rng.random() * len(self._examples))]
        scope = SamplingScope()
        values = scope.values
        values.update(example)
        changed: set[str] = set()
        for slot in self._slots:
            original = example.get(slot.name)
            if original is None:
                if (
                    not slot.share
                    or slot in focuses
                    or rng.random() < slot.share * _ADD_PROBABILITY
                ):
                    values[slot.name] = slot.sample(rng, scope)
                continue
            value = _resampled(
                rng, scope, slot, original, must=not changed.isdisjoint(slot.follows)
            )
            values[slot.name] = value
            if _has_changed(original, value):
                changed.add(slot.name)
        return scope


def _resampled(
    rng: random.Random, scope: SamplingScope, slot: ParameterSlot, original: Value, *, must: bool
) -> Value:
    pick = rng.random()
    if pick < _KEEP_PROBABILITY and not must:
        return original
    drawn = slot.sample(rng, scope)
    if must:
        return drawn
    if not isinstance(original, TensorValue):
        return original if slot.is_sized else drawn
    if pick < _REFILL_THRESHOLD or slot.is_sized:
        return _refilled(original, drawn)
    return drawn


def _refilled(original: TensorValue, drawn: Value) -> Value:
    """Return the tensor with other elements; shape and dtype must fit the rest of the call."""
    if not isinstance(drawn, TensorValue) or drawn.dtype != original.dtype:
        return original
    if isinstance(drawn.fill, Explicit) and drawn.shape != original.shape:
        return original
    return TensorValue(original.dtype, original.shape, drawn.fill)


def _has_changed(original: Value, value: Value) -> bool:
    """Return whether a property that other parameters refer to, shape or dtype, has changed."""
    if isinstance(original, TensorValue) and isinstance(value, TensorValue):
        return (original.dtype, original.shape) != (value.dtype, value.shape)
    return original != value
