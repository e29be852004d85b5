"""Trials of buckets that only one side of a change has shown: many calls on both sides.

The final case runs on base and head alternately, in fresh workers, with different memory contents.
The bucket is flaky if its own side does not show it every time. Then the other side runs the case
before minimisation, other cases of the bucket, and calls near them. There are fewer of these if
calls near another bucket of the same cause have shown nothing. If the other side shows the defect,
by fingerprint or symptom, the change is not to blame. Nor is it if the other side crashes or hangs
in the same call, and this side only fails.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.attribution import Attribution
from ciguard.domain.findings import PairKind, Severity
from ciguard.domain.outcomes import Crashed, Hung, Outcome
from ciguard.execution import Job
from ciguard.oracles import encode_for_target, judge, timeout_of, traits_of
from ciguard.triage import fingerprint, neighbours, same_symptom

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.oracles import Subject

REPETITIONS = 6
"""Number of runs of the final case on each side, at most."""
_FILLS = (0, 0x55, 0xAA, 0, 0x33, 0xCC)
"""Byte that fills newly allocated memory in each repetition; 0 leaves memory as it is."""
_HANG_REPETITIONS = 2
"""Repetitions of a hang on the suspect side, as it was confirmed several times before."""
_HANG_LIMIT_FACTOR = 0.5
"""Timeout of a hang as a multiple of its limit, which it exceeded before."""
_REPETITIONS_IF_LOW = 3
"""Repetitions of a difference that fails no check by default, of which releases have hundreds."""
_NEIGHBOURS = 50
_CRASH_NEIGHBOURS = 200
TOGETHER = 48
"""Number of cases that share a worker, since starting one costs more than most cases."""
_FURTHER_NEIGHBOURS = 16
"""Number of neighbours of a bucket whose cause was tested before."""

Answers: TypeAlias = Sequence[Sequence[Outcome]]
"""Outcomes of each job, in order; fewer than its cases if one hung."""
Steps: TypeAlias = Generator[list[Job], Answers, None]


@dataclass(frozen=True, slots=True)
class Attributed:
    """Result of a trial."""

    key: str
    """Fingerprint of the bucket."""
    attribution: Attribution
    """Number of runs, and of those that show the bucket, on each side."""
    shown_on: tuple[str, ...]
    """Targets of the other side that also show the bucket."""


@dataclass(slots=True, kw_only=True)
class SuspectBucket:
    """A bucket under trial, with the counts so far."""

    key: str
    """Fingerprint of the bucket."""
    finding: Finding
    """Finding with the final case."""
    subject: Subject
    """Subject for judging the outcomes."""
    suspect_targets: tuple[str, ...]
    """Targets of the side that showed it: of the head if it is new, of the base if it is fixed."""
    other_targets: tuple[str, ...]
    """Targets of the other side."""
    is_of_head: bool
    """True if the head showed it."""
    cases: tuple[Case, ...] = ()
    """Other cases of the bucket, in the order in which they were found."""
    cause: str = ""
    """Name of the presumed root cause."""
    is_repeated_cause: bool = False
    """True if calls near another bucket of the cause showed nothing on the other side."""
    suspect_shown: int = 0
    """Runs on the suspect side that showed the bucket."""
    suspect_runs: int = 0
    """All runs on the suspect side."""
    other_shown: int = 0
    """Runs on the other side that showed the bucket."""
    other_runs: int = 0
    """All runs on the other side."""
    shown_on: set[str] = field(default_factory=set)
    """Targets of the other side that showed the bucket."""

    @property
    def is_decided(self) -> bool:
        """True if further runs cannot change the result."""
        return bool(self.shown_on) or self.suspect_shown < self.suspect_runs

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets of the base, then those of the head, so that deviations are the head's."""
        sides = (self.other_targets, self.suspect_targets)
        base, head = sides if self.is_of_head else sides[::-1]
        return base + head

    @property
    def loses_worker(self) -> bool:
        """True if its case crashes or hangs, so that it needs its own worker."""
        return traits_of(self.finding.oracle).loses_worker

    @property
    def is_pair(self) -> bool:
        """True if it is a difference between targets."""
        return self.finding.pair is not PairKind.NONE

    @property
    def repetitions(self) -> int:
        """Number of runs of the final case on each side."""
        is_low = self.is_pair and self.finding.severity <= Severity.LOW
        return _REPETITIONS_IF_LOW if is_low else REPETITIONS

    def attributed(self) -> Attributed:
        """Return the result of the trial."""
        suspect_targets = (self.suspect_shown, self.suspect_runs)
        other_targets = (self.other_shown, self.other_runs)
        head, base = (
            (suspect_targets, other_targets)
            if self.is_of_head
            else (other_targets, suspect_targets)
        )
        return Attributed(
            self.key,
            Attribution(
                head_shown=head[0], head_tried=head[1], base_shown=base[0], base_tried=base[1]
            ),
            shown_on=tuple(sorted(self.shown_on)),
        )


def trial(suspects: Sequence[SuspectBucket]) -> Steps:
    """Yield the jobs of a trial step by step, and receive the outcomes of each step.

    Args:
        suspects: buckets with the same targets; a single one if its case ends workers.
    """
    for repetition in range(REPETITIONS):
        open_suspects = [
            suspect
            for suspect in suspects
            if not suspect.is_decided and repetition < suspect.repetitions
        ]
        if not open_suspects:
            break
        names = _targets_of(open_suspects[0], repetition)
        answers = yield [_repeated(open_suspects, name, repetition) for name in names]
        for index, suspect in enumerate(open_suspects):
            outcomes = {name: row[index] for name, row in zip(names, answers, strict=True)}
            _count(suspect, {name: outcomes[name] for name in suspect.targets if name in outcomes})
    for suspect in suspects:
        if not suspect.is_decided and not suspect.is_pair:
            yield from _neighbourhood(suspect)


