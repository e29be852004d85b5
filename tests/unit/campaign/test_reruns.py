from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, call, group, member

from ciguard.campaign.reruns import MAX_ATTEMPTS, Reruns
from ciguard.domain.outcomes import Passed
from ciguard.execution import Job, JobResult
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from ciguard.execution import Dispatcher

API = "planted.fragile"
THREE = "current[planted] PLANTED_VERSION=3.0"


@dataclass
class Desk:
    """Stands where the dispatcher does: keeps the jobs, and those that are void."""

    jobs: list[Job] = field(default_factory=list)
    void: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def take_invalidated(self) -> list[Job]:
        taken, self.void = self.void, []
        return taken


def void_job(target: str = ONE, argument: int = -1) -> Job:
    return Job(target, ("explore", "api", 1), (encode(call("fragile", argument)),))


def reruns(desk: Desk, modes: dict[str, str] | None = None) -> tuple[Reruns, list[Job]]:
    members = [member(name, API) for name in (ONE, TWO, THREE)]
    for each in members:
        each.identity = replace(each.identity, mode=(modes or {}).get(each.name, "eager"))
    doubted: list[Job] = []
    groups = {"planted": group(*members)}
    return Reruns(cast("Dispatcher", desk), groups, on_invalidated=doubted.append), doubted


def test_void_job_runs_again_on_its_own_target_and_in_no_mode_of_another_stream() -> None:
    desk = Desk(void=[void_job(ONE)])
    again, doubted = reruns(desk, {TWO: "compile", THREE: "eager"})

    list(again.pump())

    assert [job.target for job in desk.jobs] == [ONE, THREE]
    assert all(job.is_careful for job in desk.jobs)
    assert doubted == [void_job(ONE)]


def test_cases_run_again_as_their_level_has_them() -> None:
    lowered, tested = call("fragile", -1), call("fragile", -2)
    job = Job(ONE, ("explore", "steps", 1), (encode(lowered),), tested=(tested,))
    desk = Desk(void=[job])
    again, _ = reruns(desk)
    list(again.pump())

    assert {each.cases for each in desk.jobs} == {job.cases}
    passed = (Passed(b'["i","1"]', 0.1),)
    ran = [item for each in desk.jobs for item in again.take(JobResult(each, passed, 0.1))]
    ((_, executed),) = ran
    assert executed.cases == (tested,)


def test_void_job_of_a_mode_runs_again_in_that_mode() -> None:
    desk = Desk(void=[void_job(TWO)])
    again, _ = reruns(desk, {TWO: "compile", THREE: "trace"})

    list(again.pump())

    assert [job.target for job in desk.jobs] == [ONE, TWO]


def test_job_void_again_and_again_is_given_up_and_reported() -> None:
    desk = Desk(void=[void_job()])
    again, _ = reruns(desk)

    for _ in range(MAX_ATTEMPTS + 1):
        list(again.pump())
        desk.void = [job for job in desk.jobs if job.target == ONE]
        desk.jobs.clear()
    list(again.pump())

    assert again.is_idle
    assert again.unsettled() == {ONE: 1}


def test_redoing_cut_off_by_the_end_of_the_run_is_reported_with_what_became_void_late() -> None:
    desk = Desk(void=[void_job(ONE)])
    again, _ = reruns(desk)
    list(again.pump())
    desk.void = [void_job(TWO)]

    assert again.unsettled() == {ONE: 1, TWO: 1}


def test_redoing_that_completed_leaves_nothing_unsettled() -> None:
    desk = Desk(void=[void_job(ONE)])
    again, _ = reruns(desk)
    list(again.pump())

    executed = [
        e for job in desk.jobs for e in again.take(JobResult(job, (Passed(b"1", 0.1),), 0.1))
    ]

    assert len(executed) == 1
    assert again.unsettled() == Counter()


@pytest.mark.parametrize("turns", [1, 5])
def test_each_target_is_warned_of_once_and_the_end_has_the_total(turns: int) -> None:
    desk = Desk()
    again, _ = reruns(desk)

    messages: list[str] = []
    for number in range(turns):
        desk.void = [void_job(ONE, number)]
        messages += [warned.message for warned in again.pump()]

    assert len(messages) == 1
    assert [warned.message for warned in again.totals()] == [
        f"{ONE}: {turns} results were invalidated in total"
    ]
