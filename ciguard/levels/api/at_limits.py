"""Level `api` for one target, most of whose defects are crashes.

Most crashes need one argument at a limit in a call that the library would accept otherwise. So half
of the batches after the first change a call that passed to each limit, once. Some crashes need two
arguments at limits, so later batches change a call with one change again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.levels import Batch
from ciguard.levels.api.level import ApiLevel

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall

_MAX_CHANGES = 64
_FIRST_OF_TWO_CHANGES = 5
"""Number of the first batch whose calls have two changes."""


class LimitsLevel(ApiLevel):
    """Calls of each API that are drawn and, in turn, changes of a call that passed to limits."""

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones."""
        if number % 2 == 0 or not self.generator(api).experience.examples:
            return super().visit(api, number)
        calls = self._at_limits(api, number)
        return Batch(api=api, kind=self.record(api).kind, cases=calls)

    def _at_limits(self, api: str, number: int) -> tuple[ApiCall, ...]:
        """Return a call that passed, another one in each such batch, and its changes to limits."""
        generator, rng = self.generator(api), self.random_generator(api, number)
        known = generator.example_call(number // 2, rng)
        if known is None:
            return ()
        changed = generator.at_limits(known, rng)
        if number >= _FIRST_OF_TWO_CHANGES and changed:
            changed = generator.at_limits(rng.choice(changed), rng)
        if len(changed) > _MAX_CHANGES:
            changed = rng.sample(changed, _MAX_CHANGES)
        return (replace(known, intent=Intent.BOUNDARY), *changed)
