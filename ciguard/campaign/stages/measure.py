"""Time and memory of calls, measured on several targets against each other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.measuring import Measurer
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import Suspects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import Executed
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult

_MAX_WAITING = 0.3
"""Of the time for measuring: until everything else has ended."""


class Measure(CampaignStage):
    """Measures what looked costly while it was explored, while nothing else runs."""

    name = "measure"
    keys = (Measurer.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._suspects = Suspects()
        self._measurer = Measurer(state.dispatcher, state.groups, known=state.memory.fingerprints)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Buckets whose case was measured again."""
        return self._measurer.measured

    def watch(self, executed: Executed, group: Group) -> None:
        """Look at the costs of a batch that was explored."""
        self._suspects.note(executed, group)

    def run(self, turns: Turns) -> Iterator[Event]:
        """Measure, where targets can be compared."""
        state, measurer = self._state, self._measurer
        if not state.budget.measures:
            return
        until = state.budget.measure_until
        state.dispatcher.clear_queue()
        # A hang that is being confirmed may take long: then it has to be measured beside it.
        patience_until = until - (until - time.monotonic()) * (1 - _MAX_WAITING)
        measurer.propose(state.corpus(), self._suspects.ranked())
        while not measurer.is_idle and time.monotonic() < until:
            if state.dispatcher.is_idle or time.monotonic() > patience_until:
                measurer.pump()
            yield from turns.take_quietly()
        yield from state.intake.settle(measurer.abandon())

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take a result, and what it settles."""
        return self._state.intake.settle(self._measurer.take(result))

    def give_up(self, target: str) -> Iterator[Event]:
        """Let findings wait that need a target that failed."""
        return self._state.intake.settle(self._measurer.abandon(target))

    def close(self) -> None:
        """Let findings wait that were not measured twice."""
        for _ in self._state.intake.settle(self._measurer.abandon()):
            pass
