"""Stage that compares libraries: calls that passed on one library run on the others."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.equivalents import Equivalents
from ciguard.campaign.stages.stage import CampaignStage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.events import Event
    from ciguard.execution import Job, JobResult


class CrossLibraries(CampaignStage):
    """Compares libraries with each other, if there are targets of several."""

    name = "libraries"
    keys = (Equivalents.KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._equivalents = Equivalents(state.dispatcher, state.groups)

    @property
    def replayed(self) -> Mapping[str, frozenset[str]]:
        """Targets on which equivalent calls of known buckets ended well, by fingerprint."""
        return self._equivalents.replayed

    def watch(self, executed: ExecutedBatch, group: Group) -> None:
        """Keep the calls of a batch that can run on other libraries."""
        del group
        self._equivalents.note(executed)

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run the equivalent calls."""
        state, equivalents = self._state, self._equivalents
        if not state.budget.spans_libraries:
            return
        until = state.budget.libraries_until
        state.dispatcher.clear_queue()
        equivalents.start(state.corpus())
        while not equivalents.is_idle and time.monotonic() < until:
            equivalents.pump()
            yield from loop.step()

    def take(self, result: JobResult) -> Iterator[Event]:
        """Judge a result on its own, and the calls that are complete across libraries."""
        state = self._state
        for group, executed in self._equivalents.take(result):
            yield from counted(executed, group, elapsed_s=state.budget.elapsed_s)
            yield from state.collector.take(executed, group)
        for finding in self._equivalents.findings():
            yield from state.collector.propose(finding)

    def invalidate(self, job: Job) -> None:
        """Exclude stored cases from `replayed` if their result is invalid."""
        match job.key:
            case (Equivalents.KEY, int(number)):
                self._equivalents.invalidate(number)
            case _:
                pass

    def give_up(self, target: str) -> Iterator[Event]:
        """Drop calls that need a failed target."""
        self._equivalents.give_up(target)
        yield from ()
