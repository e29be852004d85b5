"""The trial of what one side of a change has shown, played with outcomes that are given."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, bucket, call, crash, difference, finding, group, member

from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.trial import REPETITIONS, SuspectBucket, trial
from ciguard.domain.case import case_from_json
from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Outcome, Passed
from ciguard.execution import Job, JobResult, Priority

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.attribution import Attribution
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher

    World = Callable[[Job, Case], Outcome]
    """Outcome of a call on a target."""

API = "planted.fragile"
DEAD = Crashed("SIGSEGV", (Frame("planted/__init__.py", "fragile"),), "")
FINE = Passed(b'["i","1"]', 0.1)


class FakeDispatcher:
    """A dispatcher that answers jobs with outcomes of a given function."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.jobs: list[Job] = []

    def add(self, job: Job, priority: Priority) -> None:
        assert priority is Priority.URGENT
        self.jobs.append(job)

    def result(self) -> JobResult:
        job = self.jobs.pop(0)
        outcomes = tuple(self.world(job, case_from_json(json.loads(one))) for one in job.cases)
        return JobResult(job, outcomes, 0.1)


def attributed(finding: Finding, world: World, *cases: Case) -> tuple[Attribution, tuple[str, ...]]:
    """Let a finding be tried with ONE as the base and TWO as the head."""
    dispatcher = FakeDispatcher(world)
    attributor = Attributor(
        cast("Dispatcher", dispatcher),
        {"planted": group(member(ONE, finding.api), member(TWO, finding.api))},
    )
    assert attributor.propose(bucket(finding), cases, {ONE}) is not None
    settled = []
    attributor.pump()
    while dispatcher.jobs:
        settled += attributor.take(dispatcher.result())
    assert attributor.is_idle
    (attributed,) = settled
    return attributed.attribution, attributed.shown_on


def new(argument: int = -1) -> Finding:
    return crash(argument=argument, target=TWO)


def test_a_crash_of_the_head_is_tested_by_two_hundred_calls_on_the_base() -> None:
    counted, shown_on = attributed(new(), lambda job, _: DEAD if job.target == TWO else FINE)

    assert shown_on == ()
    assert (counted.head_shown, counted.head_tried) == (REPETITIONS, REPETITIONS)
    assert counted.base_shown == 0
    assert counted.base_tried == REPETITIONS + 200
    assert not counted.is_flaky


def test_one_crash_of_the_base_ends_the_trial() -> None:
    counted, shown_on = attributed(
        new(), lambda job, _: DEAD if job.perturb or job.target == TWO else FINE
    )

    assert shown_on == (ONE,)
    assert counted.base_shown == 1
    assert counted.base_tried < REPETITIONS


def test_fills_of_memory_and_the_order_of_sides_alternate() -> None:
    seen: list[tuple[str, int, bool]] = []

    def note(job: Job, _: Case) -> Outcome:
        if len(job.cases) == 1:
            seen.append((job.target, job.perturb, job.fresh))
        return DEAD if job.target == TWO else FINE

    attributed(new(), note)

    repeated = seen[: 2 * REPETITIONS]
    assert all(fresh for _, _, fresh in repeated)
    for name in (ONE, TWO):
        fills = [perturb for target, perturb, _ in repeated if target == name]
        assert len(fills) == REPETITIONS
        assert 0 in fills
        assert len(set(fills)) > REPETITIONS // 2
    assert {target for target, _, _ in repeated[::2]} == {ONE, TWO}


@pytest.mark.parametrize("survives_at", range(REPETITIONS))
def test_a_crash_that_the_head_does_not_always_show_is_flaky(survives_at: int) -> None:
    runs = iter(range(1000))

    def at_times(job: Job, _: Case) -> Outcome:
        if job.target == TWO:
            return FINE if next(runs) == survives_at else DEAD
        return FINE

    counted, _ = attributed(new(), at_times)

    assert counted.is_flaky
    assert counted.head_tried == survives_at + 1


