"""Detecting stage: known defects are planted, to measure what the run could have found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.detecting import (
    MAX_DEFECTS,
    JudgedCall,
    SampledCalls,
    choose_defects,
    encode_planted,
    is_unplantable,
    notices,
    sampled_apis,
)
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.detection import Detection
from ciguard.execution import Job
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.detection import PlantedDefect
    from ciguard.domain.events import Event
    from ciguard.execution import JobResult

_CALLS_PER_JOB = 16
_MAX_RUNNING = 6


@dataclass(slots=True)
class _Search:
    """The search for a call that shows one defect."""

    defect: PlantedDefect
    detail: str
    group: Group
    target: str
    waiting: list[JudgedCall]
    running: list[JudgedCall] = field(default_factory=list)


class Detect(CampaignStage):
    """Plants defects into judged calls, and counts those that the oracles notice.

    The calls with defects run after all others, and are judged apart from them.
    """

    name = "detect"
    KEY = "detect"
    keys = (KEY,)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._samples: dict[str, SampledCalls] = {}
        """Calls of the sampled APIs, by library."""
        self._searches: dict[int, _Search] = {}
        self._caught: list[PlantedDefect] = []
        self._missed: list[PlantedDefect] = []
        self._uncalled: list[PlantedDefect] = []

    def watch(self, executed: ExecutedBatch, group: Group) -> None:
        """Keep the judged calls of sampled APIs."""
        if not self._is_wanted or not isinstance(executed.cases[0], ApiCall):
            return
        sample = self._sample(group)
        if executed.api not in sample.apis:
            return
        names = list(executed.outcomes)
        rows = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if isinstance(case, ApiCall):
                sample.keep(case, dict(zip(names, row, strict=True)))

    @property
    def _is_wanted(self) -> bool:
        """True unless the run is limited to a number of cases."""
        config = self._state.config
        return config.detection and not config.max_cases

    def _sample(self, group: Group) -> SampledCalls:
        sample = self._samples.get(group.library)
        if sample is None:
            count = MAX_DEFECTS // max(1, len(self._state.groups))
            apis = sampled_apis(self._state.config, group.records(), count)
            sample = self._samples[group.library] = SampledCalls(apis)
        return sample

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Plant and search the defects while there is time; the rest is not counted."""
        state = self._state
        until = state.budget.detect_until
        self._begin()
        while self._searches and time.monotonic() < until:
            self._start_jobs()
            yield from loop.step_running()
        self._searches.clear()
        detection = Detection(
            caught=tuple(sorted(self._caught)),
            missed=tuple(sorted(self._missed)),
            uncalled=tuple(sorted(self._uncalled)),
        )
        if detection.planted:
            state.detection = detection

    def _begin(self) -> None:
        for library, sample in self._samples.items():
            group = self._state.groups[library]
            for defect, detail in choose_defects(sample, seed=self._state.config.seed).items():
                calls = sample.calls.get(defect.api, [])
                target = _last_eager_target(calls, group)
                if target:
                    search = _Search(defect, detail, group, target, list(calls))
                    self._searches[len(self._searches)] = search
                else:
                    self._uncalled.append(defect)

    def _start_jobs(self) -> None:
        running = sum(bool(search.running) for search in self._searches.values())
        for number, search in self._searches.items():
            if running >= _MAX_RUNNING:
                return
            if not search.running:
                search.running = search.waiting[:_CALLS_PER_JOB]
                del search.waiting[:_CALLS_PER_JOB]
                cases = [
                    encode_planted(judged.call, search.defect, search.detail)
                    for judged in search.running
                ]
                # Workers of their own: no result of these calls may be proven, or run again.
                key = (self.KEY, number)
                job = Job(search.target, key, tuple(cases), fresh=True, max_hangs=1)
                self._state.dispatcher.add(job)
                running += 1

    def take(self, result: JobResult) -> Iterator[Event]:
        """Judge the calls of one defect."""
        number: int = result.job.key[1]  # type: ignore[index]
        search = self._searches.get(number)
        if search is not None:
            self._judge(number, search, result)
        yield from ()

    def _judge(self, number: int, search: _Search, result: JobResult) -> None:
        subject = search.group.subject(search.defect.api)
        pairs = list(zip(search.running, result.outcomes, strict=False))
        if any(is_unplantable(outcome) for _, outcome in pairs):
            del self._searches[number]
            return
        is_caught = any(
            notices(
                judged,
                {search.target: outcome},
                search.defect,
                subject,
                self._state.config.policy,
            )
            for judged, outcome in pairs
        )
        search.running = []
        if is_caught or not search.waiting:
            del self._searches[number]
            (self._caught if is_caught else self._missed).append(search.defect)

    def give_up(self, target: str) -> Iterator[Event]:
        """Drop the defects of a failed target."""
        self._searches = {
            number: search for number, search in self._searches.items() if search.target != target
        }
        yield from ()


def _last_eager_target(calls: list[JudgedCall], group: Group) -> str:
    """Return the last target without a mode that has run the calls; empty if there is none."""
    for judged in calls:
        for name in reversed([*judged.outcomes]):
            if group.mode_of(name) == EAGER:
                return name
    return ""
