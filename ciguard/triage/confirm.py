"""Confirmation: a finding counts when it shows itself in fresh workers, every time.

A candidate is repeated, one repetition after the other, in workers that ran nothing before. What
does not reproduce drops out as flaky at once. Deaths get a worker each; findings that end in an
orderly way share one per repetition, since a fresh process is the price.

A difference between targets counts only if each target also agrees with itself. Memory is filled
with another byte in each repetition, and random generators get another seed, so that a result read
from uninitialised memory or drawn at random disagrees.

A call that exceeds its limit gets a multiple of it in the first repetition, as far as the budget
allows: one that returns then is slow, and is repeated as such; one that does not return hangs, and
is waited for half its limit from then on.

A difference in values is also tried with inputs that were moved by one rounding. If what becomes of
them, or the target's own repetitions, differ as much as the targets do, rounding explains it: that
is no finding, and no flaw of the API either.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.findings import Confirmation, Finding, PairKind
from ciguard.domain.outcomes import Passed
from ciguard.execution import Job
from ciguard.oracles import HANG, SLOW, encode_on, judge, judged, limit_of, slow, traits_of
from ciguard.oracles.comparing import NO_INPUTS, is_rounding, may_be_rounding, nudged
from ciguard.triage.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.oracles import Subject

_FILLS = (0x55, 0xAA, 0x33, 0xCC, 0x0F)
_PATIENCE = 10.0
_MIN_PATIENCE = 3.0
"""How many times its limit a call is waited for before it counts as hung."""
_SHARE = 0.125
"""Of the time that is left, for one such wait."""
_AGAIN = 0.5
"""Of its limit, what a call gets that did not return in a multiple of it."""
_SLACK = 2.0
"""How many times the time of the first repetition a slow call gets in the others."""
_MAX_TOGETHER = 16
_MAX_UNDER_WAY = 3


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a candidate."""

    key: str
    """The provisional fingerprint under which it was proposed."""
    finding: Finding
    """As met in the first fresh worker; as proposed when it did not show there."""
    confirmation: Confirmation | None
    """None: rounding explains it, so there is nothing to report."""
    shown: int = 0
    """Repetitions that showed it, of those that were judged."""
    tried: int = 0


@dataclass(slots=True)
class _Candidate:
    key: str
    finding: Finding
    met: list[Finding] = field(default_factory=list)
    seen: list[dict[str, Outcome]] = field(default_factory=list)
    near: list[dict[str, Outcome]] = field(default_factory=list)
    """Of calls with nudged inputs."""


@dataclass(slots=True)
class _Trial:
    """Candidates that are repeated together, in one worker per target."""

    candidates: list[_Candidate]
    targets: tuple[str, ...]
    repetition: int = 0
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class SubjectOf(Protocol):
    """Finds what is being tested from a finding."""

    def __call__(self, finding: Finding) -> Subject:
        """Return library, API, tags and targets."""
        ...


