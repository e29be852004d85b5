"""Measuring of time and memory of calls on several targets, after exploring.

Short calls get larger inputs. Then many candidates are screened, with a few rounds in one worker
per target. Suspicious candidates are measured again in fresh workers, in as many rounds as the
statistical test needs, with alternating targets so that drift cancels out. Findings of the oracle
are confirmed by a second measurement of the same kind.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ciguard.campaign.stages.enlarging import climb
from ciguard.campaign.stages.screening import (
    MEASURED,
    Screened,
    Suspicion,
    SuspicionTrial,
    best,
    grouped,
    request,
    rough_time_request,
)
from ciguard.campaign.stages.suspects import SuspectCall, comparable
from ciguard.domain.api_calls import as_call
from ciguard.domain.findings import Confirmation, Finding
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.execution import Job, Measurement, Quantity, decode_measured
from ciguard.libraries import ForkPolicy
from ciguard.oracles import KINDS, PerformanceOracle, rounds_for, traits_of
from ciguard.triage import ConfirmationResult, fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.domain.api_calls import ApiCall
    from ciguard.execution import JobResult

log = logging.getLogger(__name__)

_TOGETHER = 8
"""Number of candidates that are screened in one worker per target."""
_SCREENED_AHEAD = 8
"""Number of screened workers before the first, most suspicious candidate is measured."""
_SCREENING_ROUNDS = 3
_REPEAT_FACTOR = 3
"""Factor for the number of calls when a leak is measured again, so that caches have filled."""
_ROUNDS_PER_WORKER = 4
"""Number of rounds per worker, as peculiarities of one process must not decide."""
_CHECK_AFTER = 6
"""Number of rounds after which a measurement without a difference is abandoned."""

Answers: TypeAlias = tuple[Measurement | None, ...]
"""Results of a job, one per request; None for one that was not measured."""
Verdict: TypeAlias = tuple[bool, Finding | None]
"""True if a suspicion could be measured, with its finding, if any."""
Steps: TypeAlias = Generator[Job, Answers, None]


class JobQueue(Protocol):
    """Receiver of a measurer's jobs, such as the dispatcher."""

    def add(self, job: Job) -> None:
        """Queue a job, whose result is passed to `Measurer.take`."""