def _targets_of(suspect: SuspectBucket, repetition: int) -> tuple[str, ...]:
    """Return the targets of a repetition; the sides alternate in coming first."""
    if traits_of(suspect.finding.oracle).takes_whole_timeout and repetition >= _HANG_REPETITIONS:
        return suspect.other_targets
    sides = (suspect.other_targets, suspect.suspect_targets)
    first, second = sides if repetition % 2 == 0 else sides[::-1]
    return first + second


def _repeated(suspects: Sequence[SuspectBucket], target: str, repetition: int) -> Job:
    is_hang = traits_of(suspects[0].finding.oracle).takes_whole_timeout
    return Job(
        target,
        None,
        tuple(
            encode_for_target(target, suspect.finding.case, suspect.subject) for suspect in suspects
        ),
        fresh=True,
        perturb=_FILLS[repetition],
        limit_s=_HANG_LIMIT_FACTOR * timeout_of(suspects[0].finding) if is_hang else 0.0,
    )


def _count(suspect: SuspectBucket, outcomes: Mapping[str, Outcome]) -> None:
    """Count the outcomes of one repetition."""
    if suspect.is_pair:
        _count_differences(suspect, outcomes)
        return
    for name, outcome in outcomes.items():
        is_suspect = name in suspect.suspect_targets
        shows = _shows(suspect, suspect.finding.case, {name: outcome}, is_exact=is_suspect)
        if not is_suspect:
            _count_other(suspect, name, shows=shows or _is_worse(suspect, outcome))
        elif name in suspect.finding.targets:
            suspect.suspect_runs += 1
            suspect.suspect_shown += shows


def _is_worse(suspect: SuspectBucket, outcome: Outcome) -> bool:
    """Return whether the other side crashes or hangs in a call that ends without that here."""
    return not suspect.loses_worker and isinstance(outcome, Crashed | Hung)


def _count_differences(suspect: SuspectBucket, outcomes: Mapping[str, Outcome]) -> None:
    """Count differences that a target of the head takes part in, and those within the base."""
    findings = _matching(suspect, judge(suspect.finding.case, outcomes, suspect.subject))
    suspect_targets = set(suspect.suspect_targets)
    inside = [finding for finding in findings if not suspect_targets.intersection(finding.targets)]
    suspect.suspect_runs += 1
    suspect.suspect_shown += len(findings) > len(inside)
    suspect.other_runs += 1
    suspect.other_shown += bool(inside)
    suspect.shown_on.update(name for finding in inside for name in finding.targets)


def _count_other(suspect: SuspectBucket, name: str, *, shows: bool) -> None:
    suspect.other_runs += 1
    if shows:
        suspect.other_shown += 1
        suspect.shown_on.add(name)


def _neighbourhood(suspect: SuspectBucket) -> Steps:
    """Run other cases of the bucket, and calls near them, on the other side."""
    for number, batch in enumerate(_batches(_cases_beside(suspect))):
        jobs = [
            Job(
                name,
                None,
                tuple(encode_for_target(name, case, suspect.subject) for case in batch),
                fresh=True,
                max_hangs=1,
                perturb=_FILLS[number % len(_FILLS)],
            )
            for name in suspect.other_targets
        ]
        answers = yield jobs
        for job, outcomes in zip(jobs, answers, strict=True):
            for case, outcome in zip(batch, outcomes, strict=False):
                shows = _shows(suspect, case, {job.target: outcome}, is_exact=False)
                _count_other(suspect, job.target, shows=shows)
        if suspect.is_decided:
            return


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    remaining = iter(cases)
    while batch := list(islice(remaining, TOGETHER)):
        yield batch


def _cases_beside(suspect: SuspectBucket) -> list[Case]:
    """Return other cases of the bucket, then calls near its first case and its final one."""
    case = suspect.finding.case
    maximum = _CRASH_NEIGHBOURS if traits_of(suspect.finding.oracle).is_crash else _NEIGHBOURS
    cases = [other for other in suspect.cases if other != case][:maximum]
    if suspect.is_repeated_cause:
        maximum = len(cases) + _FURTHER_NEIGHBOURS
    starts = [*cases[:1], case]
    share = (maximum - len(cases)) // len(starts)
    for start in starts:
        cases += neighbours(start, share, seed=case.seed)
    return cases


def _shows(
    suspect: SuspectBucket, case: Case, outcomes: Mapping[str, Outcome], *, is_exact: bool
) -> bool:
    findings = judge(case, outcomes, suspect.subject)
    return bool(_matching(suspect, findings, is_exact=is_exact))


def _matching(
    suspect: SuspectBucket, findings: Iterable[Finding], *, is_exact: bool = True
) -> list[Finding]:
    """Return the findings with the fingerprint of the suspect, or its symptom unless exact."""
    finding = suspect.finding
    return [
        other
        for other in findings
        if fingerprint(other).key == suspect.key
        or (finding.oracle == other.oracle and traits_of(finding.oracle).takes_whole_timeout)
        or (not is_exact and same_symptom(finding, other))
    ]