class Confirmer:
    """Repeats candidates on a dispatcher; the caller hands it the results that are its own."""

    KEY = "confirm"

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        repetitions: int,
        subject_of: SubjectOf,
        time_left: Callable[[], float] = lambda: math.inf,
        key: str = KEY,
    ) -> None:
        """Make a confirmer.

        Args:
            dispatcher: runs the repetitions.
            repetitions: in which a finding must show.
            subject_of: says what is being tested.
            time_left: seconds until confirming ends.
            key: its jobs' keys are pairs of this and a number.
        """
        self._dispatcher = dispatcher
        self._key = key
        self._repetitions = repetitions
        self._subject_of = subject_of
        self._time_left = time_left
        self._queue: list[tuple[int, int, _Candidate]] = []
        self._trials: dict[int, _Trial] = {}
        self._number = 0

    def propose(self, key: str, finding: Finding) -> None:
        """Queue a finding; the most severe are repeated first, what takes long comes last."""
        self._number += 1
        takes_long = traits_of(finding.oracle).takes_limit
        urgency = 0 if takes_long else -finding.severity - 1
        heapq.heappush(self._queue, (urgency, self._number, _Candidate(key, finding)))

    @property
    def is_idle(self) -> bool:
        """True if nothing waits and nothing is under way."""
        return not self._queue and not self._trials

    def pump(self, *, is_patient: bool = False) -> None:
        """Start as many trials as may be under way at once.

        Args:
            is_patient: more findings may come: let those that can share a worker wait for it.
        """
        waiting: list[tuple[int, int, _Candidate]] = []
        while self._queue and len(self._trials) < _MAX_UNDER_WAY:
            entry = heapq.heappop(self._queue)
            first = entry[2]
            together = [first]
            if not traits_of(first.finding.oracle).ends_workers:
                if is_patient and len(self._queue) < _MAX_TOGETHER:
                    waiting.append(entry)
                    continue
                together += self._companions(tuple(first.finding.outcomes))
            self._number += 1
            self._trials[self._number] = _Trial(together, tuple(first.finding.outcomes))
            self._repeat(self._number)
        for entry in waiting:
            heapq.heappush(self._queue, entry)

    def _companions(self, targets: tuple[str, ...]) -> Iterator[_Candidate]:
        """Take further orderly candidates for the same targets off the queue."""
        chosen: list[tuple[int, int, _Candidate]] = []
        for entry in sorted(self._queue):
            finding = entry[2].finding
            if not traits_of(finding.oracle).ends_workers and tuple(finding.outcomes) == targets:
                chosen.append(entry)
                if len(chosen) == _MAX_TOGETHER - 1:
                    break
        for entry in chosen:
            self._queue.remove(entry)
            yield entry[2]
        heapq.heapify(self._queue)

    def _repeat(self, number: int) -> None:
        trial = self._trials[number]
        trial.outcomes = {}
        varied = [
            (_varied(c.finding, trial.repetition), self._subject_of(c.finding))
            for c in trial.candidates
        ]
        varied += [
            (nudged(case, case.seed), subject)
            for (case, subject), candidate in zip(varied, trial.candidates, strict=True)
            if may_be_rounding(candidate.finding)
        ]
        is_compared = any(traits_of(c.finding.oracle).compares_results for c in trial.candidates)
        perturb = _FILLS[trial.repetition % len(_FILLS)] if is_compared else 0
        limit_s = self._limit_s(trial.candidates[0])
        for target in trial.targets:
            cases = tuple(encode_on(target, case, subject) for case, subject in varied)
            job = Job(
                target,
                (self._key, number),
                cases,
                fresh=True,
                perturb=perturb,
                limit_s=limit_s,
            )
            self._dispatcher.add(job, urgent=True)

    def _limit_s(self, candidate: _Candidate) -> float:
        """Return the time that a candidate's case gets; 0 for the usual."""
        if not traits_of(candidate.finding.oracle).takes_limit:
            return 0.0
        if not candidate.met:
            usual_s = limit_of(candidate.finding)
            allowed_s = min(_PATIENCE * usual_s, _SHARE * self._time_left())
            return max(_MIN_PATIENCE * usual_s, allowed_s)
        first = candidate.met[0]
        if first.kind != SLOW:
            return _AGAIN * limit_of(candidate.finding)
        return _SLACK * max(o.cost_s for o in first.outcomes.values() if isinstance(o, Passed))

    def take(self, result: JobResult) -> list[Settled]:
        """Take the result of one of this confirmer's jobs; return what it settles."""
        number = result.job.key[1]  # type: ignore[index]
        trial = self._trials.get(number)
        if trial is None:
            return []  # given up meanwhile
        trial.outcomes[result.job.target] = result.outcomes
        if len(trial.outcomes) < len(trial.targets):
            return []
        settled = list(self._settle_repetition(trial))
        trial.repetition += 1
        if trial.candidates:
            self._repeat(number)
        else:
            del self._trials[number]
        return settled

    def _settle_repetition(self, trial: _Trial) -> Iterator[Settled]:
        surviving = []
        rows = zip(*(trial.outcomes[name] for name in trial.targets), strict=True)
        met = [dict(zip(trial.targets, row, strict=True)) for row in rows]
        near = iter(met[len(trial.candidates) :])
        for candidate, outcomes in zip(trial.candidates, met, strict=False):
            if may_be_rounding(candidate.finding):
                candidate.near.append(next(near))
            if not self._shows_again(candidate, outcomes):
                yield Settled(
                    candidate.key,
                    candidate.finding,
                    Confirmation.FLAKY,
                    shown=trial.repetition,
                    tried=trial.repetition + 1,
                )
            elif trial.repetition + 1 < self._repetitions:
                surviving.append(candidate)
            elif _is_rounding(candidate):
                yield Settled(candidate.key, candidate.finding, None)
            else:
                yield Settled(candidate.key, _most_common(candidate.met), Confirmation.CONFIRMED)
        trial.candidates = surviving

    def _shows_again(self, candidate: _Candidate, outcomes: dict[str, Outcome]) -> bool:
        proposed = candidate.finding
        if traits_of(proposed.oracle).compares_results and not _agree(
            proposed.case, candidate.seen, outcomes
        ):
            return False
        candidate.seen.append(outcomes)
        found = judge(proposed.case, outcomes, self._subject_of(proposed))
        kinds = {proposed.kind}
        if traits_of(proposed.oracle).takes_limit:
            found += filter(None, [slow(proposed, outcomes)])
            kinds = {candidate.met[0].kind} if candidate.met else {HANG, SLOW}
        for finding in found:
            same_defect = finding.oracle == proposed.oracle and finding.kind in kinds
            if same_defect and (
                finding.pair is PairKind.NONE or finding.targets == proposed.targets
            ):
                candidate.met.append(finding)
                return True
        return False

    def abandon(self, target: str = "") -> list[Settled]:
        """Give up what is not settled, and return it as pending.

        Args:
            target: give up only what needs this target; empty for everything.
        """
        given_up: list[_Candidate] = []
        for entry in sorted(self._queue):
            if not target or target in entry[2].finding.outcomes:
                self._queue.remove(entry)
                given_up.append(entry[2])
        heapq.heapify(self._queue)
        for number, trial in list(self._trials.items()):
            if not target or target in trial.targets:
                del self._trials[number]
                given_up += trial.candidates
        return [Settled(c.key, c.finding, Confirmation.PENDING) for c in given_up]


