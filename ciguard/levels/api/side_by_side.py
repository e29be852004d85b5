"""Level `api` for several targets of one library, such as two releases.

They mostly agree, and differ in single types, sizes or forms of an argument. So one batch in two is
a battery: each of these changes of a call that passed, once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.levels import Batch
from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall

_FIRST = 2
"""Number of batches of an API before its first battery, in which a call should have passed."""
_MAX_CHANGES = 96
"""Maximum number of calls of one battery."""


class SideBySideLevel(ApiLevel):
    """Calls of each API for targets whose outcomes are compared."""

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones."""
        if number < _FIRST or number % 2:
            return super().visit(api, number)
        calls = self._battery(api, number)
        return Batch(api=api, kind=self.record(api).kind, cases=calls)

    def _battery(self, api: str, number: int) -> tuple[ApiCall, ...]:
        """Return the calls of one battery; each battery changes another call that passed."""
        generator, rng = self.generator(api), self.random_generator(api, number)
        known = generator.example_call(number // 2 - 1, rng)
        if known is None:
            known = generator.conforming_call(rng)
        elif not generator.experience.examples_conform:
            known = replace(known, intent=Intent.BOUNDARY)
        changed = generator.battery(known, rng)
        if len(changed) > _MAX_CHANGES:
            kept = sorted(rng.sample(range(len(changed)), _MAX_CHANGES))
            changed = [changed[position] for position in kept]
        return (known, *changed)
