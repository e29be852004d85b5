"""Stage that repeats calls that crashed on the relatives of their APIs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.campaign.relatives import Relatives
from ciguard.campaign.stages.counting import counted
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.outcomes import Crashed
from ciguard.execution import Job
from ciguard.levels import select
from ciguard.oracles.relations import encode
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import JobResult

_MAX_CALLS_PER_API = 3
"""Maximum number of crashing calls of one API that are repeated on its relatives."""
_MAX_RUNNING = 8


@dataclass(slots=True)
class _Trial:
    """The calls of one relative, on all targets that have it."""

    group: Group
    calls: tuple[ApiCall, ...]
    waiting: set[str]
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class CrashRelatives(CampaignStage):
    """Repeats calls that crashed while exploring on the relatives of their APIs."""

    name = "relatives"
    keys = ("relatives",)

    def __init__(self, state: CampaignState) -> None:
        self._state = state
        self._crashing: dict[tuple[str, str], list[ApiCall]] = {}
        """Calls that crashed, by library and API."""
        self._queue: list[_Trial] = []
        self._running: dict[int, _Trial] = {}
        self._number = 0

    def watch(self, executed: ExecutedBatch, group: Group) -> None:
        """Keep the first calls of an API that crashed."""
        rows = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if isinstance(case, ApiCall) and not case.relation and _has_crashed(row):
                calls = self._crashing.setdefault((group.library, case.api), [])
                if len(calls) < _MAX_CALLS_PER_API:
                    calls.append(case)

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Run the calls of the relatives."""
        if not self._is_wanted:
            return
        until = self._state.budget.relatives_until
        self._queue = [
            trial for group in self._state.groups.values() for trial in self._trials(group)
        ]
        while (self._queue or self._running) and time.monotonic() < until:
            self._pump()
            yield from loop.step()
        self._queue.clear()

    @property
    def _is_wanted(self) -> bool:
        """True unless the run calls exactly what another one calls.

        A run with a number of cases, and a shard, are the same on every machine. A run that only
        compares with the baseline would blame its change for a crash that the run of the baseline
        had no time for.
        """
        config = self._state.config
        is_only_compared = config.compare_only and not config.base
        return not (config.has_fixed_cases or config.is_part or is_only_compared)

    def _trials(self, group: Group) -> Iterator[_Trial]:
        """Yield the calls of all relatives of the APIs that crashed, by relative."""
        config = self._state.config
        relatives = Relatives(
            select(group.records(), config.api, config.exclude, allow=config.allow)
        )
        calls: dict[str, dict[ApiCall, None]] = {}
        for (library, _), crashing in sorted(self._crashing.items()):
            for call in crashing if library == group.library else ():
                for related in relatives.calls(call):
                    calls.setdefault(related.api, {})[related] = None
        for api, distinct in calls.items():
            targets = {name for name in group.targets_with(api) if group.mode_of(name) == EAGER}
            if targets:
                yield _Trial(group, tuple(distinct), targets)

    def _pump(self) -> None:
        """Start trials, up to the limit of those that run at the same time."""
        while self._queue and len(self._running) < _MAX_RUNNING:
            trial = self._queue.pop(0)
            self._number += 1
            self._running[self._number] = trial
            encoded = tuple(map(encode, trial.calls))
            for target in sorted(trial.waiting):
                key = (self.name, self._number)
                job = Job(target, key, encoded, max_hangs=1, tested=trial.calls)
                self._state.dispatcher.add(job)

    def take(self, result: JobResult) -> Iterator[Event]:
        """Add a result, and judge the calls that have run on all targets, in order."""
        number: int = result.job.key[1]  # type: ignore[index]
        trial = self._running.get(number)
        if trial is None:
            return
        trial.waiting.discard(result.job.target)
        trial.outcomes[result.job.target] = result.outcomes
        yield from self._judge_complete()

    def give_up(self, target: str) -> Iterator[Event]:
        """Continue without a failed target."""
        for trial in (*self._queue, *self._running.values()):
            trial.waiting.discard(target)
        yield from self._judge_complete()

    def _judge_complete(self) -> Iterator[Event]:
        state = self._state
        for number, trial in list(self._running.items()):
            if trial.waiting:
                break  # results are judged in order, so that equal runs report equal events
            del self._running[number]
            count = min(map(len, trial.outcomes.values()), default=0)  # fewer after a hang
            if not count:
                continue
            outcomes = {name: row[:count] for name, row in trial.outcomes.items()}
            executed = ExecutedBatch(trial.calls[0].api, trial.calls[:count], outcomes)
            yield from counted(executed, trial.group, elapsed_s=state.budget.elapsed_s)
            yield from state.collector.take(executed, trial.group)


def _has_crashed(outcomes: Iterable[Outcome]) -> bool:
    return any(isinstance(outcome, Crashed) for outcome in outcomes)
