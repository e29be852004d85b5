"""Stages of direct tests, whose cases workers cannot run."""

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
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event


def direct_stages(state: CampaignState) -> list[RunDirectTests]:
    """Return a stage for each level that has such tests."""
    config = state.config
    tests_of_levels = [
        level.direct(config, state.groups, state.budget) for level in levels_in(config)
    ]
    return [RunDirectTests(state, tests) for tests in tests_of_levels if tests is not None]


class RunDirectTests(CampaignStage):
    """Runs the direct tests of one level, which gets an equal share of the time."""

    def __init__(self, state: CampaignState, tests: DirectTests) -> None:
        self.name = tests.stage
        self._state = state
        self._tests = tests

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which known buckets were tested and not found, by fingerprint."""
        return self._tests.gone

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run the tests, whose findings are already confirmed."""
        del loop
        state = self._state
        deadline = state.budget.explore_until
        now = time.monotonic()
        until = now + (deadline - now) / len(state.config.levels)
        known = current(state.baseline.records).values()
        for item in chain(
            self._tests.events(until), self._tests.again(known, state.collector.counts, deadline)
        ):
            if isinstance(item, Finding):
                yield from state.collector.accept(item)
            else:
                yield item
