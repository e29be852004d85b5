"""Reruns of jobs whose results were invalidated, as their worker may be corrupted.

The dispatcher reports such jobs (see `ciguard.execution.canaries`). Their cases run again, one by
one, on every target of the job's stream, and are judged as usual, but not counted again. If that is
invalid, too, each case gets a job of its own, so that one that corrupts its worker costs no others.
Such a case alone counts as a crash if its worker crashes afterwards.

A few cases whose results stay invalid are not judged, and a warning names them. If there are more,
or some have not run again at the end of the run, `unsettled` reports them; their target counts as
not run.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.campaign.observing import KEY as OBSERVE
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.case import Case, case_from_json
from ciguard.domain.events import Warned
from ciguard.domain.text import visible
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.campaign.group import Group
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, Job, JobResult

MAX_ATTEMPTS = 3
"""Maximum number of reruns of a case, as a worker may be killed externally, but not repeatedly."""
_MAX_GIVEN_UP = 8
"""Maximum number of cases of a target that are given up without failing it."""
_CALL_MEMBERS = 9
"""Number of members of a call's JSON form, which precede those added for a relation."""


@dataclass(slots=True)
class _PendingRerun:
    group: Group
    cases: tuple[Case, ...]
    targets: list[str]
    invalidated: frozenset[str]
    """Targets whose results were invalidated."""
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class Reruns:
    """Runs invalidated jobs again; the caller passes it the results of these jobs."""

    KEY = "again"

    def __init__(
        self,
        dispatcher: Dispatcher,
        groups: Mapping[str, Group],
        *,
        on_invalidated: Callable[[Job], object],
    ) -> None:
        """Prepare the reruns.

        Args:
            dispatcher: dispatcher of the jobs.
            groups: groups of the targets, by library.
            on_invalidated: called with each invalidated job, so that its results are ignored.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._on_invalidated = on_invalidated
        self._running: dict[int, _PendingRerun] = {}
        self._attempts: dict[int, int] = {}
        """Number of attempts, including the present one, by number of the rerun."""
        self._given_up: dict[str, list[str]] = {}
        """APIs of the cases that are given up, by target."""
        self._number = 0
        self._invalidated: Counter[str] = Counter()
        """Number of invalidated results so far, by target."""

    @property
    def is_idle(self) -> bool:
        """True if no rerun is running."""
        return not self._running

    @property
    def is_settled(self) -> bool:
        """True if all invalidated results were replaced, except for a few that are given up."""
        return not self._running and all(map(_is_tolerated, self._given_up.values()))

    def pump(self) -> Iterator[Warned]:
        """Start reruns of the jobs invalidated since the last call; warn once per target."""
        same_cases: dict[tuple[tuple[bytes, ...], float], list[Job]] = {}
        for job in self._take_invalidated():
            self._on_invalidated(job)
            if job.target not in self._invalidated:
                yield Warned(
                    message=f"{job.target}: a worker was not proven trustworthy; its results are "
                    "invalid, and their cases run again"
                )
            self._invalidated[job.target] += len(job.cases)
            # The same cases may be invalid on several targets; one rerun covers all targets.
            same_cases.setdefault((job.cases, job.limit_s), []).append(job)
        for jobs in same_cases.values():
            self._start(jobs)

    def _take_invalidated(self) -> list[Job]:
        """Return the invalidated jobs; observed operators only suggest arguments, so they stay."""
        jobs = self._dispatcher.take_invalidated()
        return [job for job in jobs if not (isinstance(job.key, tuple) and job.key[0] == OBSERVE)]

    def _start(self, jobs: Sequence[Job]) -> None:
        attempt = 1 + max(map(self._attempts_before, jobs))
        invalidated = frozenset(job.target for job in jobs)
        if attempt == 1:
            self._run(jobs[0], invalidated, attempt)
            return
        for number, case in enumerate(jobs[0].cases):
            tested = jobs[0].tested[number : number + 1]
            self._run(replace(jobs[0], cases=(case,), tested=tested), invalidated, attempt)

    def _run(self, job: Job, invalidated: frozenset[str], attempt: int) -> None:
        """Run the cases of a job again on all its targets, or give them up."""
        group = next(group for group in self._groups.values() if job.target in group.members)
        cases = job.tested or tuple(map(_decoded, job.cases))
        targets = _targets_of(group, cases, invalidated)
        if attempt > MAX_ATTEMPTS or not targets:
            for target in invalidated:
                self._given_up.setdefault(target, []).extend(case.api for case in cases)
            return
        self._number += 1
        self._running[self._number] = _PendingRerun(group, cases, targets, invalidated)
        self._attempts[self._number] = attempt
        for target in targets:
            rerun = replace(
                job,
                target=target,
                key=(self.KEY, self._number),
                first_limit_s=0.0,
                is_careful=True,
            )
            self._dispatcher.add(rerun)

    def _attempts_before(self, job: Job) -> int:
        """Return the number of earlier attempts for a job's cases; drop the latest one."""
        if not isinstance(job.key, tuple) or job.key[0] != self.KEY:
            return 0
        self._running.pop(job.key[1], None)
        return self._attempts[job.key[1]]

    def unsettled(self) -> Mapping[str, int]:
        """Return the number of cases with invalid results by target, at the end of a run.

        Targets with a few cases that are given up are left out.
        """
        remaining = Counter(
            {name: len(apis) for name, apis in self._given_up.items() if not _is_tolerated(apis)}
        )
        for job in self._take_invalidated():
            self._on_invalidated(job)
            self._invalidated[job.target] += len(job.cases)
            remaining[job.target] += len(job.cases)
        for entry in self._running.values():
            remaining.update(dict.fromkeys(entry.invalidated, len(entry.cases)))
        return remaining

    def totals(self) -> Iterator[Warned]:
        """Report the total number of invalidated results, at the end of a run."""
        for target, cases in sorted(self._invalidated.items()):
            yield Warned(message=f"{target}: {cases:,} results were invalidated in total")
        for target, apis in sorted(self._given_up.items()):
            if _is_tolerated(apis):
                names = ", ".join(visible(api) for api in dict.fromkeys(apis))
                yield Warned(
                    message=f"{target}: not judged, as their worker was not proven trustworthy "
                    f"whenever they ran alone: calls of {names}"
                )

    def take(self, result: JobResult) -> Iterator[tuple[Group, ExecutedBatch]]:
        """Add a result; yield the batches of the rerun when it is complete."""
        number: int = result.job.key[1]  # type: ignore[index]
        entry = self._running.get(number)
        if entry is None:
            return
        entry.outcomes[result.job.target] = result.outcomes
        yield from self._complete(number, entry)

    def _complete(self, number: int, entry: _PendingRerun) -> Iterator[tuple[Group, ExecutedBatch]]:
        if any(target not in entry.outcomes for target in entry.targets):
            return
        del self._running[number]
        in_order = {name: entry.outcomes[name] for name in entry.targets}
        if not in_order:
            return
        count = min(map(len, in_order.values()))  # fewer after a hang
        complete = {name: outcomes[:count] for name, outcomes in in_order.items()}
        for cases, outcomes in _by_api(entry.cases[:count], complete):
            yield entry.group, ExecutedBatch(cases[0].api, cases, outcomes)

    def give_up(self, target: str) -> Iterator[tuple[Group, ExecutedBatch]]:
        """Continue without a failed target; yield the batches that are complete then."""
        for number, entry in list(self._running.items()):
            if target in entry.targets:
                entry.targets.remove(target)
                yield from self._complete(number, entry)


