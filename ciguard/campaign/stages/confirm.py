"""Confirming: what was found shows itself again, or is flaky."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.stage import CampaignStage
from ciguard.triage import Confirmer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult


class Confirm(CampaignStage):
    """Confirms what the intake proposes, in the turns of all stages, and settles the rest."""

    name = "confirm"

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._confirmer = state.confirmer
        self._investigations = state.investigations

    @property
    def keys(self) -> Collection[str]:
        """First words of the keys of repetitions, and of jobs that look closer."""
        return (Confirmer.KEY, *self._investigations.keys)

    def run(self, turns: Turns) -> Iterator[Event]:
        """Settle what waits; batches still under way are taken if they come in time."""
        state = self._state
        state.dispatcher.clear_queue()
        while not self._is_settled(turns) and time.monotonic() < state.budget.confirm_until:
            yield from turns.take()
        self._investigations.abandon()

    def _is_settled(self, turns: Turns) -> bool:
        """Return whether no finding waits to be isolated or confirmed, and all is proven."""
        # First: workers that have nothing to do prove themselves while others still confirm.
        return turns.is_proven and self._investigations.is_idle and self._confirmer.is_idle

    def prepare_turn(self, *, is_patient: bool) -> Iterator[Event]:
        """Start what waits for confirmation, or for a closer look."""
        self._confirmer.pump(is_patient=is_patient)
        yield from self._investigations.pump()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take a result, and what it settles."""
        match result.job.key:
            case (Confirmer.KEY, _):
                yield from self._state.intake.settle(self._confirmer.take(result))
            case _:
                yield from self._investigations.take(result)

    def give_up(self, target: str) -> Iterator[Event]:
        """Let findings wait that need a target that failed."""
        self._investigations.give_up(target)
        return self._state.intake.settle(self._confirmer.abandon(target))

    def close(self) -> None:
        """Let findings wait that were not confirmed."""
        for _ in self._state.intake.settle(self._confirmer.abandon()):
            pass
