"""Minimising stage: new buckets get simpler cases."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.group import subject_of
from ciguard.campaign.rating import Rater
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.oracles import is_measured, traits_of
from ciguard.triage import Minimiser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult


class Minimise(CampaignStage):
    """Minimises new buckets by decreasing severity; hangs come last, as each costs its timeout."""

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

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Minimise until the time is over."""
        state, minimiser = self._state, self._minimiser
        new = [
            bucket
            for bucket in state.collector.by_severity()
            if bucket.fingerprint not in state.baseline.fingerprints
            and not is_measured(bucket.finding)  # a simpler call needs less time and memory
        ]
        for bucket in sorted(
            new, key=lambda item: traits_of(item.finding.oracle).takes_whole_timeout
        ):
            minimiser.propose(bucket.fingerprint, bucket.finding)
        while not minimiser.is_idle and time.monotonic() < state.budget.minimise_until:
            minimiser.pump()
            yield from loop.step()
        minimiser.abandon()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result; a simpler case represents its bucket from then on."""
        for finding in self._minimiser.take(result):
            self._state.collector.simplify(finding)
        yield from ()

    def give_up(self, target: str) -> Iterator[Event]:
        """Stop minimising buckets that need a failed target."""
        self._minimiser.abandon(target)
        yield from ()
