"""Which candidates are repeated at a time, and the time that is expected for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, call
from campaign_examples import finding as found

from ciguard.domain.outcomes import Crashed, Hung, Passed
from ciguard.execution import Job, JobResult, Priority
from ciguard.oracles import HANG, SLOW, Identity, Subject
from ciguard.triage import Confirmer
from ciguard.triage.candidates import Candidate
from ciguard.triage.hang_limits import durations_s, hang_limit_s

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher

LIMIT_S = 4.0
CRASHED = Crashed("SIGSEGV", (), "")


class Queueing:
    """A dispatcher that starts no job."""

    lanes = 3

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.priorities: list[Priority] = []

    def add(self, job: Job, priority: Priority) -> None:
        self.jobs.append(job)
        self.priorities.append(priority)


def subject_of(finding: Finding) -> Subject:
    identity = Identity(request=ONE, packages=(), version="1", device="cpu")
    return Subject(library="planted", api=finding.api, targets={ONE: identity})


def confirmer_on(dispatcher: Queueing) -> Confirmer:
    return Confirmer(cast("Dispatcher", dispatcher), repetitions=3, subject_of=subject_of)


def hang(kind: str = HANG, outcome: Outcome | None = None) -> Finding:
    return replace(found(outcome or Hung(LIMIT_S, ())), oracle=HANG, kind=kind)


def test_one_hang_is_repeated_at_a_time_while_others_explore() -> None:
    queueing = Queueing()
    confirmer = confirmer_on(queueing)
    for number in range(10):
        confirmer.propose(f"hang {number}", hang())
        confirmer.propose(f"crash {number}", found(CRASHED))

    confirmer.pump(is_patient=True)
    assert queueing.priorities == [*[Priority.URGENT] * 5, Priority.LONG]
    assert [job.limit_s for job in queueing.jobs] == [0.0] * 5 + [3 * LIMIT_S]

    confirmer.pump()
    assert queueing.priorities[6:] == [Priority.LONG] * 2
    assert [job.limit_s for job in queueing.jobs[6:]] == [10 * LIMIT_S] * 2


def test_hangs_get_a_bounded_share_of_the_time_while_others_explore() -> None:
    queueing = Queueing()
    confirmer = confirmer_on(queueing)
    for number in range(2):
        confirmer.propose(f"hang {number}", hang())

    for _ in range(3):  # repetitions of the first one
        confirmer.pump(is_patient=True)
        (job,) = queueing.jobs
        queueing.jobs = []
        confirmer.take(JobResult(job, (Hung(job.limit_s, ()),), elapsed_s=job.limit_s))
    confirmer.pump(is_patient=True)
    assert not queueing.jobs

    confirmer.pump()
    assert len(queueing.jobs) == 1


def test_hangs_that_wait_share_the_remaining_time() -> None:
    queueing = Queueing()
    confirmer = Confirmer(
        cast("Dispatcher", queueing),
        repetitions=3,
        subject_of=subject_of,
        time_left=lambda: 8 * 5 * 20.0,
    )
    for number in range(5):
        confirmer.propose(f"hang {number}", hang())

    confirmer.pump()

    assert {job.limit_s for job in queueing.jobs} == {20.0}


def test_expected_time_follows_the_time_of_the_settled_candidates() -> None:
    queueing = Queueing()
    confirmer = confirmer_on(queueing)
    for number in range(20):
        confirmer.propose(f"crash {number}", found(CRASHED, case=call(f"f{number}")))
    assert confirmer.needed_s == pytest.approx(20 * 0.5 / 3)

    for _ in range(6):  # three repetitions of two times five candidates
        confirmer.pump()
        jobs, queueing.jobs = queueing.jobs, []
        for job in jobs:
            confirmer.take(JobResult(job, (CRASHED,), elapsed_s=0.25))

    assert confirmer.needed_s == pytest.approx(10 * 3 * 0.25 / 3)


def test_expected_time_of_hangs_is_at_least_that_of_one_hang() -> None:
    confirmer = confirmer_on(Queueing())
    confirmer.propose("hang", hang())
    one_s = confirmer.needed_s
    for number in range(5):
        confirmer.propose(f"hang {number}", hang())

    assert one_s == pytest.approx(3 * LIMIT_S + 2 * LIMIT_S / 2)
    assert confirmer.needed_s == pytest.approx(6 * one_s / 3)
    assert confirmer.has_only_hangs
    assert confirmer.needed_besides_hangs_s == 0.0


@pytest.mark.parametrize(
    ("repeated", "limit_s", "duration_s"),
    [
        ([], 20.0, 16.0),
        ([hang()], 2.0, 4.0),
        ([hang(SLOW, Passed(b"", 7.0))], 14.0, 4.0),
        ([hang(), hang()], 2.0, 2.0),
    ],
    ids=["first", "hangs", "slow", "last"],
)
def test_timeouts_of_the_repetitions_of_a_hang(
    repeated: list[Finding], limit_s: float, duration_s: float
) -> None:
    candidate = Candidate("key", hang(), findings=repeated)

    assert hang_limit_s(candidate, time_left_s=160.0) == limit_s
    assert durations_s([candidate], 3, lanes=3) == duration_s
