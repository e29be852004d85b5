"""What a level tries by itself, since workers cannot run its cases."""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.baseline import current
from ciguard.campaign.levels import levels_in
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.domain.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.campaign.levels import DirectTests
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event


def direct_stages(state: CampaignState) -> list[TryDirectly]:
    """Return a stage for each level that has such tests."""
    config = state.config
    made = [level.direct(config, state.groups, state.budget) for level in levels_in(config)]
    return [TryDirectly(state, tests) for tests in made if tests is not None]


class TryDirectly(CampaignStage):
    """Runs the tests of one level, for as long as every other level has too."""

    def __init__(self, state: CampaignState, tests: DirectTests) -> None:
        self.name = tests.stage
        self._state = state
        self._tests = tests

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Known buckets that were looked at again and are not there."""
        return self._tests.gone

    def run(self, turns: Turns) -> Iterator[Event]:
        """Run the tests; findings are confirmed there."""
        del turns
        state = self._state
        latest = state.budget.explore_until
        now = time.monotonic()
        until = now + (latest - now) / len(state.config.levels)
        known = current(state.memory.records).values()
        for item in chain(
            self._tests.events(until), self._tests.again(known, state.intake.counts, latest)
        ):
            if isinstance(item, Finding):
                yield from state.intake.accept(item)
            else:
                yield item
