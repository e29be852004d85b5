"""Attribution stage: buckets shown by one side of a change are tested on both sides."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.triage import distinct_causes_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult


class Attribute(CampaignStage):
    """Determines whether new buckets show on the base or on the head, in runs with a base."""

    name = "attribute"
    keys = (Attributor.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._attributor = Attributor(state.dispatcher, state.groups)

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Test new buckets on both sides.

        One bucket of each cause comes first, by decreasing severity, so that as many causes as
        possible are tested in time.
        """
        state, attributor, collector = self._state, self._attributor, self._state.collector
        known = state.baseline.fingerprints
        for bucket in distinct_causes_first(collector.by_severity()):
            is_known = not known.isdisjoint((bucket.fingerprint, *bucket.aliases))
            if not is_known and bucket.attribution is None:
                attributor.propose(bucket, collector.cases.get(bucket.fingerprint, ()), state.base)
        while not attributor.is_idle and time.monotonic() < state.budget.attribute_until:
            attributor.pump()
            yield from loop.step_running()
        self._abandon()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result, and record the attribution of the buckets that it decides."""
        for attributed in self._attributor.take(result):
            yield from self._state.collector.set_attribution(attributed)

    def give_up(self, target: str) -> Iterator[Event]:
        """Mark buckets that need a failed target as pending."""
        self._abandon(target)
        yield from ()

    def _abandon(self, target: str = "") -> None:
        for key in self._attributor.abandon(target):
            self._state.collector.mark_pending(key)
