"""Attribution stage: buckets shown by one side of a change are tested on both sides."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.trial import TOGETHER
from ciguard.domain.findings import PairKind
from ciguard.triage import distinct_causes_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket
    from ciguard.execution import JobResult


_S_PER_DIFFERENCE = 0.03
_S_PER_OTHER_BUCKET = 1.5
"""Measured with torch 2.13.0 and Keras 3.15.1 on two cores. Calls near the case take most of it."""
_ESTIMATE_EVERY_S = 1.0
"""Interval of the estimate, which reads all buckets, while exploring asks for it after each job."""
_EARLY_EVERY_S = 0.5
"""Interval of looking for differences that can be tested beside exploring."""


class Attribute(CampaignStage):
    """Determines whether new buckets show on the base or on the head, in runs with a base."""

    name = "attribute"
    keys = (Attributor.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._attributor = Attributor(state.dispatcher, state.groups)
        self._estimate_s = 0.0
        self._estimate_at = 0.0
        """Time from which on a new estimate is made, on the clock of `time.monotonic`."""
        self._early_at = 0.0
        """Time from which on differences are looked for, on the clock of `time.monotonic`."""
        self._early: set[str] = set()
        """Fingerprints of the buckets that are tested beside exploring."""

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        """Test differences beside exploring, one group at a time: releases have hundreds."""
        state, now = self._state, time.monotonic()
        if is_exploring and state.base and self._attributor.is_idle and now >= self._early_at:
            self._early_at = now + _EARLY_EVERY_S
            differences = [
                bucket
                for bucket in state.collector.by_severity()
                if bucket.finding.pair is not PairKind.NONE and self._is_open(bucket)
            ]
            if len(differences) >= TOGETHER:
                self._test_early(differences[:TOGETHER])
        return iter(())

    def _test_early(self, buckets: Sequence[Bucket]) -> None:
        for bucket in buckets:
            self._early.add(bucket.fingerprint)
            cases = self._state.collector.cases.get(bucket.fingerprint, ())
            self._attributor.propose(bucket, cases, self._state.base)
        self._attributor.pump()

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Test new buckets on both sides.

        One bucket of each cause comes first, by decreasing severity, so that as many causes as
        possible are tested in time.
        """
        state, attributor, collector = self._state, self._attributor, self._state.collector
        for bucket in distinct_causes_first(collector.by_severity()):
            if self._is_open(bucket) and bucket.fingerprint not in self._early:
                attributor.propose(bucket, collector.cases.get(bucket.fingerprint, ()), state.base)
        while not attributor.is_idle and time.monotonic() < state.budget.attribute_until:
            attributor.pump()
            yield from loop.step_running()
        self._abandon()

    @property
    def overtime_s(self) -> float:
        """Expected time for all buckets beyond the stage's share: releases differ in hundreds."""
        state, now = self._state, time.monotonic()
        if not state.base or now < self._estimate_at:
            return self._estimate_s
        self._estimate_at = now + _ESTIMATE_EVERY_S
        buckets = [bucket for bucket in state.collector.by_severity() if self._is_open(bucket)]
        differences = sum(bucket.finding.pair is not PairKind.NONE for bucket in buckets)
        others = sum(self._is_of_one_side(bucket) for bucket in buckets) - differences
        needed_s = _S_PER_DIFFERENCE * differences + _S_PER_OTHER_BUCKET * others
        self._estimate_s = max(0.0, needed_s - state.budget.attribute_s)
        return self._estimate_s

    def _is_open(self, bucket: Bucket) -> bool:
        """Return whether a bucket would be new, or fixed, and is not attributed."""
        is_known = not self._state.baseline.fingerprints.isdisjoint(
            (bucket.fingerprint, *bucket.aliases)
        )
        return (
            not is_known
            and bucket.attribution is None
            and self._attributor.is_attributable(bucket.finding, self._state.base)
        )

    def _is_of_one_side(self, bucket: Bucket) -> bool:
        """Return whether a bucket is a difference, or only base or only head has shown it."""
        shown = self._state.collector.shown_on.get(bucket.fingerprint, set())
        sides = {name in self._state.base for targets in shown for name in targets}
        return bucket.finding.pair is not PairKind.NONE or len(sides) == 1

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result, and record the attribution of the buckets that it decides."""
        for attributed in self._attributor.take(result):
            self._early.discard(attributed.key)
            yield from self._state.collector.set_attribution(attributed)

    def give_up(self, target: str) -> Iterator[Event]:
        """Mark buckets that need a failed target as pending."""
        self._abandon(target)
        yield from ()

    def _abandon(self, target: str = "") -> None:
        for key in self._attributor.abandon(target):
            self._early.discard(key)
            self._state.collector.mark_pending(key)
