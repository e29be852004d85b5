"""Confirmation: a finding counts if all repetitions in fresh workers reproduce it.

The repetitions of a candidate run one after the other, in workers that have run nothing before. The
candidate is flaky as soon as a repetition does not reproduce it. A candidate that ends its worker
gets a worker of its own. Other candidates share a worker per repetition, to save process starts.

A difference between targets counts only if each target reproduces its own result. Each repetition
fills memory with another byte and uses another seed, so that results that depend on uninitialised
memory or random numbers differ between repetitions.

If a call hangs, its first repetition has a longer timeout (see `hang_limits`). Other candidates do
not wait for hangs. While others explore, only one is repeated at a time, in a bounded share of the
workers' time.

The last repetition of a case that ends its worker has more memory than usual. A case that then ends
otherwise met the limit of the worker, not a defect of the library, and is dropped. Many
libraries do not check whether an allocation succeeds, so this includes invalid accesses.

The first of several repetitions of a case that loses its device runs each kernel synchronously, so
that the error has the frames of the failing call. A race between kernels may need the others, so
this repetition refutes nothing.

For a difference in values, the case also runs with inputs that are moved by one rounding error. If
these results, or those of the repetitions, differ as much as the targets do, rounding explains the
difference. It is then neither a finding nor flaky.
"""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.findings import Confirmation, Finding, PairKind
from ciguard.execution import Job, Priority
from ciguard.oracles import (
    HANG,
    SLOW,
    encode_for_target,
    judge,
    slow_finding,
    traits_of,
)
from ciguard.oracles.comparing import (
    may_be_rounding,
    perturb_case,
    result_epsilon,
)
from ciguard.triage.candidates import Candidate, RepetitionGroup, explained_by_rounding
from ciguard.triage.hang_limits import (
    MAX_SHARE_BESIDE_OTHERS,
    durations_s,
    hang_limit_s,
    takes_long,
)
from ciguard.triage.repetitions import (
    changed_targets,
    is_random,
    most_common_finding,
    with_own_seed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.oracles import Subject

_FILL_BYTES = (0x55, 0xAA, 0x33, 0xCC, 0x0F)
"""Bytes with which the repetitions fill memory, in order."""
_MAX_GROUP_SIZE = 16
"""Maximum number of candidates that share a worker."""
_MORE_GROUPS_THAN_LANES = 2
"""Number of groups that run or wait in the dispatcher, beyond the number of its lanes."""
_SECONDS_PER_CANDIDATE = 0.5
"""Time for all repetitions of a candidate that is not a hang, until several were repeated."""
_MIN_SETTLED = 8
"""Number of settled candidates from which on their mean time is used."""


@dataclass(frozen=True, slots=True)
class ConfirmationResult:
    """Result of confirming a candidate."""

    key: str
    """Provisional fingerprint with which the finding was proposed."""
    finding: Finding
    """Finding from a fresh worker if it is confirmed, otherwise the proposed finding."""
    confirmation: Confirmation | None
    """Result of the repetitions; None if rounding or random numbers explain the difference, or the
    memory limit of the worker explains its end."""
    shown: int = 0
    """For a flaky finding, the number of repetitions that showed the defect."""
    tried: int = 0
    """For a flaky finding, the number of repetitions."""


class SubjectLookup(Protocol):
    """Function that returns the subject of a finding: library, API, tags and targets."""

    def __call__(self, finding: Finding) -> Subject:
        """Return the subject of a finding."""
        ...


class Confirmer:
    """Repeats candidates on a dispatcher.

    The caller passes the results of the confirmer's jobs to `take`.
    """

    KEY = "confirm"

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        repetitions: int,
        subject_of: SubjectLookup,
        time_left: Callable[[], float] = lambda: math.inf,
        key: str = KEY,
    ) -> None:
        """Create a confirmer.

        Args:
            dispatcher: the dispatcher that runs the repetitions.
            repetitions: number of repetitions that must reproduce a finding.
            subject_of: the function that returns the subject of a finding.
            time_left: the function that returns the time until confirmation ends, in seconds.
            key: the first member of the keys of the confirmer's jobs; the second one is a number.
        """
        self._dispatcher = dispatcher
        self._key = key
        self._repetitions = repetitions
        self._subject_of = subject_of
        self._time_left = time_left
        self._queue: list[tuple[int, int, Candidate]] = []
        self._groups: dict[int, RepetitionGroup] = {}
        self._number = 0
        self._spent_s = 0.0
        """Time of the workers for candidates that are not hangs, in seconds."""
        self._settled = 0
        """Number of these candidates that have a result."""
        self._hangs_s = 0.0
        """Time of the workers for hangs, in seconds."""
        self._began = math.inf
        """Time when candidates were started first, on the clock of `time.monotonic`."""
        self._is_patient = False
        """True while other work goes on."""

    def propose(self, key: str, finding: Finding) -> None:
        """Queue a finding.

        The most severe findings are repeated first, and findings with a long timeout last.

        Args:
            key: provisional fingerprint of the finding.
            finding: the finding to confirm.
        """
        self._number += 1
        urgency = 0 if takes_long(finding) else -finding.severity - 1
        heapq.heappush(self._queue, (urgency, self._number, Candidate(key, finding)))

    @property
    def is_idle(self) -> bool:
        """True if no candidate is queued or running."""
        return not self._queue and not self._groups

    @property
    def has_only_hangs(self) -> bool:
        """True if no candidate is queued or running, except for hangs."""
        return all(takes_long(candidate.finding) for candidate in self._unsettled())

    @property
    def needed_s(self) -> float:
        """Expected time until no candidate is queued or running, in seconds."""
        hangs = [one for one in self._unsettled() if takes_long(one.finding)]
        hangs_s = durations_s(hangs, self._repetitions, lanes=self._dispatcher.lanes)
        return self.needed_besides_hangs_s + hangs_s

    @property
    def needed_besides_hangs_s(self) -> float:
        """Expected time for all candidates except hangs, in seconds."""
        others = sum(not takes_long(candidate.finding) for candidate in self._unsettled())
        return others * self._seconds_per_candidate / self._dispatcher.lanes

    def _unsettled(self) -> list[Candidate]:
        """Return the candidates that are queued or running."""
        queued = [candidate for _, _, candidate in self._queue]
        running = [candidate for group in self._groups.values() for candidate in group.candidates]
        return [*queued, *running]

    @property
    def _seconds_per_candidate(self) -> float:
        if self._settled < _MIN_SETTLED:
            return _SECONDS_PER_CANDIDATE
        return self._spent_s / self._settled

    def pump(self, *, is_patient: bool = False) -> None:
        """Start repetitions of queued candidates, up to the limit of running groups.

        Args:
            is_patient: whether other work goes on meanwhile, so that candidates may wait for others
                that can share a worker, and hangs for each other.
        """
        self._is_patient = is_patient
        lanes = self._dispatcher.lanes
        running = [takes_long(group.candidates[0].finding) for group in self._groups.values()]
        free_slots = {
            True: self._hangs_at_once() - running.count(True),
            False: lanes + _MORE_GROUPS_THAN_LANES - running.count(False),
        }
        delayed: list[tuple[int, int, Candidate]] = []
        while self._queue and max(free_slots.values()) > 0:
            entry = heapq.heappop(self._queue)
            finding = entry[2].finding
            is_alone = traits_of(finding.oracle).loses_worker
            is_early = is_patient and not is_alone and len(self._queue) < _MAX_GROUP_SIZE
            if is_early or free_slots[takes_long(finding)] <= 0:
                delayed.append(entry)
                continue
            free_slots[takes_long(finding)] -= 1
            candidates = [entry[2]]
            if not is_alone:
                candidates += self._dequeue_companions(tuple(finding.outcomes))
            self._number += 1
            self._groups[self._number] = RepetitionGroup(candidates, tuple(finding.outcomes))
            self._repeat(self._number)
        for entry in delayed:
            heapq.heappush(self._queue, entry)

    def _hangs_at_once(self) -> int:
        """Return how many hangs may be repeated at the same time."""
        lanes = self._dispatcher.lanes
        if not self._is_patient:
            return lanes
        self._began = min(self._began, time.monotonic())
        elapsed_s = lanes * (time.monotonic() - self._began)
        return int(self._hangs_s <= MAX_SHARE_BESIDE_OTHERS * elapsed_s)

    def _dequeue_companions(self, targets: tuple[str, ...]) -> Iterator[Candidate]:
        """Remove candidates from the queue that can share a worker on the given targets."""
        chosen: list[tuple[int, int, Candidate]] = []
        for entry in sorted(self._queue):
            finding = entry[2].finding
            if not traits_of(finding.oracle).loses_worker and tuple(finding.outcomes) == targets:
                chosen.append(entry)
                if len(chosen) == _MAX_GROUP_SIZE - 1:
                    break
        for entry in chosen:
            self._queue.remove(entry)
            yield entry[2]
        heapq.heapify(self._queue)

    def _repeat(self, number: int) -> None:
        """Start the next repetition of a group, with perturbed inputs where rounding may matter."""
        group = self._groups[number]
        group.outcomes = {}
        cases_and_subjects = [
            (
                with_own_seed(candidate.finding, group.repetition),
                self._subject_of(candidate.finding),
            )
            for candidate in group.candidates
        ]
        cases_and_subjects += [
            (perturb_case(case, case.seed, epsilon=result_epsilon(candidate.finding)), subject)
            for (case, subject), candidate in zip(cases_and_subjects, group.candidates, strict=True)
            if may_be_rounding(candidate.finding)
        ]
        is_compared = any(
            traits_of(candidate.finding.oracle).compares_results for candidate in group.candidates
        )
        perturb = _FILL_BYTES[group.repetition % len(_FILL_BYTES)] if is_compared else 0
        limit_s = self._limit_s(group.candidates[0])
        for target in group.targets:
            encoded_cases = tuple(
                encode_for_target(target, case, subject) for case, subject in cases_and_subjects
            )
            job = Job(
                target,
                (self._key, number),
                encoded_cases,
                fresh=True,
                perturb=perturb,
                has_ample_memory=self._is_memory_test(group),
                is_synchronous=self._is_synchronous(group),
                limit_s=limit_s,
            )
            self._dispatcher.add(job, Priority.LONG if limit_s else Priority.URGENT)

    def _is_memory_test(self, group: RepetitionGroup) -> bool:
        """Return whether a group's repetition is the last one of a case that ends its worker.

        A single repetition is none: without an earlier one, a flaky case would be taken for one
        that needs more memory.
        """
        traits = traits_of(group.candidates[0].finding.oracle)
        is_last = 0 < group.repetition == self._repetitions - 1
        return is_last and traits.loses_worker and not traits.takes_whole_timeout

    def _is_synchronous(self, group: RepetitionGroup) -> bool:
        """Return whether a group's repetition runs the kernels of a device synchronously."""
        is_first_of_several = group.repetition == 0 < self._repetitions - 1
        return is_first_of_several and group.candidates[0].finding.loses_device

    def _limit_s(self, candidate: Candidate) -> float:
        """Return the timeout for a candidate's next repetition in seconds; 0 for the usual one."""
        if not takes_long(candidate.finding):
            return 0.0
        if self._is_patient:
            return hang_limit_s(candidate, time_left_s=0.0)
        hangs = sum(takes_long(other.finding) for other in self._unsettled())
        return hang_limit_s(candidate, time_left_s=self._time_left() / hangs)

    def take(self, result: JobResult) -> list[ConfirmationResult]:
        """Process the result of one of the confirmer's jobs.

        Returns:
            The results of the candidates for which it was the last repetition.
        """
        number = result.job.key[1]  # type: ignore[index]
        group = self._groups.get(number)
        if group is None:
            return []  # the group was abandoned while the job ran
        group.outcomes[result.job.target] = result.outcomes
        is_quick = not result.job.limit_s
        if is_quick:
            self._spent_s += result.elapsed_s
        else:
            self._hangs_s += result.elapsed_s / len(group.targets)
        if len(group.outcomes) < len(group.targets):
            return []
        settled = list(self._settle_repetition(group))
        self._settled += is_quick * len(settled)
        group.repetition += 1
        if group.candidates:
            self._repeat(number)
        else:
            del self._groups[number]
        return settled

    def _settle_repetition(self, group: RepetitionGroup) -> Iterator[ConfirmationResult]:
        """Yield the results of the candidates that need no further repetition."""
        remaining = []
        rows = zip(*(group.outcomes[name] for name in group.targets), strict=True)
        outcomes_of_cases = [dict(zip(group.targets, row, strict=True)) for row in rows]
        outcomes_of_perturbed_cases = iter(outcomes_of_cases[len(group.candidates) :])
        for candidate, outcomes in zip(group.candidates, outcomes_of_cases, strict=False):
            if may_be_rounding(candidate.finding):
                candidate.perturbed_outcomes.append(next(outcomes_of_perturbed_cases))
            if not self._is_reproduced(candidate, outcomes):
                if self._is_synchronous(group):
                    remaining.append(candidate)
                    continue
                is_limit = self._is_memory_test(group) and bool(candidate.findings)
                if is_limit or is_random(
                    candidate.finding,
                    candidate.outcomes_by_repetition,
                    outcomes,
                    draws="random" in self._subject_of(candidate.finding).tags,
                ):
                    yield ConfirmationResult(candidate.key, candidate.finding, None)
                    continue
                yield ConfirmationResult(
                    candidate.key,
                    candidate.finding,
                    Confirmation.FLAKY,
                    shown=len(candidate.findings),
                    tried=group.repetition + 1,
                )
            elif group.repetition + 1 < self._repetitions:
                remaining.append(candidate)
            elif explained_by_rounding(candidate):
                yield ConfirmationResult(candidate.key, candidate.finding, None)
            else:
                yield ConfirmationResult(
                    candidate.key, most_common_finding(candidate.findings), Confirmation.CONFIRMED
                )
        group.candidates = remaining

    def _is_reproduced(self, candidate: Candidate, outcomes: dict[str, Outcome]) -> bool:
        """Return whether a repetition shows the candidate again, and store its outcomes."""
        proposed = candidate.finding
        if traits_of(proposed.oracle).compares_results and changed_targets(
            proposed, candidate.outcomes_by_repetition, outcomes
        ):
            return False
        candidate.outcomes_by_repetition.append(outcomes)
        findings = judge(proposed.case, outcomes, self._subject_of(proposed))
        kinds = {proposed.kind}
        if takes_long(proposed):
            findings += filter(None, [slow_finding(proposed, outcomes)])
            kinds = {candidate.findings[0].kind} if candidate.findings else {HANG, SLOW}
        for finding in findings:
            is_same_defect = finding.oracle == proposed.oracle and finding.kind in kinds
            if is_same_defect and (
                finding.pair is PairKind.NONE or finding.targets == proposed.targets
            ):
                candidate.findings.append(finding)
                return True
        return False

    def abandon(self, target: str = "") -> list[ConfirmationResult]:
        """Remove candidates that have no result yet, and return them as pending.

        Args:
            target: name of the target whose candidates are removed; empty for all candidates.
        """
        abandoned: list[Candidate] = []
        for entry in sorted(self._queue):
            if not target or target in entry[2].finding.outcomes:
                self._queue.remove(entry)
                abandoned.append(entry[2])
        heapq.heapify(self._queue)
        for number, group in list(self._groups.items()):
            if not target or target in group.targets:
                del self._groups[number]
                abandoned += group.candidates
        return [
            ConfirmationResult(candidate.key, candidate.finding, Confirmation.PENDING)
            for candidate in abandoned
        ]
