"""Redoing: what a worker said that was tampered with is worth nothing, and is done again.

The dispatcher says which jobs are void (see `ciguard.execution.canaries`). Their cases run again,
one by one, on every target of their group that has the API, and what comes of them is judged as
ever. It is not counted: the cases were.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.campaign.stream import Executed
from ciguard.domain import Case, Outcome, Warned, case_from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.campaign.group import Group
    from ciguard.execution import Dispatcher, Job, Result

_OWN_MEMBERS = 9
"""Of a call's JSON form; behind them stands the twin that a relation adds for the worker."""


@dataclass(slots=True)
class _UnderWay:
    group: Group
    cases: tuple[Case, ...]
    targets: list[str]
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class Redoing:
    """Runs void jobs again; the caller hands it the results that are its own."""

    KEY = "again"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        self._dispatcher = dispatcher
        self._groups = groups
        self._under_way: dict[int, _UnderWay] = {}
        self._number = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._under_way

    def pump(self) -> Iterator[Warned]:
        """Start what has become void since the last call, once each, and report that."""
        void = self._dispatcher.take_void()
        if not void:
            return
        # The same cases may be void on several targets; each runs on all of them anyway.
        alike = {(job.cases, job.limit_s): job for job in void if not _is_second(job)}
        for job in alike.values():
            self._start(job)
        targets = ", ".join(sorted({job.target for job in void}))
        cases = sum(len(job.cases) for job in void)
        yield Warned(
            message=f"{targets}: a worker ended without proof that it can be trusted; the results "
            f"of {cases:,} cases before are void, and the cases are run again"
        )

    def _start(self, job: Job) -> None:
        group = next(g for g in self._groups.values() if job.target in g.members)
        cases = tuple(map(_decoded, job.cases))
        targets = [
            name for name in group.names if all(name in group.targets_for(case) for case in cases)
        ]
        if not targets:
            return
        self._number += 1
        self._under_way[self._number] = _UnderWay(group, cases, targets)
        for target in targets:
            again = replace(job, target=target, key=(self.KEY, self._number), is_careful=True)
            self._dispatcher.add(again)

    def take(self, result: Result) -> Iterator[tuple[Group, Executed]]:
        """Take a result; return what ran, when it is the last of its cases'."""
        number: int = result.job.key[1]  # type: ignore[index]
        entry = self._under_way.get(number)
        if entry is None:
            return
        entry.outcomes[result.job.target] = result.outcomes
        yield from self._complete(number, entry)

    def _complete(self, number: int, entry: _UnderWay) -> Iterator[tuple[Group, Executed]]:
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


def _is_second(job: Job) -> bool:
    return isinstance(job.key, tuple) and job.key[0] == Redoing.KEY


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
