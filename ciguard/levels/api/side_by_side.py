"""Level `api` for several targets of one library, such as two releases.

They mostly agree, and differ in single types, sizes or forms of an argument. So one batch in two is
part of a battery: each of these changes of a call that passed, once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.levels import Batch
from ciguard.levels.api.call_mix import FROM_CONFORMING
from ciguard.levels.api.level import BATCH_SIZES, ApiLevel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_FIRST_CHANGES, _CHANGES = 16, 32
"""Numbers of changes in the first batch of a battery and in later ones. The first one is small, so
that slow calls of some APIs do not keep others from their first changes."""


class SideBySideLevel(ApiLevel):
    """Calls of each API for targets whose outcomes are compared."""

    def __init__(self, apis: Sequence[ApiRecord], seed: int) -> None:
        """Create the level for the records of APIs and the seed of the run."""
        super().__init__(apis, seed, mixes=FROM_CONFORMING)

    @property
    def batch_sizes(self) -> Sequence[int]:
        """Numbers of calls in the first batches of an API; see `ApiLevel.batch_sizes`."""
        first, second, later = BATCH_SIZES
        return first, 1 + _FIRST_CHANGES, second, 1 + _CHANGES, later

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones."""
        has_passed = bool(self.generator(api).experience.examples)
        if number % 2 == 0 or (number == 1 and not has_passed):
            return self.drawn(api, number, drawn_before=(number + 1) // 2)
        calls = self._part_of_battery(api, number)
        return Batch(api=api, kind=self.record(api).kind, cases=calls)

    def _part_of_battery(self, api: str, number: int) -> tuple[ApiCall, ...]:
        """Return a call that passed, and the next of its changes; the call is another one later."""
        known, changed = self._battery(api, 0)
        parts = (number - 1) // 2
        if not parts:
            return (known, *changed[:_FIRST_CHANGES])
        earlier = _FIRST_CHANGES + (parts - 1) * _CHANGES
        battery, start = divmod(earlier, max(len(changed), 1))
        if battery:
            known, changed = self._battery(api, battery)
        return (known, *changed[start : start + _CHANGES])

    def _battery(self, api: str, number: int) -> tuple[ApiCall, list[ApiCall]]:
        """Return a call that passed, or that should if there is none, and all of its changes."""
        generator, rng = self.generator(api), self.random_generator(api, number)
        known = generator.example_call(number, rng)
        if known is None:
            known = generator.conforming_call(rng)
        elif not generator.experience.examples_conform:
            known = replace(known, intent=Intent.BOUNDARY)
        return known, generator.battery(known, rng)
