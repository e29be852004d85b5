"""Redoing: what a worker said that was tampered with is worth nothing, and is done again.

The dispatcher says which jobs are void (see `ciguard.execution.canaries`). Their cases run again,
one by one, on every target that the job's stream runs them on, and what comes of them is judged as
ever. It is not counted: the cases were. What is void still at the end of a run, or void again and
again, is reported by `unsettled`: its target was not run.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.campaign.stream import Executed
from ciguard.domain.case import Case, case_from_json
from ciguard.domain.events import Warned
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.campaign.group import Group
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, Job, JobResult

MAX_ATTEMPTS = 3
"""Times that a case runs again: a worker may be killed from outside, but not again and again."""
_OWN_MEMBERS = 9
"""Of a call's JSON form; behind them stands the twin that a relation adds for the worker."""


@dataclass(slots=True)
class _PendingRedo:
    group: Group
    cases: tuple[Case, ...]
    targets: list[str]
    void: frozenset[str]
    """Targets whose results were void."""
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class Redoing:
    """Runs void jobs again; the caller hands it the results that are its own."""

    KEY = "again"

    def __init__(
        self,
        dispatcher: Dispatcher,
        groups: Mapping[str, Group],
        *,
        on_void: Callable[[Job], object],
    ) -> None:
        """Make it.

        Args:
            dispatcher: runs the jobs.
            groups: of the targets, by library.
            on_void: called with each void job, so that nothing concludes from its results.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._on_void = on_void
        self._under_way: dict[int, _PendingRedo] = {}
        self._attempts: dict[int, int] = {}
        """By number: how often the cases were run again, with this time."""
        self._given_up: Counter[str] = Counter()
        self._number = 0
        self._void: Counter[str] = Counter()
        """Target → void results of cases so far."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._under_way

    @property
    def is_settled(self) -> bool:
        """Whether everything void so far was replaced by other results."""
        return not self._under_way and not self._given_up

    def pump(self) -> Iterator[Warned]:
        """Start what has become void since the last call; report the first time of each target."""
        alike: dict[tuple[tuple[bytes, ...], float], list[Job]] = {}
        for job in self._dispatcher.take_invalidated():
            self._on_void(job)
            if job.target not in self._void:
                yield Warned(
                    message=f"{job.target}: a worker ended without proof that it can be trusted; "
                    "the results before are void, and their cases are run again"
                )
            self._void[job.target] += len(job.cases)
            # The same cases may be void on several targets; each runs on all of them anyway.
            alike.setdefault((job.cases, job.limit_s), []).append(job)
        for jobs in alike.values():
            self._start(jobs)

    def _start(self, jobs: Sequence[Job]) -> None:
        attempt = 1 + max(map(self._attempts_before, jobs))
        void = frozenset(job.target for job in jobs)
        group = next(g for g in self._groups.values() if jobs[0].target in g.members)
        cases = jobs[0].tested or tuple(map(_decoded, jobs[0].cases))
        targets = _targets_of(group, cases, void)
        if attempt > MAX_ATTEMPTS or not targets:
            self._given_up.update(dict.fromkeys(void, len(cases)))
            return
        self._number += 1
        self._under_way[self._number] = _PendingRedo(group, cases, targets, void)
        self._attempts[self._number] = attempt
        for target in targets:
            again = replace(jobs[0], target=target, key=(self.KEY, self._number), is_careful=True)
            self._dispatcher.add(again)

    def _attempts_before(self, job: Job) -> int:
        """Return how often a job's cases ran again so far; the latest try is forgotten."""
        if not isinstance(job.key, tuple) or job.key[0] != self.KEY:
            return 0
        self._under_way.pop(job.key[1], None)
        return self._attempts[job.key[1]]

    def unsettled(self) -> Mapping[str, int]:
        """Return at the end of a run how many cases of each target have void results for good."""
        left = Counter(self._given_up)
        for job in self._dispatcher.take_invalidated():
            self._on_void(job)
            self._void[job.target] += len(job.cases)
            left[job.target] += len(job.cases)
        for entry in self._under_way.values():
            left.update(dict.fromkeys(entry.void, len(entry.cases)))
        return left

    def totals(self) -> Iterator[Warned]:
        """Report at the end of a run how much was void."""
        for target, cases in sorted(self._void.items()):
            yield Warned(message=f"{target}: {cases:,} results of cases were void in all")

    def take(self, result: JobResult) -> Iterator[tuple[Group, Executed]]:
        """Take a result; return what ran, when it is the last of its cases'."""
        number: int = result.job.key[1]  # type: ignore[index]
        entry = self._under_way.get(number)
        if entry is None:
            return
        entry.outcomes[result.job.target] = result.outcomes
        yield from self._complete(number, entry)

    def _complete(self, number: int, entry: _PendingRedo) -> Iterator[tuple[Group, Executed]]:
        if any(target not in entry.outcomes for target in entry.targets):
            return
        del self._under_way[number]
        in_order = {name: entry.outcomes[name] for name in entry.targets}
        if not in_order:
            return
        count = min(map(len, in_order.values()))  # fewer after a hang
        ran = {name: outcomes[:count] for name, outcomes in in_order.items()}
        for cases, outcomes in _by_api(entry.cases[:count], ran):
            yield entry.group, Executed(cases[0].api, cases, outcomes)

    def give_up(self, target: str) -> Iterator[tuple[Group, Executed]]:
        """Go on without a target that failed; return what is complete then."""
        for number, entry in list(self._under_way.items()):
            if target in entry.targets:
                entry.targets.remove(target)
                yield from self._complete(number, entry)


def _targets_of(group: Group, cases: Sequence[Case], void: frozenset[str]) -> list[str]:
    """Return where cases run again: a stream runs them in one mode, beside the eager targets."""
    modes = {EAGER, *(group.mode_of(name) for name in void)}
    able = set(group.names).intersection(*(group.targets_for(case) for case in cases))
    fit = {name for name in able if group.mode_of(name) in modes}
    return [name for name in group.names if name in fit | void]


def _decoded(encoded: bytes) -> Case:
    return case_from_json(json.loads(encoded)[:_OWN_MEMBERS])


def _by_api(
    cases: Sequence[Case], outcomes: Mapping[str, tuple[Outcome, ...]]
) -> Iterator[tuple[tuple[Case, ...], dict[str, tuple[Outcome, ...]]]]:
    """Yield the cases of each API with their outcomes: jobs of some stages mix APIs."""
    for api in dict.fromkeys(case.api for case in cases):
        places = [place for place, case in enumerate(cases) if case.api == api]
        row = {name: tuple(ended[place] for place in places) for name, ended in outcomes.items()}
        yield tuple(cases[place] for place in places), row