def _varied(finding: Finding, repetition: int) -> Case:
    """Return the case with another seed per repetition, where targets are compared.

    A result that depends on the library's random generator then disagrees with itself, which two
    versions with different generators would otherwise pass off as a difference.
    """
    case = finding.case
    if not traits_of(finding.oracle).compares_results or not case.is_run_by_worker:
        return case
    return replace(case, seed=case.seed + repetition)


def _agree(case: Case, earlier: list[dict[str, Outcome]], outcomes: dict[str, Outcome]) -> bool:
    """Return whether every target answers as it did in the first repetition."""
    if not earlier:
        return True
    level, first = judged(case), earlier[0]
    return all(
        level.compare(case, first[name], outcome, NO_INPUTS) is None
        for name, outcome in outcomes.items()
    )


def _is_rounding(candidate: _Candidate) -> bool:
    """Return whether the difference is as large as what each target makes of rounding."""
    if not may_be_rounding(candidate.finding):
        return False
    near = [*candidate.seen, *candidate.near]
    seen = {name: [outcomes[name] for outcomes in near] for name in candidate.finding.outcomes}
    return is_rounding(candidate.met[-1], seen)


def _most_common(met: list[Finding]) -> Finding:
    """Return the first of the findings with the fingerprint that most repetitions gave."""
    keys = [fingerprint(finding).key for finding in met]
    (chosen, _), *_ = Counter(keys).most_common(1)
    return met[keys.index(chosen)]
