"""The trial of what one side of a change has shown, played with outcomes that are given."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO, bucket, call, crash, difference, finding, group, member

from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.trial import REPETITIONS, SuspectBucket, trial
from ciguard.domain.case import case_from_json
from ciguard.domain.outcomes import Crashed, Frame, Hung, Outcome, Passed
from ciguard.execution import Job, JobResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.attribution import Attribution
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding

    World = Callable[[Job, Case], Outcome]
    """What a call comes to on a target."""

API = "planted.fragile"
DEAD = Crashed("SIGSEGV", (Frame("planted/__init__.py", "fragile"),), "")
FINE = Passed(b'["i","1"]', 0.1)


class Desk:
    """Stands where the dispatcher does: answers jobs as a world says."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.jobs: list[Job] = []

    def add(self, job: Job, *, urgent: bool) -> None:
        assert urgent
        self.jobs.append(job)

    def result(self) -> JobResult:
        job = self.jobs.pop(0)
        outcomes = tuple(self.world(job, case_from_json(json.loads(one))) for one in job.cases)
        return JobResult(job, outcomes, 0.1)


def tried(met: Finding, world: World, *cases: Case) -> tuple[Attribution, tuple[str, ...]]:
    """Let a finding be tried with ONE as the base and TWO as the head."""
    desk = Desk(world)
    attributor = Attributor(desk, {"planted": group(member(ONE, met.api), member(TWO, met.api))})  # type: ignore[arg-type]
    assert attributor.propose(bucket(met), cases, {ONE}) is not None
    settled = []
    attributor.pump()
    while desk.jobs:
        settled += attributor.take(desk.result())
    assert attributor.is_idle
    (attributed,) = settled
    return attributed.attribution, attributed.shown_on


def new(argument: int = -1) -> Finding:
    return crash(argument=argument, target=TWO)


def test_what_only_the_head_shows_is_tried_by_two_hundred_calls_on_the_base() -> None:
    counted, shown_on = tried(new(), lambda job, _: DEAD if job.target == TWO else FINE)

    assert shown_on == ()
    assert (counted.head_shown, counted.head_tried) == (REPETITIONS, REPETITIONS)
    assert counted.base_shown == 0
    assert counted.base_tried == REPETITIONS + 200
    assert not counted.is_flaky


def test_one_death_of_the_base_ends_the_trial() -> None:
    counted, shown_on = tried(
        new(), lambda job, _: DEAD if job.perturb or job.target == TWO else FINE
    )

    assert shown_on == (ONE,)
    assert counted.base_shown == 1
    assert counted.base_tried < REPETITIONS


def test_memory_is_filled_and_not_and_each_side_comes_first_in_turn() -> None:
    seen: list[tuple[str, int, bool]] = []

    def note(job: Job, _: Case) -> Outcome:
        if len(job.cases) == 1:
            seen.append((job.target, job.perturb, job.fresh))
        return DEAD if job.target == TWO else FINE

    tried(new(), note)

    repeated = seen[: 2 * REPETITIONS]
    assert all(fresh for _, _, fresh in repeated)
    for name in (ONE, TWO):
        fills = [perturb for target, perturb, _ in repeated if target == name]
        assert len(fills) == REPETITIONS
        assert 0 in fills
        assert len(set(fills)) > REPETITIONS // 2
    assert {target for target, _, _ in repeated[::2]} == {ONE, TWO}


@pytest.mark.parametrize("survives_at", range(REPETITIONS))
def test_a_head_that_survives_once_is_flaky(survives_at: int) -> None:
    runs = iter(range(1000))

    def at_times(job: Job, _: Case) -> Outcome:
        if job.target == TWO:
            return FINE if next(runs) == survives_at else DEAD
        return FINE

    counted, _ = tried(new(), at_times)

    assert counted.is_flaky
    assert counted.head_tried == survives_at + 1


def test_another_case_of_the_bucket_acquits_the_head() -> None:
    other = call("fragile", -99)

    def world(job: Job, case: Case) -> Outcome:
        return DEAD if job.target == TWO or case == other else FINE

    counted, shown_on = tried(new(), world, other)

    assert shown_on == (ONE,)
    assert counted.base_shown == 1


def test_the_same_symptom_by_another_way_acquits_the_head() -> None:
    elsewhere = replace(DEAD, stack=(Frame("planted/other.py", "elsewhere"),))

    _, shown_on = tried(new(), lambda job, _: DEAD if job.target == TWO else elsewhere)

    assert shown_on == (ONE,)


def test_another_death_acquits_nobody() -> None:
    other = Crashed("SIGFPE", (), "")

    _, shown_on = tried(new(), lambda job, _: DEAD if job.target == TWO else other)

    assert shown_on == ()


def test_what_only_the_base_shows_is_fixed_when_no_call_shows_it_on_the_head() -> None:
    counted, shown_on = tried(crash(), lambda job, _: DEAD if job.target == ONE else FINE)

    assert shown_on == ()
    assert counted.words == f"head 0 of {REPETITIONS + 200}, base 6 of 6"


