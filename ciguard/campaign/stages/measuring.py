"""Measuring: calls are timed and weighed on several targets in turn, after they were explored.

A call that takes little is given larger inputs. Then comes a screening: a few rounds of many
candidates in one worker per target. What looks suspicious there is measured anew in workers that
ran nothing before, in as many rounds as the test needs, the targets in turn so that drift cancels.
What the oracle finds is measured once more from the start: only what both measurements show is
confirmed.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from ciguard.campaign.stages.enlarging import climb
from ciguard.campaign.stages.screening import (
    Screened,
    Suspicion,
    SuspicionTrial,
    best,
    glance,
    grouped,
    request,
)
from ciguard.campaign.stages.suspects import SuspectCall, comparable
from ciguard.domain.api_calls import as_call
from ciguard.domain.findings import Confirmation, Finding
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.execution import Job, Measured, Quantity, decode_measured
from ciguard.libraries import ForkPolicy
from ciguard.oracles import KINDS, PerformanceOracle, rounds_for, traits_of
from ciguard.triage import Settled, fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.group import Group
    from ciguard.domain.api_calls import ApiCall
    from ciguard.execution import Dispatcher, JobResult

log = logging.getLogger(__name__)

_TOGETHER = 8
"""Candidates that are screened in one worker per target."""
_SCREENED_AHEAD = 8
"""So many workers are filled before the first suspicion is looked at, the gravest of theirs."""
_SCREENING_ROUNDS = 3
_MORE = 3
"""So many times the calls when a leak is measured again: what warms up has levelled off by then."""
_ROUNDS_PER_WORKER = 4
"""What is peculiar to one process must not decide, where a fresh one costs little."""
_LOOK_AFTER = 6
"""Rounds after which a measurement that shows little is given up; that can only lose findings."""

Answers: TypeAlias = tuple[Measured | None, ...]
"""What came of a job: one per request, None for one that was not measured."""
Verdict: TypeAlias = tuple[bool, Finding | None]
"""Whether a suspicion could be measured, and what was found."""
Steps: TypeAlias = Generator[Job, Answers, None]


class Measurer:
    """Measures one thing at a time on a dispatcher; the caller hands it its results."""

    KEY = "measure"

    def __init__(
        self, dispatcher: Dispatcher, groups: Mapping[str, Group], *, known: Collection[str]
    ) -> None:
        """Make a measurer that has nothing to do.

        Args:
            dispatcher: runs the jobs.
            groups: by library.
            known: fingerprints of the baseline: what is met again needs no second measurement.
        """
        self._dispatcher = dispatcher
        self._groups = groups
        self._known = known
        self._oracle = PerformanceOracle()
        self._queue: deque[SuspectCall] = deque()
        self._records: deque[BaselineRecord] = deque()
        self._steps: Steps | None = None
        self._job: Job | None = None
        """Under way."""
        self._in_use: tuple[str, ...] = ()
        """Targets of what is being measured."""
        self._number = 0
        self._tests = 1
        self._session = 0
        self._met: list[Settled] = []
        self._unconfirmed: list[tuple[str, Finding]] = []
        self.measured: dict[str, frozenset[str]] = {}
        """Fingerprint of the baseline → targets on which its case was measured again."""

    def propose(self, records: Iterable[BaselineRecord], candidates: Iterable[SuspectCall]) -> None:
        """Queue what is known to be slow or greedy, and then what may be. Called once."""
        self._records.extend(r for r in records if traits_of(r.exhibit.oracle).is_measured)
        self._queue.extend(candidates)
        pairs = sum(len(candidate.targets) - 1 for candidate in self._queue) + len(self._records)
        self._tests = max(1, pairs * len(Quantity))
        self._steps = self._work()

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return self._steps is None

    def pump(self) -> None:
        """Start the first job; each result starts the next."""
        if self._steps is not None and self._job is None:
            self._go_on(None)

    def take(self, result: JobResult) -> list[Settled]:
        """Take the result of one of this measurer's jobs; return what it settles."""
        if self._job is not None and result.job.key == self._job.key:
            self._job = None
            answers = [_measured(outcome) for outcome in result.outcomes]
            missing = len(result.job.cases) - len(answers)
            self._go_on((*answers, *[None] * missing))
        settled, self._met = self._met, []
        return settled

    def _go_on(self, answers: Answers | None) -> None:
        if self._steps is None:
            return
        try:
            job = next(self._steps) if answers is None else self._steps.send(answers)
        except StopIteration:
            self._steps = None
        else:
            self._job = job
            self._dispatcher.add(job)

    def abandon(self, target: str = "") -> list[Settled]:
        """Give up what is not settled; a finding that awaits its second measurement is pending.

        Args:
            target: give up only what needs this target; empty for everything.
        """
        self._queue = deque(c for c in self._queue if target and target not in c.targets)
        self._records = deque(r for r in self._records if target and target not in r.targets)
        if target and target not in self._in_use:
            return []
        left, self._unconfirmed = self._unconfirmed, []
        self._job, self._in_use = None, ()
        self._steps = self._work() if self._queue or self._records else None
        return [Settled(*one, Confirmation.PENDING) for one in left]

    # --- the steps ------------------------------------------------------------------------------

    def _work(self) -> Steps:
        while self._records:
            yield from self._again(self._records.popleft())
        while self._queue:
            targets = self._in_use = self._queue[0].targets
            suspicions: list[Suspicion] = []
            for _ in range(_SCREENED_AHEAD):
                suspicions += yield from self._screen(self._next_candidates(targets), targets)
            log.info("%d are suspicious, %d not screened", len(suspicions), len(self._queue))
            for together in grouped(suspicions):
                yield from self._examine(together)

    def _next_candidates(self, targets: tuple[str, ...]) -> list[SuspectCall]:
        together: list[SuspectCall] = []
        while self._queue and len(together) < _TOGETHER and self._queue[0].targets == targets:
            together.append(self._queue.popleft())
        return together

    def _screen(
        self, candidates: list[SuspectCall], targets: tuple[str, ...]
    ) -> Generator[Job, Answers, list[Suspicion]]:
        """Measure each candidate a few times; return what is worth a closer look."""
        session = self._new_session()
        screened = yield from self._enlarged(candidates, targets[0], session)
        for number in range(_SCREENING_ROUNDS):
            asked = [(o, r) for o in screened for r in o.requests(is_first=not number)]
            requests = tuple(encoded for _, encoded in asked)
            for target in targets if asked else ():
                answers = yield self._new_job(target, requests, session)
                for (one, _), measured in zip(asked, answers, strict=True):
                    if measured is not None:
                        one.add(target, measured)
        return [found for one in screened for found in one.suspicions(targets[0], targets[1:])]

    def _enlarged(
        self, candidates: list[SuspectCall], target: str, session: int
    ) -> Generator[Job, Answers, list[Screened]]:
        """Return what passes on a target, with inputs as large as it is measured with."""
        found: dict[int, Screened] = {}
        climbs = [climb(candidate.case) for candidate in candidates]
        asked = {place: next(one) for place, one in enumerate(climbs)}
        while asked:
            answers = yield self._new_job(target, tuple(map(glance, asked.values())), session)
            for place, measured in zip(tuple(asked), answers, strict=True):
                cost_s = None if measured is None else best(measured) / 1e9
                try:
                    asked[place] = climbs[place].send(cost_s)
                except StopIteration as end:
                    del asked[place]
                    if end.value is not None:
                        found[place] = _screened(candidates[place], *end.value)
        return [found[place] for place in sorted(found)]

    def _examine(self, suspicions: list[Suspicion]) -> Generator[Job, Answers, bool]:
        """Measure suspects, and once more those of which the oracle finds something.

        Returns:
            Whether all came to a verdict: a call that was refused or died says nothing.
        """
        first = yield from self._findings(suspicions)
        again: list[Suspicion] = []
        for suspicion, (_, found) in zip(suspicions, first, strict=True):
            if found is None:
                continue
            key = fingerprint(found).key
            if key in self._known:
                self._met.append(Settled(key, found, Confirmation.CONFIRMED))
            else:
                self._unconfirmed.append((key, found))
                again.append(suspicion)
        second = (yield from self._findings(again, is_second=True)) if again else []
        for (key, found), (_, confirmed) in zip(self._unconfirmed, second, strict=True):
            confirmation = Confirmation.CONFIRMED if confirmed else Confirmation.FLAKY
            self._met.append(Settled(key, confirmed or found, confirmation))
        self._unconfirmed = []
        return all(came_to_one for came_to_one, _ in (*first, *second))

    def _again(self, record: BaselineRecord) -> Steps:
        """Measure what the baseline holds: it is met again, or it is fixed."""
        group = self._groups.get(record.exhibit.library)
        present = () if group is None else group.targets_with(record.exhibit.api)
        targets = comparable(present, group) if group is not None else ()
        self._in_use = targets
        quantity = next((q for q, kind in KINDS.items() if kind == record.exhibit.kind), None)
        if not targets or quantity is None:
            return  # of a kind that another version knew: not run
        case = as_call(record.exhibit.case)
        (once,) = yield self._new_job(targets[0], (glance(case),), self._new_session())
        if once is None:
            return
        costs = (best(once) / 1e9,) * len(targets)
        candidate = SuspectCall(record.exhibit.library, case, targets, costs)
        is_measured = True
        for other in targets[1:]:
            came_to_one = yield from self._examine([Suspicion(candidate, quantity, other)])
            is_measured = is_measured and came_to_one
        if is_measured:
            self.measured[record.fingerprint] = frozenset(targets)

    def _findings(
        self, suspicions: list[Suspicion], *, is_second: bool = False
    ) -> Generator[Job, Answers, list[Verdict]]:
        """Measure in fresh workers and ask the oracle; all concern one quantity and target."""
        first = suspicions[0]
        names = first.candidate.targets[0], first.other
        # What was found is one hypothesis, whatever the number of those that were tested.
        tests = 1 if is_second else self._tests
        rounds = 1 if first.quantity is Quantity.GROWTH else rounds_for(tests)
        more = _MORE if is_second else 1
        trials = [
            SuspicionTrial(one, request(one.candidate, one.quantity, more=more))
            for one in suspicions
        ]
        session = self._new_session()
        renewal = _ROUNDS_PER_WORKER if self._forks_cheaply(first.candidate) else rounds
        for number in range(rounds):
            if number and number % renewal == 0:
                session = self._new_session()
            # In turn, and who begins in turn: what drifts evenly cancels.
            for name in names if number % 2 == 0 else reversed(names):
                under_way = [trial for trial in trials if not trial.is_over]
                if under_way:
                    requests = tuple(trial.request for trial in under_way)
                    answers = yield self._new_job(name, requests, session, most_hangs=0)
                    for trial, measured in zip(under_way, answers, strict=True):
                        trial.take(name, measured)
            if number == _LOOK_AFTER - 1:
                for trial in trials:
                    trial.look(*names)
        return [(trial.is_measured, self._judged(trial, tests)) for trial in trials]

    def _judged(self, trial: SuspicionTrial, tests: int) -> Finding | None:
        if trial.is_over:
            return None
        candidate = trial.suspicion.candidate
        outcomes = {name: _outcome(rounds, tests) for name, rounds in trial.taken.items()}
        subject = self._groups[candidate.library].subject(candidate.case.api)
        found = self._oracle.judge(candidate.case, outcomes, subject)
        return found[0] if found else None

    def _forks_cheaply(self, candidate: SuspectCall) -> bool:
        """Return whether a fresh worker is ready at once."""
        group = self._groups[candidate.library]
        library = group.members[candidate.targets[0]].environment.library
        return library.forks is ForkPolicy.AFTER_USE

    def _new_session(self) -> int:
        self._session += 1
        return self._session

    def _new_job(
        self, target: str, requests: tuple[bytes, ...], session: int, *, most_hangs: int = 1
    ) -> Job:
        """Return a job; after so many hangs the rest of its requests is left out, for 0 never."""
        self._number += 1
        key = self.KEY, self._number
        return Job(target, key, requests, most_hangs=most_hangs, session=session)


def _measured(outcome: Outcome) -> Measured | None:
    return decode_measured(outcome.encoded) if isinstance(outcome, Passed) else None


def _outcome(rounds: list[Measured], tests: int) -> Outcome:
    """Return all rounds of one target as the outcome that is evidence."""
    first = rounds[0]
    values = first.values if first.quantity is Quantity.GROWTH else tuple(map(best, rounds))
    whole = Measured(quantity=first.quantity, values=values, calls=first.calls, tests=tests)
    cost_s = median(values) / 1e9 if first.quantity is Quantity.TIME else 0.0
    return Passed(whole.encoded(), cost_s)


def _screened(candidate: SuspectCall, case: ApiCall, cost_s: float) -> Screened:
    costs = (cost_s,) * len(candidate.targets)
    return Screened(candidate, replace(candidate, case=case, costs=costs))
