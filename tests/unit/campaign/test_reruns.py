from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, call, group, member

from ciguard.campaign.observing import KEY as OBSERVE
from ciguard.campaign.reruns import MAX_ATTEMPTS, Reruns
from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import LiteralValue
from ciguard.execution import Job, JobResult
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from ciguard.execution import Dispatcher

API = "planted.fragile"
THREE = "current[planted] PLANTED_VERSION=3.0"


@dataclass
class FakeDispatcher:
    """A dispatcher that stores jobs, and returns invalidated ones."""

    jobs: list[Job] = field(default_factory=list)
    invalidated: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def take_invalidated(self) -> list[Job]:
        taken, self.invalidated = self.invalidated, []
        return taken


def invalid_job(target: str = ONE, argument: int = -1) -> Job:
    return Job(target, ("explore", "api", 1), (encode(call("fragile", argument)),))


def reruns(
    dispatcher: FakeDispatcher, modes: dict[str, str] | None = None
) -> tuple[Reruns, list[Job]]:
    members = [member(name, API) for name in (ONE, TWO, THREE)]
    for item in members:
        item.identity = replace(item.identity, mode=(modes or {}).get(item.name, "eager"))
    notified: list[Job] = []
    groups = {"planted": group(*members)}
    return Reruns(cast("Dispatcher", dispatcher), groups, on_invalidated=notified.append), notified


def test_an_invalidated_job_runs_again_on_its_target_and_the_eager_ones() -> None:
    dispatcher = FakeDispatcher(invalidated=[invalid_job(ONE)])
    queue, notified = reruns(dispatcher, {TWO: "compile", THREE: "eager"})

    list(queue.pump())

    assert [job.target for job in dispatcher.jobs] == [ONE, THREE]
    assert all(job.is_careful for job in dispatcher.jobs)
    assert notified == [invalid_job(ONE)]


def test_reruns_use_the_original_cases_of_the_level() -> None:
    lowered, tested = call("fragile", -1), call("fragile", -2)
    job = Job(ONE, ("explore", "steps", 1), (encode(lowered),), tested=(tested,))
    dispatcher = FakeDispatcher(invalidated=[job])
    queue, _ = reruns(dispatcher)
    list(queue.pump())

    assert {rerun.cases for rerun in dispatcher.jobs} == {job.cases}
    passed = (Passed(b'["i","1"]', 0.1),)
    ran = [
        batch for rerun in dispatcher.jobs for batch in queue.take(JobResult(rerun, passed, 0.1))
    ]
    ((_, executed),) = ran
    assert executed.cases == (tested,)


def test_an_invalidated_job_of_a_mode_runs_again_in_that_mode() -> None:
    dispatcher = FakeDispatcher(invalidated=[invalid_job(TWO)])
    queue, _ = reruns(dispatcher, {TWO: "compile", THREE: "trace"})

    list(queue.pump())

    assert [job.target for job in dispatcher.jobs] == [ONE, TWO]


def invalidate_repeatedly(queue: Reruns, dispatcher: FakeDispatcher, *bad: int) -> list[int]:
    """Invalidate jobs with one of the arguments until they are given up; return the others."""
    judged: list[int] = []
    corrupting = {encode(call("fragile", argument)) for argument in bad}
    for _ in range(MAX_ATTEMPTS + 1):
        list(queue.pump())
        jobs, dispatcher.jobs = dispatcher.jobs, []
        for job in jobs:
            if job.target == ONE and corrupting & {*job.cases}:
                dispatcher.invalidated.append(job)
                continue
            passed = (Passed(b'["i","1"]', 0.1),) * len(job.cases)
            for _, executed in queue.take(JobResult(job, passed, 0.1)):
                for case in map(as_call, executed.cases):
                    (argument,) = case.arguments
                    assert isinstance(argument, LiteralValue)
                    judged.append(cast("int", argument.value))
    list(queue.pump())
    return judged


def test_a_case_that_is_invalid_alone_is_given_up_and_others_of_its_job_are_judged() -> None:
    arguments = range(6)
    cases = tuple(encode(call("fragile", argument)) for argument in arguments)
    dispatcher = FakeDispatcher(invalidated=[Job(ONE, ("explore", "api", 1), cases)])
    queue, _ = reruns(dispatcher)

    judged = invalidate_repeatedly(queue, dispatcher, 2)

    assert sorted(judged) == [0, 1, 3, 4, 5]
    assert queue.is_settled
    assert queue.unsettled() == {}
    assert API in [*queue.totals()][-1].message


@pytest.mark.parametrize(("count", "unsettled"), [(8, {}), (9, {ONE: 9})])
def test_many_given_up_cases_are_reported(count: int, unsettled: dict[str, int]) -> None:
    dispatcher = FakeDispatcher(invalidated=[invalid_job(ONE, n) for n in range(count)])
    queue, _ = reruns(dispatcher)

    invalidate_repeatedly(queue, dispatcher, *range(count))

    assert queue.is_idle
    assert queue.is_settled == (not unsettled)
    assert queue.unsettled() == unsettled


def test_observed_operators_do_not_run_again() -> None:
    dispatcher = FakeDispatcher(invalidated=[replace(invalid_job(), key=(OBSERVE, 3))])
    queue, notified = reruns(dispatcher)

    assert [*queue.pump()] == []
    assert (dispatcher.jobs, notified, queue.unsettled()) == ([], [], {})


def test_reruns_unfinished_at_the_end_of_the_run_are_reported() -> None:
    dispatcher = FakeDispatcher(invalidated=[invalid_job(ONE)])
    queue, _ = reruns(dispatcher)
    list(queue.pump())
    dispatcher.invalidated = [invalid_job(TWO)]

    assert queue.unsettled() == {ONE: 1, TWO: 1}


def test_completed_reruns_leave_nothing_unsettled() -> None:
    dispatcher = FakeDispatcher(invalidated=[invalid_job(ONE)])
    queue, _ = reruns(dispatcher)
    list(queue.pump())

    executed = [
        e for job in dispatcher.jobs for e in queue.take(JobResult(job, (Passed(b"1", 0.1),), 0.1))
    ]

    assert len(executed) == 1
    assert queue.unsettled() == Counter()


@pytest.mark.parametrize("rounds", [1, 5])
def test_each_target_gets_one_warning_and_a_total(rounds: int) -> None:
    dispatcher = FakeDispatcher()
    queue, _ = reruns(dispatcher)

    messages: list[str] = []
    for number in range(rounds):
        dispatcher.invalidated = [invalid_job(ONE, number)]
        messages += [warned.message for warned in queue.pump()]

    assert len(messages) == 1
    assert [warned.message for warned in queue.totals()] == [
        f"{ONE}: {rounds} results were invalidated in total"
    ]