def test_fewer_calls_near_it_are_tried_once_those_of_its_cause_have_shown_nothing() -> None:
    desk = Desk(lambda job, _: DEAD if job.target == TWO else FINE)
    apis = [f"planted.fragile{number}" for number in range(3)]
    names = [*apis, "planted.apart"]
    attributor = Attributor(desk, {"planted": group(member(ONE, *names), member(TWO, *names))})  # type: ignore[arg-type]
    checks = dict.fromkeys(apis, "shape.cc Check failed: size > 0") | {
        names[-1]: "shape.cc Check failed: 0"
    }
    settled = []

    for api in names:
        met = replace(new(), api=api, case=replace(call(), api=api))
        proposed = bucket(met, grouping=(("message", checks[api]),))
        other = replace(call("fragile", -99), api=api)
        assert attributor.propose(proposed, [other], {ONE}) is not None
        attributor.pump()
        while desk.jobs:
            settled += attributor.take(desk.result())

    own, near = REPETITIONS + 1, 2 * 99  # of each of its two cases
    tried_on_base = [one.attribution.base_tried for one in settled]
    assert tried_on_base == [own + near, own + 16, own + 16, own + near]


def test_a_cause_that_was_tried_on_one_side_is_tried_on_the_other_all_the_same() -> None:
    desk = Desk(lambda job, case: DEAD if (job.target == TWO) == is_new(case) else FINE)
    names = ["planted.fragile0", "planted.fragile1"]
    attributor = Attributor(desk, {"planted": group(member(ONE, *names), member(TWO, *names))})  # type: ignore[arg-type]
    settled = []

    def is_new(case: Case) -> bool:
        return case.api == names[0]

    for api, target in zip(names, (TWO, ONE), strict=True):
        met = replace(crash(argument=-1, target=target), api=api, case=replace(call(), api=api))
        same = bucket(met, grouping=(("message", "shape.cc Check failed: size > 0"),))
        assert attributor.propose(same, (), {ONE}) is not None
        attributor.pump()
        while desk.jobs:
            settled += attributor.take(desk.result())

    assert [one.attribution.words for one in settled] == [
        f"head 6 of 6, base 0 of {REPETITIONS + 200}",
        f"head 0 of {REPETITIONS + 200}, base 6 of 6",
    ]


def test_a_call_beside_it_that_dies_on_the_head_is_no_fix() -> None:
    def world(job: Job, case: Case) -> Outcome:
        return DEAD if job.target == ONE or case != call() else FINE

    _, shown_on = tried(crash(), world)

    assert shown_on == (TWO,)


def test_a_hang_is_waited_for_twice_only_and_half_its_limit() -> None:
    met = replace(finding(Hung(2.0), case=call(), target=TWO), oracle="hang", kind="hang")
    waits: list[float] = []

    def world(job: Job, _: Case) -> Outcome:
        if job.target == ONE:
            return FINE
        waits.append(job.limit_s)
        return Hung(job.limit_s)

    counted, shown_on = tried(met, world)

    assert shown_on == ()
    assert waits == [1.0, 1.0]
    assert counted.head_shown == 2
    assert counted.base_tried >= REPETITIONS + 50


def test_a_difference_is_repeated_and_has_no_neighbours() -> None:
    met = difference()
    counted, shown_on = tried(met, lambda job, _: met.outcomes[job.target])

    assert shown_on == ()
    assert counted.words == "head 6 of 6, base 0 of 6"


def test_a_difference_that_goes_away_is_flaky() -> None:
    met = difference()

    counted, _ = tried(met, lambda job, _: met.outcomes[ONE if job.perturb == 0x33 else job.target])

    assert counted.is_flaky


def test_orderly_suspects_share_their_workers_and_deaths_do_not() -> None:
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
    ).ends_workers


def test_what_both_sides_showed_or_no_base_can_run_is_not_tried() -> None:
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    attributor = Attributor(Desk(lambda *_: FINE), groups)  # type: ignore[arg-type]
    both = replace(new(), targets=(ONE, TWO))

    assert attributor.propose(bucket(both), (), {ONE}) is None
    assert attributor.propose(bucket(new()), (), set()) is None
    assert attributor.propose(bucket(replace(difference(), targets=(ONE, ONE))), (), {ONE}) is None
    assert attributor.is_idle


def test_what_was_given_up_is_named_and_its_late_results_are_passed_over() -> None:
    desk = Desk(lambda *_: FINE)
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    attributor = Attributor(desk, groups)  # type: ignore[arg-type]
    attributor.propose(bucket(new()), (), {ONE})
    attributor.pump()

    assert attributor.abandon("another target") == []
    assert attributor.abandon(TWO) == [bucket(new()).fingerprint]
    assert attributor.take(desk.result()) == []
    assert attributor.is_idle
