"""Confirmation stage: findings are reproduced, or are flaky."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.stage import CampaignStage
from ciguard.triage import Confirmer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult


class ConfirmHangs(CampaignStage):
    """Waits for the hangs that were repeated while other stages ran."""

    name = "confirm"

    def __init__(self, confirm: Confirm) -> None:
        """Take the stage that confirms, which also owns the jobs."""
        self._confirm = confirm

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Confirm the remaining findings."""
        return self._confirm.run_again(loop)


class Confirm(CampaignStage):
    """Confirms proposed findings while any stage runs, and the remaining ones in its own time."""

    name = "confirm"

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._confirmer = state.confirmer
        self._investigations = state.investigations

    @property
    def keys(self) -> Collection[str]:
        """First elements of the keys of repetitions, and of investigators' jobs."""
        return (Confirmer.KEY, *self._investigations.keys)

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Confirm waiting findings, and judge running batches that end in time.

        Later stages do not wait for hangs.
        """
        state = self._state
        state.dispatcher.clear_queue()
        while not self._is_settled(loop) and time.monotonic() < state.budget.confirm_until:
            yield from loop.step()
        self._investigations.abandon()

    def _is_settled(self, loop: EventLoop) -> bool:
        """Return whether no finding is waiting that this turn confirms; all results are proven."""
        # First `is_proven`: idle workers prove their results while others still confirm.
        if not (loop.is_proven and self._investigations.is_idle):
            return False
        confirmer = self._confirmer
        return confirmer.is_idle or (self._postpones_hangs and confirmer.has_only_hangs)

    def run_again(self, loop: EventLoop) -> Iterator[Event]:
        """Confirm the findings that were not confirmed in time, such as hangs."""
        until = self._state.budget.trace_until
        while self._postpones_hangs and not self._confirmer.is_idle and time.monotonic() < until:
            yield from loop.step()

    @property
    def _postpones_hangs(self) -> bool:
        """True if no later stage needs all confirmed buckets.

        Attribution tries each of them. With fixed cases, each is minimised.
        """
        return not (self._state.config.base or self._state.config.has_fixed_cases)

    @property
    def needed_s(self) -> float:
        """Expected time for the findings that are not confirmed, in seconds."""
        confirmer = self._confirmer
        return confirmer.needed_besides_hangs_s if self._postpones_hangs else confirmer.needed_s

    def start_jobs(self, *, is_exploring: bool) -> Iterator[Event]:
        """Start waiting confirmations and investigations."""
        self._confirmer.pump(is_patient=is_exploring)
        yield from self._investigations.pump()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Process a result, and settle the findings that it decides."""
        match result.job.key:
            case (Confirmer.KEY, _):
                yield from self._state.collector.settle(self._confirmer.take(result))
            case _:
                yield from self._investigations.take(result)

    def give_up(self, target: str) -> Iterator[Event]:
        """Settle findings that need a failed target as pending."""
        self._investigations.give_up(target)
        return self._state.collector.settle(self._confirmer.abandon(target))

    def close(self) -> None:
        """Settle findings that were not confirmed as pending."""
        for _ in self._state.collector.settle(self._confirmer.abandon()):
            pass
