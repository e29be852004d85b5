"""Detecting stage: known defects are planted, to measure what the run could have found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from ciguard.campaign.detecting import (
    MAX_DEFECTS,
    choose_defects,
    encode_planted,
    is_unplantable,
    notices,
    sampled_apis,
)
from ciguard.campaign.judged_calls import JudgedCall, SampledCalls, calls_to_try
from ciguard.campaign.stages.planted_costs import PlantedCosts
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stages.suspects import Suspects
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.detection import COSTS, Detection
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
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import JobResult

_CALLS_AT_ONCE = 8
"""Number of calls of one search in one job."""
_SEARCHES_PER_JOB = 4
"""Maximum number of searches in one job, as starting a worker takes longer than its calls."""
_MAX_RUNNING = 6
"""Maximum number of jobs at a time."""


@dataclass(slots=True)
class _Search:
    """The search for a call that shows one defect."""

    defect: PlantedDefect
    detail: str
    group: Group
    target: str
    waiting: list[JudgedCall]
    running: list[JudgedCall] = field(default_factory=list)

    def start(self) -> list[bytes]:
        """Return the next calls with the defect, which are running then."""
        self.running = self.waiting[:_CALLS_AT_ONCE]
        del self.waiting[:_CALLS_AT_ONCE]
        return [encode_planted(judged.call, self.defect, self.detail) for judged in self.running]

    def postpone(self) -> None:
        """Let the calls wait again, as none of them ran."""
        self.waiting[:0] = self.running
        self.running = []


class Detect(CampaignStage):
    """Plants defects into judged calls, and counts those that the oracles notice.

    The calls with defects run after all others, and are judged apart from them.
    """

    name = "detect"
    KEY = "detect"
    keys = (KEY, PlantedCosts.KEY)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._samples: dict[str, SampledCalls] = {}
        """Calls of the sampled APIs, by library."""
        self._measurable: dict[str, Suspects] = {}
        """Calls of the sampled APIs that can be measured, by library."""
        self._costs = PlantedCosts(state)
        self._searches: dict[int, _Search] = {}
        self._jobs: dict[int, list[int]] = {}
        """Searches whose calls are running, by the number of their job."""
        self._number = 0
        """Number of jobs so far."""
        self._chosen: list[PlantedDefect] = []
        """All defects, in random order."""
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
        if self._state.budget.measures:
            self._measurable.setdefault(group.library, Suspects()).note(executed, group)
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
        """Plant and search the defects while there is time.

        If it does not suffice, only those count that were planted before the first undecided one.
        All decided ones would be too many noticed ones, because these are decided first.
        """
        state = self._state
        until = state.budget.detect_until
        self._begin()
        while self._searches and time.monotonic() < until:
            self._start_jobs()
            yield from loop.step_running()
        counted = set(self._chosen)
        for search in self._searches.values():
            counted &= {*self._chosen[: self._chosen.index(search.defect)]}
        self._searches.clear()
        yield from self._costs.run(loop, until)
        detection = Detection(
            caught=tuple(sorted([*counted.intersection(self._caught), *self._costs.caught])),
            missed=tuple(sorted([*counted.intersection(self._missed), *self._costs.missed])),
            uncalled=tuple(sorted(counted.intersection(self._uncalled))),
        )
        if detection.planted:
            state.detection = detection

    def _begin(self) -> None:
        """Choose the defects, those of the libraries in turn, and start their searches."""
        columns = [self._chosen_for(library) for library in self._samples]
        for chosen in filter(None, chain.from_iterable(zip_longest(*columns))):
            library, defect, detail = chosen
            self._chosen.append(defect)
            self._search(library, defect, detail)

    def _chosen_for(self, library: str) -> list[tuple[str, PlantedDefect, str]]:
        """Return the defects of a library with their details."""
        suspects = self._measurable.get(library, Suspects()).ranked()
        chosen = choose_defects(
            self._samples[library],
            seed=self._state.config.seed,
            measurable={suspect.case.api for suspect in suspects},
        )
        return [(library, defect, detail) for defect, detail in chosen.items()]

    def _search(self, library: str, defect: PlantedDefect, detail: str) -> None:
        group = self._state.groups[library]
        calls = self._samples[library].calls.get(defect.api, [])
        target = _last_eager_target(calls, group)
        if not target:
            self._uncalled.append(defect)
        elif defect.kind in COSTS:
            suspects = self._measurable[library].ranked()
            self._costs.add(defect, next(one for one in suspects if one.case.api == defect.api))
        else:
            waiting = calls_to_try(calls, defect.kind, detail)
            search = _Search(defect, detail, group, target, waiting)
            self._searches[len(self._searches)] = search

    def _start_jobs(self) -> None:
        waiting: dict[str, list[int]] = {}
        for number, search in self._searches.items():
            if not search.running:
                waiting.setdefault(search.target, []).append(number)
        jobs = (
            (target, together)
            for target, numbers in waiting.items()
            for together in _groups(numbers)
        )
        for target, together in islice(jobs, max(0, _MAX_RUNNING - len(self._jobs))):
            cases = [case for number in together for case in self._searches[number].start()]
            self._number += 1
            self._jobs[self._number] = together
            # Workers of their own: no result of these calls may be proven, or run again.
            key = (self.KEY, self._number)
            self._state.dispatcher.add(Job(target, key, tuple(cases), fresh=True, max_hangs=1))

    def take(self, result: JobResult) -> Iterator[Event]:
        """Judge the calls of some defects, or process a measurement."""
        yield from ()
        key: tuple[str, int] = result.job.key  # type: ignore[assignment]
        if key[0] == PlantedCosts.KEY:
            self._costs.take(result)
            return
        outcomes = list(result.outcomes)
        for name in self._jobs.pop(key[1], ()):
            search = self._searches.get(name)
            if search is None:
                continue
            ran = outcomes[: len(search.running)]
            del outcomes[: len(search.running)]
            if ran:
                self._judge(name, search, ran)
            else:  # a call before them hung
                search.postpone()

    def _judge(self, number: int, search: _Search, outcomes: list[Outcome]) -> None:
        if any(map(is_unplantable, outcomes)):
            del self._searches[number]
            return
        subject = search.group.subject(search.defect.api)
        policy = self._state.config.policy
        is_caught = any(
            notices(judged, {search.target: outcome}, search.defect, subject, policy)
            for judged, outcome in zip(search.running, outcomes, strict=False)
        )
        search.running = []
        if is_caught or not search.waiting:
            del self._searches[number]
            (self._caught if is_caught else self._missed).append(search.defect)

    def give_up(self, target: str) -> Iterator[Event]:
        """Drop the defects of a failed target."""
        self._costs.give_up(target)
        self._searches = {
            number: search for number, search in self._searches.items() if search.target != target
        }
        self._jobs = {
            number: together
            for number, together in self._jobs.items()
            if any(name in self._searches for name in together)
        }
        yield from ()


def _groups(numbers: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(numbers), _SEARCHES_PER_JOB):
        yield numbers[start : start + _SEARCHES_PER_JOB]


def _last_eager_target(calls: list[JudgedCall], group: Group) -> str:
    """Return the last target without a mode that has run the calls; empty if there is none."""
    for judged in calls:
        for name in reversed([*judged.outcomes]):
            if group.mode_of(name) == EAGER:
                return name
    return ""