def test_another_case_of_the_bucket_on_the_base_makes_it_known() -> None:
    other = call("fragile", -99)

    def world(job: Job, case: Case) -> Outcome:
        return DEAD if job.target == TWO or case == other else FINE

    counted, shown_on = attributed(new(), world, other)

    assert shown_on == (ONE,)
    assert counted.base_shown == 1


def test_the_same_symptom_on_the_base_makes_the_bucket_known() -> None:
    elsewhere = replace(DEAD, stack=(Frame("planted/other.py", "elsewhere"),))

    _, shown_on = attributed(new(), lambda job, _: DEAD if job.target == TWO else elsewhere)

    assert shown_on == (ONE,)


@pytest.mark.parametrize("worse", [DEAD, Hung(5.0)])
def test_an_error_is_not_blamed_on_the_head_where_the_base_crashes_or_hangs(worse: Outcome) -> None:
    failed = Errored("RuntimeError", "INTERNAL ASSERT FAILED at fold.cpp:3")
    error = replace(finding(failed, target=TWO), oracle="internal-error", kind="RuntimeError")

    counted, shown_on = attributed(error, lambda job, _: failed if job.target == TWO else worse)

    assert shown_on == (ONE,)
    assert counted.base_shown == 1


def test_another_crash_on_the_base_leaves_the_bucket_new() -> None:
    other = Crashed("SIGFPE", (), "")

    _, shown_on = attributed(new(), lambda job, _: DEAD if job.target == TWO else other)

    assert shown_on == ()


def test_a_bucket_of_the_base_is_fixed_if_no_call_shows_it_on_the_head() -> None:
    counted, shown_on = attributed(crash(), lambda job, _: DEAD if job.target == ONE else FINE)

    assert shown_on == ()
    assert counted.words == f"head 0 of {REPETITIONS + 200}, base 6 of 6"


def test_fewer_neighbours_run_once_those_of_the_same_cause_showed_nothing() -> None:
    dispatcher = FakeDispatcher(lambda job, _: DEAD if job.target == TWO else FINE)
    apis = [f"planted.fragile{number}" for number in range(3)]
    names = [*apis, "planted.apart"]
    attributor = Attributor(
        cast("Dispatcher", dispatcher), {"planted": group(member(ONE, *names), member(TWO, *names))}
    )
    checks = dict.fromkeys(apis, "shape.cc Check failed: size > 0") | {
        names[-1]: "shape.cc Check failed: 0"
    }
    settled = []

    for api in names:
        finding = replace(new(), api=api, case=replace(call(), api=api))
        proposed = bucket(finding, grouping=(("message", checks[api]),))
        other = replace(call("fragile", -99), api=api)
        assert attributor.propose(proposed, [other], {ONE}) is not None
        attributor.pump()
        while dispatcher.jobs:
            settled += attributor.take(dispatcher.result())

    own, near = REPETITIONS + 1, 2 * 99  # of each of its two cases
    tried_on_base = [one.attribution.base_tried for one in settled]
    assert tried_on_base == [own + near, own + 16, own + 16, own + near]


def test_a_cause_tested_on_one_side_is_tested_fully_on_the_other() -> None:
    dispatcher = FakeDispatcher(
        lambda job, case: DEAD if (job.target == TWO) == is_new(case) else FINE
    )
    names = ["planted.fragile0", "planted.fragile1"]
    attributor = Attributor(
        cast("Dispatcher", dispatcher), {"planted": group(member(ONE, *names), member(TWO, *names))}
    )
    settled = []

    def is_new(case: Case) -> bool:
        return case.api == names[0]

    for api, target in zip(names, (TWO, ONE), strict=True):
        finding = replace(crash(argument=-1, target=target), api=api, case=replace(call(), api=api))
        same = bucket(finding, grouping=(("message", "shape.cc Check failed: size > 0"),))
        assert attributor.propose(same, (), {ONE}) is not None
        attributor.pump()
        while dispatcher.jobs:
            settled += attributor.take(dispatcher.result())

    assert [one.attribution.words for one in settled] == [
        f"head 6 of 6, base 0 of {REPETITIONS + 200}",
        f"head 0 of {REPETITIONS + 200}, base 6 of 6",
    ]


