"""Planted slowdowns and leaks, measured beside the same call without a defect."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.campaign.stages.measuring import Measurer
from ciguard.domain.api_calls import CallKind
from ciguard.domain.detection import DefectKind
from ciguard.domain.findings import Confirmation
from ciguard.domain.policy import Action
from ciguard.execution import PLANTED, Quantity
from ciguard.oracles import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.stages.suspects import SuspectCall
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.detection import PlantedDefect
    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher, Job, JobResult
    from ciguard.triage import ConfirmationResult

_SHOWN_BY = {
    DefectKind.SLOWDOWN: KINDS[Quantity.TIME],
    DefectKind.LEAK: KINDS[Quantity.GROWTH],
}
"""Kind of the finding that shows a kind of defect."""


class PlantedCosts:
    """Measures one call after the other as the measuring stage does, with a defect on one target.

    A defect that was not decided in time counts neither as caught nor as missed.
    """

    KEY = "detect-costs"

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._waiting: list[tuple[PlantedDefect, SuspectCall]] = []
        self._running: _Measurement | None = None
        self.caught: list[PlantedDefect] = []
        self.missed: list[PlantedDefect] = []

    def add(self, defect: PlantedDefect, call: SuspectCall) -> None:
        """Let a defect wait, with a call that passed on several comparable targets."""
        self._waiting.append((defect, call))

    def run(self, loop: EventLoop, until: float) -> Iterator[Event]:
        """Measure while there is time, a point on the clock of `time.monotonic`."""
        for defect, call in self._waiting:
            measured = self._running = _Measurement(self._state, defect, call)
            while not measured.is_over and time.monotonic() < until:
                measured.measurer.pump()
                yield from loop.step_running()
            self._running = None
            if measured.is_caught:
                self.caught.append(defect)
            elif measured.is_over and not measured.is_lost:
                self.missed.append(defect)

    def take(self, result: JobResult) -> None:
        """Process the result of one of its jobs."""
        if self._running is not None:
            self._running.take(result)

    def give_up(self, target: str) -> None:
        """Drop the defects of a failed target."""
        self._waiting = [row for row in self._waiting if target not in row[1].targets]
        if self._running is not None and target in self._running.targets:
            self._running.is_lost = True


class _Measurement:
    """The measurement of one call on two targets, one of which has a defect."""

    def __init__(self, state: CampaignState, defect: PlantedDefect, call: SuspectCall) -> None:
        first, *_, last = call.targets
        self.targets = (first, last)
        self.is_caught = self.is_lost = False
        self._defect = defect
        self._policy = state.config.policy
        self._queue = _PlantingQueue(state.dispatcher, defect, last)
        self.measurer = Measurer(self._queue, state.groups, known=())
        costs = (call.costs[0], call.costs[-1])
        self.measurer.propose((), [replace(call, targets=self.targets, costs=costs)])

    @property
    def is_over(self) -> bool:
        """True if the defect is decided, or cannot be."""
        return self.is_caught or self.is_lost or self.measurer.is_idle

    def take(self, result: JobResult) -> None:
        """Process a result; results of earlier measurements are ignored."""
        job = self._queue.original(result.job)
        if job is not None:
            settled = self.measurer.take(replace(result, job=job))
            self.is_caught = self.is_caught or any(map(self._shows, settled))

    def _shows(self, settled: ConfirmationResult) -> bool:
        finding = settled.finding
        return (
            settled.confirmation is Confirmation.CONFIRMED
            and finding.kind == _SHOWN_BY[self._defect.kind]
            and self._policy.action(finding) is not Action.OFF
        )


@dataclass(slots=True)
class _PlantingQueue:
    """Queue of a measurer's jobs, which plants a defect into those of one target."""

    dispatcher: Dispatcher
    defect: PlantedDefect
    target: str
    job: Job | None = None
    """The running job, without the defect."""

    def add(self, job: Job) -> None:
        """Queue a job of the measurer."""
        self.job = job
        key = (PlantedCosts.KEY, self.defect, job.key)
        is_planted = job.target == self.target
        cases = tuple(map(self._with_defect, job.cases)) if is_planted else job.cases
        self.dispatcher.add(replace(job, key=key, cases=cases))

    def _with_defect(self, request: bytes) -> bytes:
        plan, case = json.loads(request)
        if case[1] == CallKind.METHOD:  # a method is a function of its receiver
            case[1] = CallKind.FUNCTION.value
        planted = [case[0], PLANTED, [[self.defect.kind.value, ""], case]]
        return json.dumps([plan, planted]).encode("ascii")

    def original(self, job: Job) -> Job | None:
        """Return the measurer's job behind a job; None if it belongs to another measurement."""
        if self.job is not None and job.key == (PlantedCosts.KEY, self.defect, self.job.key):
            return self.job
        return None
