"""Equivalents: calls that passed on one library are translated and run on the others.

This is the only place where groups of different libraries are compared. Some calls per API that
passed while exploring are kept, and run on the first target of every other library.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.campaign.group import identities
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.findings import PairKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, has_completed
from ciguard.execution import Job
from ciguard.oracles import equivalence_of, judge, translated_calls
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
"""Number of calls that share a job per target."""
_MAX_RUNNING = 4
_PAIR = 2


@dataclass(slots=True)
class _Trial:
    """One call and its equivalents on other libraries."""

    calls: dict[str, ApiCall]
    """Call of each target."""
    outcomes: dict[str, Outcome]
    """Outcome on each target."""
    record: str = ""
    """Fingerprint of the baseline's record that the call belongs to; empty for none."""


class Equivalents:
    """Runs equivalent calls on a dispatcher; the caller passes it the results of its jobs."""

    KEY = "equivalents"

    def __init__(self, dispatcher: Dispatcher, groups: Mapping[str, Group]) -> None:
        self._dispatcher = dispatcher
        self._groups = groups
        self._kept: list[tuple[int, str, _Trial]] = []
        self._counts: Counter[str] = Counter()
        self._queue: list[_Trial] = []
        self._running: dict[int, tuple[list[_Trial], set[str]]] = {}
        self._number = 0
        self.replayed: dict[str, frozenset[str]] = {}
        """Targets on which a record's case was run again and ended well, by fingerprint."""
        self._records: dict[int, list[str]] = {}
        """Fingerprints of the records in a job, by number of the job."""
        self._invalidated: set[str] = set()

    @property
    def is_idle(self) -> bool:
        """True if no call is waiting or running."""
        return not self._queue and not self._running

    def note(self, executed: ExecutedBatch) -> None:
        """Keep conforming calls that passed on the first target of their library."""
        if len(self._groups) < _PAIR or equivalence_of(executed.api) is None:
            return
        target, outcomes = next(iter(executed.outcomes.items()))
        for case, outcome in zip(executed.cases, outcomes, strict=True):
            if self._counts[case.api] >= _MAX_PER_API:
                return
            if not isinstance(case, ApiCall) or not isinstance(outcome, Passed):
                continue
            if not _is_suitable(case):
                continue
            calls = self._calls(case, prefer={target})
            if len(calls) >= _PAIR:
                self._counts[case.api] += 1
                trial = _Trial(calls, {target: outcome})
                self._kept.append((self._counts[case.api], case.api, trial))

    def start(self, records: Iterable[BaselineRecord]) -> None:
        """Queue known differences, then the kept calls, in rounds over all APIs."""
        for record in records:
            if record.representative.pair is not PairKind.LIBRARY:
                continue
            calls = self._calls(as_call(record.representative.case), prefer=set(record.targets))
            if set(record.targets) <= calls.keys():
                self._queue.append(_Trial(calls, {}, record.fingerprint))
        self._kept.sort(key=lambda entry: entry[:2])
        self._queue += [trial for _, _, trial in self._kept]
        self._kept.clear()

    def _calls(self, case: ApiCall, *, prefer: set[str]) -> dict[str, ApiCall]:
        """Return the equivalent calls by target; preferred targets precede the first ones."""
        equivalent_calls = {}
        for library, call in translated_calls(case, self._groups).items():
            group = self._groups.get(library)
            present = [] if group is None else group.targets_with(call.api)
            target = next((name for name in present if name in prefer), next(iter(present), ""))
            if target:
                equivalent_calls[target] = call
        return equivalent_calls

    def pump(self) -> None:
        """Start trials, up to the limit of jobs at the same time."""
        while self._queue and len(self._running) < _MAX_RUNNING:
            trials, self._queue = self._queue[:_TOGETHER], self._queue[_TOGETHER:]
            self._number += 1
            self._records[self._number] = [trial.record for trial in trials if trial.record]
            jobs: dict[str, list[bytes]] = {}
            for trial in trials:
                for target, call in trial.calls.items():
                    if target not in trial.outcomes:
                        jobs.setdefault(target, []).append(encode(call))
            self._running[self._number] = trials, set(jobs)
            for target, cases in jobs.items():
                key = (self.KEY, self._number)
                self._dispatcher.add(Job(target, key, tuple(cases), max_hangs=1))

    def take(self, result: JobResult) -> Iterator[tuple[Group, ExecutedBatch]]:
        """Add a result; yield its cases as batches of the target's group."""
        number: int = result.job.key[1]  # type: ignore[index]
        target = result.job.target
        trials, waiting = self._running[number]
        waiting.discard(target)
        group = next(group for group in self._groups.values() if target in group.members)
        requested = [
            trial for trial in trials if target in trial.calls and target not in trial.outcomes
        ]
        for trial, outcome in zip(requested, result.outcomes, strict=False):  # fewer after a hang
            trial.outcomes[target] = outcome
            call = trial.calls[target]
            yield group, ExecutedBatch(call.api, (call,), {target: (outcome,)})

    def invalidate(self, number: int) -> None:
        """Exclude the records of a job with an invalid result from `replayed`."""
        for record in self._records[number]:
            self._invalidated.add(record)
            self.replayed.pop(record, None)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of the trials that are complete on all targets."""
        for number, (trials, waiting) in list(self._running.items()):
            if waiting:
                continue
            del self._running[number]
            for trial in trials:
                yield from self._judge(trial)

    def _judge(self, trial: _Trial) -> Iterator[Finding]:
        is_complete = trial.calls.keys() <= trial.outcomes.keys()
        if trial.record and trial.record not in self._invalidated and is_complete:
            self.replayed[trial.record] = frozenset(
                name for name in trial.calls if has_completed(trial.outcomes[name])
            )
        targets = identities(self._groups)
        in_order = {name: trial.outcomes[name] for name in targets if name in trial.outcomes}
        if len(in_order) < _PAIR:
            return
        # A difference can be found from either side; it is attributed to the last library.
        last = list(in_order)[-1]
        call, group = trial.calls[last], self._groups[targets[last].library]
        subject = replace(group.subject(call.api), targets=targets)
        yield from judge(call, in_order, subject)

    def give_up(self, target: str) -> None:
        """Drop calls that need a failed target."""
        self._queue = [trial for trial in self._queue if target not in trial.calls]
        for _, waiting in self._running.values():
            waiting.discard(target)


def _is_suitable(case: ApiCall) -> bool:
    is_alone = not case.relation and case.intent is Intent.CONFORMING
    return is_alone and not has_special_elements(case)
