"""The measurer against a desk that answers as told; real workers are in tests/process."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from baseline_examples import record
from campaign_examples import ONE, TWO, call, group, member

from ciguard.campaign.stages.measuring import Measurer
from ciguard.campaign.stages.suspects import SuspectCall
from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Crashed, Outcome, Passed
from ciguard.domain.values import TensorValue, Uniform
from ciguard.execution import Job, JobResult, Measured, Quantity
from ciguard.oracles import rounds_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ciguard.baseline import BaselineRecord
    from ciguard.domain.api_calls import ApiCall
    from ciguard.execution import Dispatcher
    from ciguard.triage import Settled

API = "planted.double"
FAST, SLOW = 100e3, 300e3
JOBS_AT_MOST = 200
SCREENING = 7
"""Jobs: how long the call takes, then three rounds on two targets."""


@dataclass
class Desk:
    """Stands where the dispatcher does and answers each request by `value`."""

    value: Callable[[str, str, int], float]
    """Given the target, the quantity and the session."""
    jobs: deque[Job] = field(default_factory=deque)
    done: list[Job] = field(default_factory=list)
    dies: bool = False
    deadly: str = ""
    """Dies once it is measured thoroughly."""

    def add(self, job: Job) -> None:
        self.jobs.append(job)

    def answer(self) -> JobResult:
        job = self.jobs.popleft()
        self.done.append(job)
        return JobResult(job, tuple(self._outcome(job, request) for request in job.cases), 0.1)

    def _outcome(self, job: Job, request: bytes) -> Outcome:
        (quantity, *plan), case = json.loads(request)
        if self.dies or (case[0] == self.deadly and len(self.done) > SCREENING):
            return Crashed("SIGSEGV")
        value = self.value(job.target, quantity, job.session)
        values = (value,)
        if quantity == "growth":
            values = tuple(1e8 + at * plan[0] * value for at in range(plan[1]))
        calls = plan[0] if plan else 1
        measured = Measured(quantity=Quantity(quantity), values=values, calls=calls)
        return Passed(measured.encoded(), 1e-3)


def measurer(
    desk: Desk, *, known: Collection[str] = (), explored: ApiCall | None = None
) -> Measurer:
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    made = Measurer(cast("Dispatcher", desk), groups, known=known)
    case = explored or call("double")
    made.propose((), [SuspectCall("planted", case, (ONE, TWO), (1e-4, 3e-4))])
    return made


def of_elements(count: int) -> ApiCall:
    tensor = TensorValue("float32", (count,), Uniform(1, 0.0, 1.0))
    return replace(call("double"), arguments=(tensor,))


def played(made: Measurer, desk: Desk, *, jobs: int = JOBS_AT_MOST) -> list[Settled]:
    settled: list[Settled] = []
    made.pump()
    while desk.jobs and len(desk.done) < jobs:
        assert len(desk.jobs) == 1, "two jobs at once disturb each other"
        settled += made.take(desk.answer())
    return settled


def slow(target: str, quantity: str, _session: int) -> float:
    return SLOW if (target, quantity) == (TWO, "time") else FAST if quantity == "time" else 0.0


def equal(_target: str, quantity: str, _session: int) -> float:
    return FAST if quantity == "time" else 0.0


def test_what_two_measurements_show_is_confirmed() -> None:
    desk = Desk(slow)
    made = measurer(desk)

    (settled,) = played(made, desk)

    assert settled.confirmation is Confirmation.CONFIRMED
    assert (settled.finding.kind, settled.finding.targets) == ("slower", (ONE, TWO))
    assert made.is_idle


def test_targets_are_measured_in_turn_in_fresh_workers_both_times() -> None:
    desk = Desk(slow)

    played(measurer(desk), desk)

    first, *turns = [job.target for job in desk.done]
    assert first == ONE
    assert all(set(turns[at : at + 2]) == {ONE, TWO} for at in range(0, len(turns), 2))
    sessions = [job.session for job in desk.done]
    assert min(sessions) > 0
    assert sessions == sorted(sessions)
    assert len(set(sessions)) > 4


def test_what_the_second_measurement_does_not_show_is_flaky() -> None:
    desk = Desk(slow)
    made = measurer(desk)
    until_confirmed = played(made, desk, jobs=SCREENING + 2 * rounds_for(len(Quantity)))

    desk.value = equal
    (settled,) = played(made, desk)

    assert until_confirmed == []
    assert settled.confirmation is Confirmation.FLAKY


def test_what_is_known_needs_one_measurement() -> None:
    first, again = Desk(slow), Desk(slow)
    (unknown,) = played(measurer(first), first)

    (known,) = played(measurer(again, known={unknown.key}), again)

    assert known.key == unknown.key
    assert known.confirmation is Confirmation.CONFIRMED
    assert len(again.done) < len(first.done)


@pytest.mark.parametrize(
    ("quantity", "amount", "kind"),
    [("peak", 2.0**23, "more memory"), ("growth", 4096.0, "leak")],
)
def test_memory_is_measured_too(quantity: str, amount: float, kind: str) -> None:
    def greedy(target: str, asked: str, _session: int) -> float:
        return amount if (target, asked) == (TWO, quantity) else FAST if asked == "time" else 0.0

    desk = Desk(greedy)

    (settled,) = played(measurer(desk), desk)

    assert (settled.finding.kind, settled.confirmation) == (kind, Confirmation.CONFIRMED)


def test_time_is_measured_with_inputs_that_grew_and_leaks_with_those_that_were_explored() -> None:
    desk = Desk(lambda *asked: slow(*asked) / 10)
    made = measurer(desk, explored=of_elements(4))

    (settled,) = played(made, desk)

    assert settled.finding.case == of_elements(2**16)
    climbed = [2**9, 2**12, 2**16]
    first = next(job for job in desk.done if len(job.cases) > 1)
    assert desk.done.index(first) == 1 + len(climbed)
    asked = {quantity: case for (quantity, *_), case in map(json.loads, first.cases)}
    sizes = {quantity: case[2][0][2] for quantity, case in asked.items()}
    assert sizes == {"time": [2**16], "peak": [2**16], "growth": [4]}


def test_a_call_is_repeated_as_often_as_the_slower_target_allows() -> None:
    desk = Desk(lambda *asked: slow(*asked) * (100 if asked[0] == TWO else 1))

    played(measurer(desk), desk)

    (quantity, calls, _), _ = json.loads(desk.done[-1].cases[0])
    assert (quantity, calls) == ("time", 1)


def test_suspects_are_measured_together_and_one_that_dies_takes_none_along() -> None:
    fragile = "planted.fragile"
    desk = Desk(slow, deadly=fragile)
    groups = {"planted": group(member(ONE, API, fragile), member(TWO, API, fragile))}
    made = Measurer(cast("Dispatcher", desk), groups, known=())
    calls = (call("fragile"), call("double"))
    made.propose((), [SuspectCall("planted", one, (ONE, TWO), (1e-4, 3e-4)) for one in calls])

    settled = played(made, desk)

    assert [(one.finding.api, one.confirmation) for one in settled] == [
        (API, Confirmation.CONFIRMED)
    ]
    assert max(len(job.cases) for job in desk.done[SCREENING:]) == 2


def test_equal_targets_are_screened_and_then_left_alone() -> None:
    desk = Desk(equal)

    assert played(measurer(desk), desk) == []
    assert len(desk.done) == SCREENING


def test_a_call_that_dies_is_not_measured() -> None:
    desk = Desk(slow, dies=True)
    made = measurer(desk)

    assert played(made, desk) == []
    assert made.is_idle


def test_a_finding_whose_second_measurement_does_not_end_is_pending() -> None:
    desk = Desk(slow)
    made = measurer(desk)
    played(made, desk, jobs=60)

    (pending,) = made.abandon()

    assert pending.confirmation is Confirmation.PENDING
    assert made.is_idle


def test_a_target_that_fails_ends_what_needs_it() -> None:
    desk = Desk(slow)
    made = measurer(desk)
    played(made, desk, jobs=3)

    for_another, was_idle = made.abandon("another"), made.is_idle
    for_it = made.abandon(TWO)

    assert (for_another, was_idle) == ([], False)
    assert (for_it, made.is_idle) == ([], True)
    assert made.take(desk.answer()) == []


def stored(kind: str) -> BaselineRecord:
    plain = record()
    exhibit = replace(
        plain.exhibit,
        oracle="performance",
        kind=kind,
        library="planted",
        api=API,
        case=call("double"),
    )
    return replace(plain, exhibit=exhibit, targets=(ONE, TWO))


@pytest.mark.parametrize(
    ("kind", "dies_after", "is_measured"),
    [("slower", JOBS_AT_MOST, True), ("slower", 1, False), ("stalls", JOBS_AT_MOST, False)],
)
def test_only_what_came_to_a_verdict_was_measured_again(
    kind: str, dies_after: int, *, is_measured: bool
) -> None:
    desk = Desk(lambda *_: FAST)
    made = Measurer(
        cast("Dispatcher", desk), {"planted": group(member(ONE, API), member(TWO, API))}, known=()
    )
    known = stored(kind)
    made.propose([known], ())

    made.pump()
    while desk.jobs:
        desk.dies = len(desk.done) >= dies_after
        made.take(desk.answer())

    assert (known.fingerprint in made.measured) == is_measured
    assert made.is_idle
