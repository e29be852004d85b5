"""Equivalents: calls that passed on one library are made on the others, as they are written there.

Groups are of one library each; this is the one place where they meet. What passed while a campaign
explored is kept, a few calls per API, and tried on the first target of every other library.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.campaign.group import identities
from ciguard.campaign.stream import Executed
from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.findings import PairKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, ended_well
from ciguard.execution import Job
from ciguard.oracles import calls_across, equivalence_of, judge
from ciguard.oracles.comparing import has_special_elements
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult

_MAX_PER_API = 24
_TOGETHER = 16
"""Calls that share a job per target."""
_MAX_UNDER_WAY = 4
_PAIR = 2


@dataclass(slots=True)
class _Trial:
    """One call and its equivalents."""

    calls: dict[str, ApiCall]
    """By target."""
    outcomes: dict[str, Outcome]
    record: str = ""
    """Fingerprint of the baseline whose case it is."""


class Equivalents:
    """Runs equivalent calls on a dispatcher; the caller hands it the results that are its own."""

    KEY = "equivalents"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        self._dispatcher = dispatcher
        self._groups = groups
        self._kept: list[tuple[int, str, _Trial]] = []
        self._counts: Counter[str] = Counter()
        self._queue: list[_Trial] = []
        self._under_way: dict[int, tuple[list[_Trial], set[str]]] = {}
        self._number = 0
        self.replayed: dict[str, frozenset[str]] = {}
        """Fingerprint of the baseline → targets on which its case was run again and ended well."""
        self._records: dict[int, list[str]] = {}
        """Number of a job → fingerprints that its trials were stored for."""
        self._doubted: set[str] = set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._queue and not self._under_way

    def note(self, executed: Executed) -> None:
        """Keep conforming calls that passed on the first target of their library."""
        if len(self._groups) < _PAIR or equivalence_of(executed.api) is None:
            return
        target, outcomes = next(iter(executed.outcomes.items()))
        for case, outcome in zip(executed.cases, outcomes, strict=True):
            if self._counts[case.api] >= _MAX_PER_API:
                return
            if not isinstance(case, ApiCall) or not isinstance(outcome, Passed):
                continue
            if not _is_fit(case):
                continue
            calls = self._calls(case, prefer={target})
            if len(calls) >= _PAIR:
                self._counts[case.api] += 1
                trial = _Trial(calls, {target: outcome})
                self._kept.append((self._counts[case.api], case.api, trial))

    def start(self, records: Iterable[BaselineRecord]) -> None:
        """Queue what is known to differ, then what was kept: some calls of every API first."""
        for record in records:
            if record.exhibit.pair is not PairKind.LIBRARY:
                continue
            calls = self._calls(as_call(record.exhibit.case), prefer=set(record.targets))
            if set(record.targets) <= calls.keys():
                self._queue.append(_Trial(calls, {}, record.fingerprint))
        self._kept.sort(key=lambda kept: kept[:2])
        self._queue += [trial for _, _, trial in self._kept]
        self._kept.clear()

    def _calls(self, case: ApiCall, *, prefer: set[str]) -> dict[str, ApiCall]:
        """Return the equivalent calls by target: of each library the preferred, else the first."""
        found = {}
        for library, call in calls_across(case, self._groups).items():
            group = self._groups.get(library)
            present = [] if group is None else group.targets_with(call.api)
            target = next((name for name in present if name in prefer), next(iter(present), ""))
            if target:
                found[target] = call
        return found

    def pump(self) -> None:
        """Start as many trials as may be under way at once."""
        while self._queue and len(self._under_way) < _MAX_UNDER_WAY:
            together, self._queue = self._queue[:_TOGETHER], self._queue[_TOGETHER:]
            self._number += 1
            self._records[self._number] = [trial.record for trial in together if trial.record]
            jobs: dict[str, list[bytes]] = {}
            for trial in together:
                for target, call in trial.calls.items():
                    if target not in trial.outcomes:
                        jobs.setdefault(target, []).append(encode(call))
            self._under_way[self._number] = together, set(jobs)
            for target, cases in jobs.items():
                key = (self.KEY, self._number)
                self._dispatcher.add(Job(target, key, tuple(cases), most_hangs=1))

    def take(self, result: JobResult) -> Iterator[tuple[Group, Executed]]:
        """Take a result; return what ran, by the API of the target's own library."""
        number: int = result.job.key[1]  # type: ignore[index]
        target = result.job.target
        together, waiting = self._under_way[number]
        waiting.discard(target)
        group = next(g for g in self._groups.values() if target in g.members)
        asked = [t for t in together if target in t.calls and target not in t.outcomes]
        for trial, outcome in zip(asked, result.outcomes, strict=False):  # none after a hang
            trial.outcomes[target] = outcome
            call = trial.calls[target]
            yield group, Executed(call.api, (call,), {target: (outcome,)})

    def doubt(self, number: int) -> None:
        """Let no record of a job that has a void result pass for replayed, now or later."""
        for record in self._records[number]:
            self._doubted.add(record)
            self.replayed.pop(record, None)

    def findings(self) -> Iterator[Finding]:
        """Judge the trials that have come back from every target."""
        for number, (together, waiting) in list(self._under_way.items()):
            if waiting:
                continue
            del self._under_way[number]
            for trial in together:
                yield from self._judge(trial)

    def _judge(self, trial: _Trial) -> Iterator[Finding]:
        is_complete = trial.calls.keys() <= trial.outcomes.keys()
        if trial.record and trial.record not in self._doubted and is_complete:
            self.replayed[trial.record] = frozenset(
                name for name in trial.calls if ended_well(trial.outcomes[name])
            )
        every = identities(self._groups)
        in_order = {name: trial.outcomes[name] for name in every if name in trial.outcomes}
        if len(in_order) < _PAIR:
            return
        # The same difference is met from either side: it is judged as the last library's.
        last = list(in_order)[-1]
        call, group = trial.calls[last], self._groups[every[last].library]
        subject = replace(group.subject(call.api), targets=every)
        yield from judge(call, in_order, subject)

    def give_up(self, target: str) -> None:
        """Forget what needs a target that failed."""
        self._queue = [trial for trial in self._queue if target not in trial.calls]
        for _, waiting in self._under_way.values():
            waiting.discard(target)


def _is_fit(case: ApiCall) -> bool:
    is_alone = not case.relation and case.intent is Intent.CONFORMING
    return is_alone and not has_special_elements(case)
