"""Calls near one that passed: most arguments stay, some are drawn anew.

What a library checks goes far beyond what its documentation says. A call that passed satisfies all
of it, so that whatever is bent next meets the code behind the checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import Explicit, TensorValue, Value
from ciguard.values import SamplingScope

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.levels.api.slots import ParameterSlot

_KEPT = 0.5
_REFILLED = 0.85
_NEWLY_GIVEN = 0.05


class Nearby:
    """Draws calls near the examples."""

    def __init__(
        self, slots: Sequence[ParameterSlot], examples: Sequence[Mapping[str, Value]]
    ) -> None:
        self._slots = tuple(slots)
        known = {slot.name for slot in self._slots}
        # What was learned of a parameter that is no longer given is left out.
        self._examples = tuple(
            {name: value for name, value in example.items() if name in known}
            for example in examples
        )

    def draw(self, rng: random.Random, focuses: Sequence[ParameterSlot]) -> SamplingScope:
        """Return the arguments of a call near one that passed; those in focus are given."""
        example = self._examples[int(rng.random() * len(self._examples))]
        scope = SamplingScope()
        values = scope.values
        values.update(example)
        moved: set[str] = set()
        for slot in self._slots:
            kept = example.get(slot.name)
            if kept is None:
                if not slot.share or slot in focuses or rng.random() < slot.share * _NEWLY_GIVEN:
                    values[slot.name] = slot.sample(rng, scope)
                continue
            value = _redrawn(rng, scope, slot, kept, must=not moved.isdisjoint(slot.follows))
            values[slot.name] = value
            if _has_moved(kept, value):
                moved.add(slot.name)
        return scope


def _redrawn(
    rng: random.Random, scope: SamplingScope, slot: ParameterSlot, kept: Value, *, must: bool
) -> Value:
    pick = rng.random()
    if pick < _KEPT and not must:
        return kept
    drawn = slot.sample(rng, scope)
    if must:
        return drawn
    if not isinstance(kept, TensorValue):
        return kept if slot.is_sized else drawn
    if pick < _REFILLED or slot.is_sized:
        return _refilled(kept, drawn)
    return drawn


def _refilled(kept: TensorValue, drawn: Value) -> Value:
    """Return the tensor with other elements; its shape and dtype fit the rest of the call."""
    if not isinstance(drawn, TensorValue) or drawn.dtype != kept.dtype:
        return kept
    if isinstance(drawn.fill, Explicit) and drawn.shape != kept.shape:
        return kept
    return TensorValue(kept.dtype, kept.shape, drawn.fill)


def _has_moved(kept: Value, value: Value) -> bool:
    """Return whether what others refer to, shape and dtype, is another now."""
    if isinstance(kept, TensorValue) and isinstance(value, TensorValue):
        return (kept.dtype, kept.shape) != (value.dtype, value.shape)
    return kept != value