def _is_tolerated(given_up: Sequence[str]) -> bool:
    """Return whether the cases that are given up are so few that their target is tested."""
    return len(given_up) <= _MAX_GIVEN_UP


def _targets_of(group: Group, cases: Sequence[Case], invalidated: frozenset[str]) -> list[str]:
    """Return the targets of a rerun, which are eager or have the mode of an invalidated one."""
    modes = {EAGER, *(group.mode_of(name) for name in invalidated)}
    able = set(group.names).intersection(*(group.targets_for(case) for case in cases))
    chosen = {name for name in able if group.mode_of(name) in modes} | invalidated
    return [name for name in group.names if name in chosen]


def _decoded(encoded: bytes) -> Case:
    return case_from_json(json.loads(encoded)[:_CALL_MEMBERS])


def _by_api(
    cases: Sequence[Case], outcomes: Mapping[str, tuple[Outcome, ...]]
) -> Iterator[tuple[tuple[Case, ...], dict[str, tuple[Outcome, ...]]]]:
    """Yield the cases of each API with their outcomes, as jobs of some stages mix APIs."""
    for api in dict.fromkeys(case.api for case in cases):
        indices = [index for index, case in enumerate(cases) if case.api == api]
        chosen = {name: tuple(row[index] for index in indices) for name, row in outcomes.items()}
        yield tuple(cases[index] for index in indices), chosen
