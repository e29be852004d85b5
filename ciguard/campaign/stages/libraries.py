"""Calls that passed on one library, made on the others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.equivalents import Equivalents
from ciguard.campaign.stages.stage import CampaignStage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import Executed
    from ciguard.domain.events import Event
    from ciguard.execution import Job, JobResult


class CrossLibraries(CampaignStage):
    """Compares libraries with each other, where targets are of several."""

    name = "libraries"
    keys = (Equivalents.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._equivalents = Equivalents(state.dispatcher, state.groups)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Buckets whose equivalent calls were made again."""
        return self._equivalents.replayed

    def watch(self, executed: Executed, group: Group) -> None:
        """Keep calls of a batch that are worth making on other libraries."""
        del group
        self._equivalents.note(executed)

    def run(self, turns: Turns) -> Iterator[Event]:
        """Make the calls."""
        state, equivalents = self._state, self._equivalents
        if not state.budget.spans_libraries:
            return
        until = state.budget.libraries_until
        state.dispatcher.clear_queue()
        equivalents.start(state.corpus())
        while not equivalents.is_idle and time.monotonic() < until:
            equivalents.pump()
            yield from turns.take()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Take a result; judge it by itself, and what is complete across libraries."""
        state = self._state
        for group, executed in self._equivalents.take(result):
            yield from counted(executed, group, elapsed_s=state.budget.elapsed_s)
            yield from state.intake.take(executed, group)
        for finding in self._equivalents.findings():
            yield from state.intake.propose(finding)

    def doubt(self, job: Job) -> None:
        """Let no stored case count as run again by a result that is void."""
        match job.key:
            case (Equivalents.KEY, int(number)):
                self._equivalents.doubt(number)
            case _:
                pass

    def give_up(self, target: str) -> Iterator[Event]:
        """Forget the calls that need a target that failed."""
        self._equivalents.give_up(target)
        yield from ()