def test_a_neighbour_that_crashes_on_the_head_is_no_fix() -> None:
    def world(job: Job, case: Case) -> Outcome:
        return DEAD if job.target == ONE or case != call() else FINE

    _, shown_on = attributed(crash(), world)

    assert shown_on == (TWO,)


def test_a_hang_runs_twice_with_half_its_timeout() -> None:
    hang = replace(finding(Hung(2.0), case=call(), target=TWO), oracle="hang", kind="hang")
    waits: list[float] = []

    def world(job: Job, _: Case) -> Outcome:
        if job.target == ONE:
            return FINE
        waits.append(job.limit_s)
        return Hung(job.limit_s)

    counted, shown_on = attributed(hang, world)

    assert shown_on == ()
    assert waits == [1.0, 1.0]
    assert counted.head_shown == 2
    assert counted.base_tried >= REPETITIONS + 50


def test_a_difference_is_repeated_and_has_no_neighbours() -> None:
    finding = difference()
    counted, shown_on = attributed(finding, lambda job, _: finding.outcomes[job.target])

    assert shown_on == ()
    assert counted.words == "head 6 of 6, base 0 of 6"


def test_a_difference_that_disappears_is_flaky() -> None:
    finding = difference()

    counted, _ = attributed(
        finding, lambda job, _: finding.outcomes[ONE if job.perturb == 0x33 else job.target]
    )

    assert counted.is_flaky


def test_suspects_share_workers_unless_they_crash() -> None:
    subject = group(member(ONE, "planted.cube"), member(TWO, "planted.cube"))
    suspects = [
        SuspectBucket(
            key=str(number),
            finding=difference(),
            subject=subject.subject("planted.cube"),
            suspect_targets=(TWO,),
            other_targets=(ONE,),
            is_of_head=True,
        )
        for number in range(3)
    ]

    first, second = next(trial(suspects))

    assert len(first.cases) == len(second.cases) == 3
    assert SuspectBucket(
        key="",
        finding=new(),
        subject=subject.subject(API),
        suspect_targets=(TWO,),
        other_targets=(ONE,),
        is_of_head=True,
    ).loses_worker


def test_a_bucket_of_both_sides_or_without_a_base_is_not_tested() -> None:
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    attributor = Attributor(FakeDispatcher(lambda *_: FINE), groups)  # type: ignore[arg-type]
    both = replace(new(), targets=(ONE, TWO))

    assert attributor.propose(bucket(both), (), {ONE}) is None
    assert attributor.propose(bucket(new()), (), set()) is None
    assert attributor.propose(bucket(replace(difference(), targets=(ONE, ONE))), (), {ONE}) is None
    assert attributor.is_idle


def test_abandoned_buckets_are_returned_and_their_late_results_ignored() -> None:
    dispatcher = FakeDispatcher(lambda *_: FINE)
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    attributor = Attributor(dispatcher, groups)  # type: ignore[arg-type]
    attributor.propose(bucket(new()), (), {ONE})
    attributor.pump()

    assert attributor.abandon("another target") == []
    assert attributor.abandon(TWO) == [bucket(new()).fingerprint]
    assert attributor.take(dispatcher.result()) == []
    assert attributor.is_idle


def test_a_difference_that_fails_no_check_is_repeated_less() -> None:
    finding = replace(difference(), severity=Severity.LOW)
    counted, shown_on = attributed(finding, lambda job, _: finding.outcomes[job.target])

    assert shown_on == ()
    assert counted.words == "head 3 of 3, base 0 of 3"


def test_differences_share_workers() -> None:
    dispatcher = FakeDispatcher(lambda *_: FINE)
    names = [f"planted.fragile{number}" for number in range(50)]
    attributor = Attributor(
        cast("Dispatcher", dispatcher), {"planted": group(member(ONE, *names), member(TWO, *names))}
    )
    for name in names:
        finding = replace(difference(), api=name, case=replace(call(), api=name))
        assert attributor.propose(bucket(finding), (), {ONE}) is not None

    attributor.pump()

    assert [len(job.cases) for job in dispatcher.jobs] == [48, 48, 2, 2]
