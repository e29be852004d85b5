"""The trial of what only one side of a change has shown: many calls on both sides.

The final case runs on base and head in turn, in fresh workers, with memory as it comes and filled
with a byte. What the accused side does not show every time is flaky. Then the other side gets every
chance to show the defect too: the case before it was minimised, other cases of the bucket, and
calls near them, fewer once those of another bucket of the same cause have shown nothing. One of
them that shows it, by fingerprint or by symptom, acquits the change.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.attribution import Attribution
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Outcome
from ciguard.execution import Job
from ciguard.oracles import encode_on, judge, limit_of, traits_of
from ciguard.triage import fingerprint, neighbours, same_symptom

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.oracles import Subject

REPETITIONS = 6
_FILLS = (0, 0x55, 0xAA, 0, 0x33, 0xCC)
"""What newly allocated memory holds in each repetition; 0: whatever it held."""
_HANG_REPETITIONS = 2
"""Of the accused side: confirming has waited for the call several times already."""
_HANG_PATIENCE = 0.5
"""Of its limit, what a call gets that did not return in a multiple of it."""
_NEIGHBOURS = 50
_NEIGHBOURS_OF_DEATHS = 200
TOGETHER = 16
"""Cases that share a worker."""
_FURTHER_NEIGHBOURS = TOGETHER
"""Of a bucket whose cause was tried before."""

Answers: TypeAlias = Sequence[Sequence[Outcome]]
"""Outcomes of each job, in order; fewer than its cases where one hung."""
Steps: TypeAlias = Generator[list[Job], Answers, None]


@dataclass(frozen=True, slots=True)
class Attributed:
    """What a trial came to."""

    key: str
    attribution: Attribution
    shown_on: tuple[str, ...]
    """Targets of the other side that show it too."""


@dataclass(slots=True, kw_only=True)
class Suspect:
    """A bucket on trial."""

    key: str
    finding: Finding
    subject: Subject
    accused: tuple[str, ...]
    """The targets on whose side it was met: of the head for what is new, of the base for what
    would be fixed."""
    others: tuple[str, ...]
    is_of_head: bool
    cases: tuple[Case, ...] = ()
    """Others that fell into the bucket, in the order in which they were met."""
    cause: str = ""
    """Name of what is taken for the bucket's root cause."""
    is_of_tried_cause: bool = False
    """Whether calls near another bucket of the cause have shown nothing on the other side."""
    accused_shown: int = 0
    accused_tried: int = 0
    others_shown: int = 0
    others_tried: int = 0
    shown_on: set[str] = field(default_factory=set)

    @property
    def is_decided(self) -> bool:
        """Whether nothing that follows can change what it comes to."""
        return bool(self.shown_on) or self.accused_shown < self.accused_tried

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets of the base, then those of the head: what deviates is the head."""
        sides = (self.others, self.accused)
        base, head = sides if self.is_of_head else sides[::-1]
        return base + head

    @property
    def ends_workers(self) -> bool:
        """Whether its case leaves no worker for others."""
        return traits_of(self.finding.oracle).ends_workers

    @property
    def is_pair(self) -> bool:
        """Whether it is a difference between targets."""
        return self.finding.pair is not PairKind.NONE

    def attributed(self) -> Attributed:
        """Return what the trial has come to."""
        accused = (self.accused_shown, self.accused_tried)
        others = (self.others_shown, self.others_tried)
        head, base = (accused, others) if self.is_of_head else (others, accused)
        return Attributed(
            self.key,
            Attribution(
                head_shown=head[0], head_tried=head[1], base_shown=base[0], base_tried=base[1]
            ),
            shown_on=tuple(sorted(self.shown_on)),
        )


def trial(suspects: Sequence[Suspect]) -> Steps:
    """Yield the jobs of a trial step by step; each is sent what the jobs of the last came to.

    Args:
        suspects: all with the same targets; one alone if its case ends workers.
    """
    for repetition in range(REPETITIONS):
        tried = [suspect for suspect in suspects if not suspect.is_decided]
        if not tried:
            return
        names = _targets_of(tried[0], repetition)
        answers = yield [_repeated(tried, name, repetition) for name in names]
        for place, suspect in enumerate(tried):
            seen = {name: rows[place] for name, rows in zip(names, answers, strict=True)}
            _count(suspect, {name: seen[name] for name in suspect.targets if name in seen})
    for suspect in suspects:
        if not suspect.is_decided and not suspect.is_pair:
            yield from _neighbourhood(suspect)


def _targets_of(suspect: Suspect, repetition: int) -> tuple[str, ...]:
    """Return where a case runs this time: each side first in turn."""
    if traits_of(suspect.finding.oracle).takes_limit and repetition >= _HANG_REPETITIONS:
        return suspect.others
    sides = (suspect.others, suspect.accused)
    first, second = sides if repetition % 2 == 0 else sides[::-1]
    return first + second


def _repeated(suspects: Sequence[Suspect], target: str, repetition: int) -> Job:
    is_hang = traits_of(suspects[0].finding.oracle).takes_limit
    return Job(
        target,
        None,
        tuple(encode_on(target, one.finding.case, one.subject) for one in suspects),
        fresh=True,
        perturb=_FILLS[repetition],
        limit_s=_HANG_PATIENCE * limit_of(suspects[0].finding) if is_hang else 0.0,
    )


def _count(suspect: Suspect, outcomes: Mapping[str, Outcome]) -> None:
    """Note what one repetition has shown."""
    if suspect.is_pair:
        _count_differences(suspect, outcomes)
        return
    for name, outcome in outcomes.items():
        is_accused = name in suspect.accused
        shows = _shows(suspect, suspect.finding.case, {name: outcome}, is_exact=is_accused)
        if not is_accused:
            _count_other(suspect, name, shows=shows)
        elif name in suspect.finding.targets:
            suspect.accused_tried += 1
            suspect.accused_shown += shows


def _count_differences(suspect: Suspect, outcomes: Mapping[str, Outcome]) -> None:
    """Count differences that a target of the head takes part in, and those within the base."""
    found = _matching(suspect, judge(suspect.finding.case, outcomes, suspect.subject))
    inside = [other for other in found if not set(suspect.accused).intersection(other.targets)]
    suspect.accused_tried += 1
    suspect.accused_shown += len(found) > len(inside)
    suspect.others_tried += 1
    suspect.others_shown += bool(inside)
    suspect.shown_on.update(name for other in inside for name in other.targets)


def _count_other(suspect: Suspect, name: str, *, shows: bool) -> None:
    suspect.others_tried += 1
    if shows:
        suspect.others_shown += 1
        suspect.shown_on.add(name)


def _neighbourhood(suspect: Suspect) -> Steps:
    """Run other cases of the bucket, and calls near them, on the side that is not accused."""
    for number, together in enumerate(_batches(_cases_beside(suspect))):
        jobs = [
            Job(
                name,
                None,
                tuple(encode_on(name, case, suspect.subject) for case in together),
                fresh=True,
                most_hangs=1,
                perturb=_FILLS[number % len(_FILLS)],
            )
            for name in suspect.others
        ]
        answers = yield jobs
        for job, outcomes in zip(jobs, answers, strict=True):
            for case, outcome in zip(together, outcomes, strict=False):
                shows = _shows(suspect, case, {job.target: outcome}, is_exact=False)
                _count_other(suspect, job.target, shows=shows)
        if suspect.is_decided:
            return


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    left = iter(cases)
    while together := list(islice(left, TOGETHER)):
        yield together


def _cases_beside(suspect: Suspect) -> list[Case]:
    """Return other cases of the bucket, then calls near the first that was met and the final."""
    case = suspect.finding.case
    most = _NEIGHBOURS_OF_DEATHS if traits_of(suspect.finding.oracle).is_death else _NEIGHBOURS
    found = [other for other in suspect.cases if other != case][:most]
    if suspect.is_of_tried_cause:
        most = len(found) + _FURTHER_NEIGHBOURS
    starts = [*found[:1], case]
    share = (most - len(found)) // len(starts)
    for start in starts:
        found += neighbours(start, share, seed=case.seed)
    return found


def _shows(
    suspect: Suspect, case: Case, outcomes: Mapping[str, Outcome], *, is_exact: bool
) -> bool:
    found = judge(case, outcomes, suspect.subject)
    return bool(_matching(suspect, found, is_exact=is_exact))


def _matching(
    suspect: Suspect, found: Iterable[Finding], *, is_exact: bool = True
) -> list[Finding]:
    """Return the findings of the suspect's bucket, and of its symptom unless exact."""
    finding = suspect.finding
    return [
        other
        for other in found
        if fingerprint(other).key == suspect.key
        or (finding.oracle == other.oracle and traits_of(finding.oracle).takes_limit)
        or (not is_exact and same_symptom(finding, other))
    ]
