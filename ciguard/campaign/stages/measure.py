"""Measuring stage: time and memory of calls are compared between targets."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.measuring import Measurer
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import Suspects

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.stages.suspects import SuspectCall
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult

_MAX_WAITING_SHARE = 0.3
"""Maximum share of the time for measuring that is spent waiting for other jobs."""


class Measure(CampaignStage):
    """Measures calls that seemed costly while exploring, while no other job runs."""

    name = "measure"
    keys = (Measurer.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._suspects = Suspects()
        self._measurer = Measurer(state.dispatcher, state.groups, known=state.baseline.fingerprints)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which known buckets were measured again, by fingerprint."""
        return self._measurer.measured

    def watch(self, executed: ExecutedBatch, group: Group) -> None:
        """Record the costs of an explored batch."""
        self._suspects.note(executed, group)

    @property
    def has_candidates(self) -> bool:
        """True if calls were recorded that can be compared between targets."""
        return self._suspects.has_calls

    def candidates(self, preferred: Collection[str]) -> list[SuspectCall]:
        """Return one call per API: suspicious ones first, then those of preferred APIs.

        Calls that were screened have their enlarged inputs.
        """
        screened = {(call.library, call.case.api): call for call in self._measurer.screened}
        suspicious = {(call.library, call.case.api) for call in self._measurer.suspicious}
        calls = [
            screened.get((call.library, call.case.api), call) for call in self._suspects.ranked()
        ]

        def order(call: SuspectCall) -> tuple[bool, bool]:
            key = call.library, call.case.api
            return key not in suspicious, call.case.api not in preferred

        return sorted(calls, key=order)

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Measure calls, if there are comparable targets."""
        state, measurer = self._state, self._measurer
        if not state.budget.measures:
            return
        until = state.budget.measure_until
        state.dispatcher.clear_queue()
        # Confirming a hang may take long: then measuring begins in parallel.
        wait_until = until - (until - time.monotonic()) * (1 - _MAX_WAITING_SHARE)
        measurer.propose(state.corpus(), self._suspects.ranked())
        while not measurer.is_idle and time.monotonic() < until:
            if state.dispatcher.is_idle or time.monotonic() > wait_until:
                measurer.pump()
            yield from loop.step_running()
        yield from state.collector.settle(measurer.abandon())

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result, and settle the findings that it decides."""
        return self._state.collector.settle(self._measurer.take(result))

    def give_up(self, target: str) -> Iterator[Event]:
        """Settle findings that need a failed target as pending."""
        return self._state.collector.settle(self._measurer.abandon(target))

    def close(self) -> None:
        """Settle findings that were not measured twice as pending."""
        for _ in self._state.collector.settle(self._measurer.abandon()):
            pass