class Measurer:
    """Measures one group of calls at a time; the caller passes it the results of its jobs."""

    KEY = "measure"

    def __init__(
        self, dispatcher: JobQueue, groups: Mapping[str, Group], *, known: Collection[str]
    ) -> None:
        """Create an idle measurer.

        Args:
            dispatcher: dispatcher of the jobs.
            groups: groups by library.
            known: fingerprints of the baseline, which need no second measurement.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._known = known
        self._oracle = PerformanceOracle()
        self._queue: deque[SuspectCall] = deque()
        self._records: deque[BaselineRecord] = deque()
        self._steps: Steps | None = None
        self._job: Job | None = None
        """Running job; None for none."""
        self._in_use: tuple[str, ...] = ()
        """Targets that are being measured."""
        self._number = 0
        self._tests = 1
        self._session = 0
        self._settled: list[ConfirmationResult] = []
        self._unconfirmed: list[tuple[str, Finding]] = []
        self.screened: list[SuspectCall] = []
        """Calls that were measured a few times, with enlarged inputs."""
        self.suspicious: list[SuspectCall] = []
        """Calls among them that seemed to take longer on a target."""
        self.measured: dict[str, frozenset[str]] = {}
        """Targets on which a record's case was measured again, by fingerprint."""

    def propose(self, records: Iterable[BaselineRecord], candidates: Iterable[SuspectCall]) -> None:
        """Queue known performance buckets, then candidates. Call this once."""
        self._records.extend(
            record for record in records if traits_of(record.representative.oracle).is_measured
        )
        self._queue.extend(candidates)
        pairs = sum(len(candidate.targets) - 1 for candidate in self._queue) + len(self._records)
        self._tests = max(1, pairs * len(MEASURED))
        self._steps = self._work()

    @property
    def is_idle(self) -> bool:
        """True if no measurement is waiting or running."""
        return self._steps is None

    def pump(self) -> None:
        """Start the first job; each result starts the next."""
        if self._steps is not None and self._job is None:
            self._next_step(None)

    def take(self, result: JobResult) -> list[ConfirmationResult]:
        """Process the result of one of its jobs; return the findings that it settles."""
        if self._job is not None and result.job.key == self._job.key:
            self._job = None
            answers = [_measured(outcome) for outcome in result.outcomes]
            missing = len(result.job.cases) - len(answers)
            self._next_step((*answers, *[None] * missing))
        settled, self._settled = self._settled, []
        return settled

    def _next_step(self, answers: Answers | None) -> None:
        if self._steps is None:
            return
        try:
            job = next(self._steps) if answers is None else self._steps.send(answers)
        except StopIteration:
            self._steps = None
        else:
            self._job = job
            self._dispatcher.add(job)

    def abandon(self, target: str = "") -> list[ConfirmationResult]:
        """Abandon unfinished measurements; findings without a second measurement are pending.

        Args:
            target: target whose measurements are abandoned; empty for all.
        """
        self._queue = deque(
            candidate for candidate in self._queue if target and target not in candidate.targets
        )
        self._records = deque(
            record for record in self._records if target and target not in record.targets
        )
        if target and target not in self._in_use:
            return []
        pending, self._unconfirmed = self._unconfirmed, []
        self._job, self._in_use = None, ()
        self._steps = self._work() if self._queue or self._records else None
        return [ConfirmationResult(key, finding, Confirmation.PENDING) for key, finding in pending]

    # --- the steps ------------------------------------------------------------------------------

    def _work(self) -> Steps:
        while self._records:
            yield from self._measure_record(self._records.popleft())
        while self._queue:
            targets = self._in_use = self._queue[0].targets
            suspicions: list[Suspicion] = []
            for _ in range(_SCREENED_AHEAD):
                suspicions += yield from self._screen(self._next_candidates(targets), targets)
            log.info("%d calls are suspicious, %d not screened", len(suspicions), len(self._queue))
            for group in grouped(suspicions):
                yield from self._examine(group)

    def _next_candidates(self, targets: tuple[str, ...]) -> list[SuspectCall]:
        candidates: list[SuspectCall] = []
        while self._queue and len(candidates) < _TOGETHER and self._queue[0].targets == targets:
            candidates.append(self._queue.popleft())
        return candidates

    def _screen(
        self, candidates: list[SuspectCall], targets: tuple[str, ...]
    ) -> Generator[Job, Answers, list[Suspicion]]:
        """Measure each candidate a few times; return the suspicions."""
        session = self._new_session()
        screened = yield from self._enlarged(candidates, targets[0], session)
        for number in range(_SCREENING_ROUNDS):
            requested = [
                (call, request)
                for call in screened
                for request in call.requests(is_first=not number)
            ]
            requests = tuple(request for _, request in requested)
            for target in targets if requested else ():
                answers = yield self._new_job(target, requests, session)
                for (call, _), measured in zip(requested, answers, strict=True):
                    if measured is not None:
                        call.add(target, measured)
        suspicions = [
            suspicion for call in screened for suspicion in call.suspicions(targets[0], targets[1:])
        ]
        self.screened += [call.large for call in screened]
        self.suspicious += [
            suspicion.candidate for suspicion in suspicions if suspicion.quantity is Quantity.TIME
        ]
        return suspicions

    def _enlarged(
        self, candidates: list[SuspectCall], target: str, session: int
    ) -> Generator[Job, Answers, list[Screened]]:
        """Return the calls that pass on a target, with inputs enlarged for measuring."""
        screened: dict[int, Screened] = {}
        climbs = [climb(candidate.case) for candidate in candidates]
        calls = {index: next(search) for index, search in enumerate(climbs)}
        while calls:
            answers = yield self._new_job(
                target, tuple(map(rough_time_request, calls.values())), session
            )
            for index, measured in zip(tuple(calls), answers, strict=True):
                cost_s = None if measured is None else best(measured) / 1e9
                try:
                    calls[index] = climbs[index].send(cost_s)
                except StopIteration as end:
                    del calls[index]
                    if end.value is not None:
                        screened[index] = _screened(candidates[index], *end.value)
        return [screened[index] for index in sorted(screened)]

    def _examine(self, suspicions: list[Suspicion]) -> Generator[Job, Answers, bool]:
        """Measure suspicions, and measure those with a finding a second time.

        Returns:
            True if all were measured; a call that was rejected or crashed was not.
        """
        first = yield from self._findings(suspicions)
        repeated: list[Suspicion] = []
        for suspicion, (_, finding) in zip(suspicions, first, strict=True):
            if finding is None:
                continue
            key = fingerprint(finding).key
            if key in self._known:
                self._settled.append(ConfirmationResult(key, finding, Confirmation.CONFIRMED))
            else:
                self._unconfirmed.append((key, finding))
                repeated.append(suspicion)
        second = (yield from self._findings(repeated, is_second=True)) if repeated else []
        for (key, finding), (_, confirmed) in zip(self._unconfirmed, second, strict=True):
            confirmation = Confirmation.CONFIRMED if confirmed else Confirmation.FLAKY
            self._settled.append(ConfirmationResult(key, confirmed or finding, confirmation))
        self._unconfirmed = []
        return all(is_measured for is_measured, _ in (*first, *second))

    def _measure_record(self, record: BaselineRecord) -> Steps:
        """Measure the case of a record, which shows its bucket again or is fixed."""
        group = self._groups.get(record.representative.library)
        present = () if group is None else group.targets_with(record.representative.api)
        targets = comparable(present, group) if group is not None else ()
        self._in_use = targets
        quantities = {kind: quantity for quantity, kind in KINDS.items() if quantity in MEASURED}
        quantity = quantities.get(record.representative.kind)
        if not targets or quantity is None:
            return  # a kind of another version of ciguard: not exercised
        case = as_call(record.representative.case)
        (once,) = yield self._new_job(targets[0], (rough_time_request(case),), self._new_session())
        if once is None:
            return
        costs = (best(once) / 1e9,) * len(targets)
        candidate = SuspectCall(record.representative.library, case, targets, costs)
        is_measured = True
        for other in targets[1:]:
            has_result = yield from self._examine([Suspicion(candidate, quantity, other)])
            is_measured = is_measured and has_result
        if is_measured:
            self.measured[record.fingerprint] = frozenset(targets)

    def _findings(
        self, suspicions: list[Suspicion], *, is_second: bool = False
    ) -> Generator[Job, Answers, list[Verdict]]:
        """Measure in fresh workers and judge; all suspicions are of one quantity and target."""
        first = suspicions[0]
        names = first.candidate.targets[0], first.other
        # The second measurement tests a single hypothesis, the first one many.
        tests = 1 if is_second else self._tests
        rounds = 1 if first.quantity is Quantity.GROWTH else rounds_for(tests)
        factor = _REPEAT_FACTOR if is_second else 1
        trials = [
            SuspicionTrial(
                suspicion, request(suspicion.candidate, suspicion.quantity, factor=factor)
            )
            for suspicion in suspicions
        ]
        session = self._new_session()
        renewal = _ROUNDS_PER_WORKER if self._forks_cheaply(first.candidate) else rounds
        for number in range(rounds):
            if number and number % renewal == 0:
                session = self._new_session()
            # Alternate the targets and their order, so that a steady drift cancels out.
            for name in names if number % 2 == 0 else reversed(names):
                running = [trial for trial in trials if not trial.is_over]
                if running:
                    requests = tuple(trial.request for trial in running)
                    answers = yield self._new_job(name, requests, session, max_hangs=0)
                    for trial, measured in zip(running, answers, strict=True):
                        trial.take(name, measured)
            if number == _CHECK_AFTER - 1:
                for trial in trials:
                    trial.drop_if_similar(*names)
        return [(trial.is_measured, self._judged(trial, tests)) for trial in trials]

    def _judged(self, trial: SuspicionTrial, tests: int) -> Finding | None:
        if trial.is_over:
            return None
        candidate = trial.suspicion.candidate
        outcomes = {name: _outcome(rounds, tests) for name, rounds in trial.taken.items()}
        subject = self._groups[candidate.library].subject(candidate.case.api)
        findings = self._oracle.judge(candidate.case, outcomes, subject)
        return findings[0] if findings else None

    def _forks_cheaply(self, candidate: SuspectCall) -> bool:
        """Return whether starting a fresh worker is fast."""
        group = self._groups[candidate.library]
        library = group.members[candidate.targets[0]].environment.library
        return library.forks is ForkPolicy.AFTER_USE

    def _new_session(self) -> int:
        self._session += 1
        return self._session

    def _new_job(
        self, target: str, requests: tuple[bytes, ...], session: int, *, max_hangs: int = 1
    ) -> Job:
        """Return a job; its remaining requests are skipped after `max_hangs` hangs, if not 0."""
        self._number += 1
        key = self.KEY, self._number
        return Job(target, key, requests, max_hangs=max_hangs, session=session)


def _measured(outcome: Outcome) -> Measurement | None:
    return decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None


def _outcome(rounds: list[Measurement], tests: int) -> Outcome:
    """Return the outcome that holds all rounds of one target."""
    first = rounds[0]
    values = first.values if first.quantity is Quantity.GROWTH else tuple(map(best, rounds))
    combined = Measurement(quantity=first.quantity, values=values, calls=first.calls, tests=tests)
    cost_s = median(values) / 1e9 if first.quantity is Quantity.TIME else 0.0
    return Passed(combined.encoded(), cost_s)


def _screened(candidate: SuspectCall, case: ApiCall, cost_s: float) -> Screened:
    costs = (cost_s,) * len(candidate.targets)
    return Screened(candidate, replace(candidate, case=case, costs=costs))
