"""Attribution: what one side of a change has shown is tried on both sides."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.triage import first_of_each_cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult


class Attribute(CampaignStage):
    """Finds out of new buckets whether base or head has them; for runs with a base."""

    name = "attribute"
    keys = (Attributor.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._attributor = Attributor(state.dispatcher, state.groups)

    def run(self, turns: Turns) -> Iterator[Event]:
        """Try what is new.

        One bucket of each cause comes first, the gravest before the others: where time ends, no
        cause is left untried for the sake of another's second bucket.
        """
        state, attributor, intake = self._state, self._attributor, self._state.intake
        known = state.memory.fingerprints
        for bucket in first_of_each_cause(intake.worst_first()):
            is_known = not known.isdisjoint((bucket.fingerprint, *bucket.aliases))
            if not is_known and bucket.attribution is None:
                attributor.propose(bucket, intake.cases.get(bucket.fingerprint, ()), state.base)
        while not attributor.is_idle and time.monotonic() < state.budget.attribute_until:
            attributor.pump()
            yield from turns.take_quietly()
        self._abandon()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take a result, and note which sides show the buckets that it decides."""
        for attributed in self._attributor.take(result):
            yield from self._state.intake.attribute(attributed)

    def give_up(self, target: str) -> Iterator[Event]:
        """Let buckets wait that need a target that failed."""
        self._abandon(target)
        yield from ()

    def _abandon(self, target: str = "") -> None:
        for key in self._attributor.abandon(target):
            self._state.intake.doubt(key)
