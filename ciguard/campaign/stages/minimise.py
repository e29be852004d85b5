"""Minimising stage: new buckets get simpler cases."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.group import subject_of
from ciguard.campaign.rating import Rater
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.domain.findings import Severity
from ciguard.oracles import is_measured, traits_of
from ciguard.triage import Minimiser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket
    from ciguard.execution import JobResult

_MAX_SHARE_BESIDE_EXPLORING = 0.15
"""Maximum time of workers that minimise while others explore, as a share of the elapsed time."""

_MAX_SHARE_AFTER_EXPLORING = 0.05
"""Maximum time that exploring leaves for minimising, as a share of the budget."""


class Minimise(CampaignStage):
    """Minimises new buckets by decreasing severity, beside exploring and after it.

    Hangs come last, as each variant costs its timeout.
    """

    name = "minimise"
    keys = (Minimiser.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._minimiser = Minimiser(
            state.dispatcher,
            repetitions=state.config.confirmations,
            subject_of=partial(subject_of, state.groups),
            time_left=lambda: state.budget.minimise_until - time.monotonic(),
            conformity=Rater(state.groups),
        )
        self._proposed: set[str] = set()
        """Fingerprints of the buckets that were passed to the minimiser."""
        self._seen = 0
        """Number of confirmed buckets when `_waiting` was last updated."""
        self._waiting: dict[str, Bucket] = {}
        """New buckets that were not passed to the minimiser, by decreasing severity."""

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Minimise the remaining buckets until the time is over, or other stages need it."""
        state, minimiser = self._state, self._minimiser
        self._update_waiting()
        for bucket in sorted(self._waiting.values(), key=_takes_whole_timeout):
            self._propose(bucket)
        until = state.budget.minimise_until
        while not minimiser.is_idle and time.monotonic() < until - loop.overtime_s:
            minimiser.pump()
            yield from loop.step()
        minimiser.abandon()

    @property
    def needed_s(self) -> float:
        """Expected time for minimising, as far as exploring leaves time for it, in seconds.

        Hangs, buckets of low severity, and those that take more than a share of the budget are
        minimised if time is left.
        """
        self._update_waiting()
        waiting = sum(
            bucket.finding.severity > Severity.LOW and not _takes_whole_timeout(bucket)
            for bucket in self._waiting.values()
        )
        needed_s = self._minimiser.needed_s + waiting * self._minimiser.seconds_per_search
        return min(needed_s, _MAX_SHARE_AFTER_EXPLORING * self._state.budget.total_s)

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        """Minimise one bucket at a time beside exploring.

        With fixed cases, all buckets wait until their simplest case is known, so that the result
        does not depend on the speed of the machine.
        """
        if is_exploring and self._has_time and not self._state.config.has_fixed_cases:
            if self._minimiser.is_idle:
                self._update_waiting()
                waiting = self._waiting.values()
                quick = (bucket for bucket in waiting if not _takes_whole_timeout(bucket))
                if (bucket := next(quick, None)) is not None:
                    self._propose(bucket)
            self._minimiser.pump()
        yield from ()

    @property
    def _has_time(self) -> bool:
        share = self._minimiser.spent_s / self._state.budget.elapsed_s
        return share < _MAX_SHARE_BESIDE_EXPLORING

    def _update_waiting(self) -> None:
        collector, baseline = self._state.collector, self._state.baseline
        if len(collector.confirmed) == self._seen:
            return
        self._seen = len(collector.confirmed)
        self._waiting = {
            bucket.fingerprint: bucket
            for bucket in collector.by_severity()
            if bucket.fingerprint not in self._proposed
            and bucket.fingerprint not in baseline.fingerprints
            and not is_measured(bucket.finding)  # a simpler call needs less time and memory
        }

    def _propose(self, bucket: Bucket) -> None:
        self._waiting.pop(bucket.fingerprint)
        self._proposed.add(bucket.fingerprint)
        # Another case may represent the bucket by now.
        current = self._state.collector.confirmed.get(bucket.fingerprint) or bucket
        self._minimiser.propose(bucket.fingerprint, current.finding)

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result; a simpler case represents its bucket from then on."""
        for finding in self._minimiser.take(result):
            self._state.collector.simplify(finding)
        yield from ()

    def give_up(self, target: str) -> Iterator[Event]:
        """Stop minimising buckets that need a failed target."""
        self._minimiser.abandon(target)
        yield from ()


def _takes_whole_timeout(bucket: Bucket) -> bool:
    return traits_of(bucket.finding.oracle).takes_whole_timeout
