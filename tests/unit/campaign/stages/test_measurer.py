"""The measurer with a fake dispatcher; real workers are in tests/process."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from baseline_examples import record
from campaign_examples import ONE, TWO, call, group, member
from measuring_examples import FAST, SCREENING, SLOW, FakeDispatcher

from ciguard.campaign.stages.measuring import Measurer
from ciguard.campaign.stages.suspects import SuspectCall
from ciguard.domain.findings import Confirmation
from ciguard.domain.values import TensorValue, Uniform
from ciguard.execution import Quantity
from ciguard.oracles import rounds_for

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.baseline import BaselineRecord
    from ciguard.domain.api_calls import ApiCall
    from ciguard.execution import Dispatcher
    from ciguard.triage import ConfirmationResult

API = "planted.double"
JOBS_AT_MOST = 200


def measurer(
    dispatcher: FakeDispatcher, *, known: Collection[str] = (), explored: ApiCall | None = None
) -> Measurer:
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    running = Measurer(cast("Dispatcher", dispatcher), groups, known=known)
    case = explored or call("double")
    running.propose((), [SuspectCall("planted", case, (ONE, TWO), (1e-4, 3e-4))])
    return running


def of_elements(count: int) -> ApiCall:
    tensor = TensorValue("float32", (count,), Uniform(1, 0.0, 1.0))
    return replace(call("double"), arguments=(tensor,))


def played(
    running: Measurer, dispatcher: FakeDispatcher, *, jobs: int = JOBS_AT_MOST
) -> list[ConfirmationResult]:
    settled: list[ConfirmationResult] = []
    running.pump()
    while dispatcher.jobs and len(dispatcher.done) < jobs:
        assert len(dispatcher.jobs) == 1, "two jobs at once disturb each other"
        settled += running.take(dispatcher.answer())
    return settled


def slow(target: str, quantity: str, _session: int) -> float:
    return SLOW if (target, quantity) == (TWO, "time") else FAST if quantity == "time" else 0.0


def equal(_target: str, quantity: str, _session: int) -> float:
    return FAST if quantity == "time" else 0.0


def test_a_finding_of_two_measurements_is_confirmed() -> None:
    dispatcher = FakeDispatcher(slow)
    running = measurer(dispatcher)

    (settled,) = played(running, dispatcher)

    assert settled.confirmation is Confirmation.CONFIRMED
    assert (settled.finding.kind, settled.finding.targets) == ("slower", (ONE, TWO))
    assert running.is_idle


def test_both_measurements_alternate_targets_in_fresh_workers() -> None:
    dispatcher = FakeDispatcher(slow)

    played(measurer(dispatcher), dispatcher)

    first, *turns = [job.target for job in dispatcher.done]
    assert first == ONE
    assert all(set(turns[at : at + 2]) == {ONE, TWO} for at in range(0, len(turns), 2))
    sessions = [job.session for job in dispatcher.done]
    assert min(sessions) > 0
    assert sessions == sorted(sessions)
    assert len(set(sessions)) > 4


def test_a_finding_of_the_first_measurement_alone_is_flaky() -> None:
    dispatcher = FakeDispatcher(slow)
    running = measurer(dispatcher)
    until_confirmed = played(running, dispatcher, jobs=SCREENING + 2 * rounds_for(len(Quantity)))

    dispatcher.value = equal
    (settled,) = played(running, dispatcher)

    assert until_confirmed == []
    assert settled.confirmation is Confirmation.FLAKY


def test_a_known_bucket_needs_one_measurement() -> None:
    first, again = FakeDispatcher(slow), FakeDispatcher(slow)
    (unknown,) = played(measurer(first), first)

    (known,) = played(measurer(again, known={unknown.key}), again)

    assert known.key == unknown.key
    assert known.confirmation is Confirmation.CONFIRMED
    assert len(again.done) < len(first.done)


@pytest.mark.parametrize(
    ("quantity", "amount", "kind"),
    [("peak", 2.0**23, "more memory"), ("growth", 4096.0, "leak")],
)
def test_peak_memory_is_measured(quantity: str, amount: float, kind: str) -> None:
    def greedy(target: str, asked: str, _session: int) -> float:
        return amount if (target, asked) == (TWO, quantity) else FAST if asked == "time" else 0.0

    dispatcher = FakeDispatcher(greedy)

    (settled,) = played(measurer(dispatcher), dispatcher)

    assert (settled.finding.kind, settled.confirmation) == (kind, Confirmation.CONFIRMED)


def test_time_is_measured_with_enlarged_inputs_and_leaks_with_original_ones() -> None:
    dispatcher = FakeDispatcher(lambda *asked: slow(*asked) / 10)
    running = measurer(dispatcher, explored=of_elements(4))

    (settled,) = played(running, dispatcher)

    assert settled.finding.case == of_elements(2**16)
    climbed = [2**9, 2**12, 2**16]
    first = next(job for job in dispatcher.done if len(job.cases) > 1)
    assert dispatcher.done.index(first) == 1 + len(climbed)
    asked = {quantity: case for (quantity, *_), case in map(json.loads, first.cases)}
    sizes = {quantity: case[2][0][2] for quantity, case in asked.items()}
    assert sizes == {"time": [2**16], "peak": [2**16], "growth": [4]}


def test_a_call_is_repeated_as_often_as_the_slower_target_allows() -> None:
    dispatcher = FakeDispatcher(lambda *asked: slow(*asked) * (100 if asked[0] == TWO else 1))

    played(measurer(dispatcher), dispatcher)

    (quantity, calls, _), _ = json.loads(dispatcher.done[-1].cases[0])
    assert (quantity, calls) == ("time", 1)


def test_a_crash_does_not_affect_suspects_measured_together() -> None:
    fragile = "planted.fragile"
    dispatcher = FakeDispatcher(slow, deadly=fragile)
    groups = {"planted": group(member(ONE, API, fragile), member(TWO, API, fragile))}
    running = Measurer(cast("Dispatcher", dispatcher), groups, known=())
    calls = (call("fragile"), call("double"))
    running.propose((), [SuspectCall("planted", case, (ONE, TWO), (1e-4, 3e-4)) for case in calls])

    settled = played(running, dispatcher)

    assert [(result.finding.api, result.confirmation) for result in settled] == [
        (API, Confirmation.CONFIRMED)
    ]
    assert max(len(job.cases) for job in dispatcher.done[SCREENING:]) == 2


def test_equal_targets_are_only_screened() -> None:
    dispatcher = FakeDispatcher(equal)

    assert played(measurer(dispatcher), dispatcher) == []
    assert len(dispatcher.done) == SCREENING


def test_a_crashing_call_is_not_measured() -> None:
    dispatcher = FakeDispatcher(slow, dies=True)
    running = measurer(dispatcher)

    assert played(running, dispatcher) == []
    assert running.is_idle


def test_a_finding_whose_second_measurement_does_not_end_is_pending() -> None:
    dispatcher = FakeDispatcher(slow)
    running = measurer(dispatcher)
    played(running, dispatcher, jobs=60)

    (pending,) = running.abandon()

    assert pending.confirmation is Confirmation.PENDING
    assert running.is_idle


def test_a_failed_target_ends_its_measurements() -> None:
    dispatcher = FakeDispatcher(slow)
    running = measurer(dispatcher)
    played(running, dispatcher, jobs=3)

    for_another, was_idle = running.abandon("another"), running.is_idle
    for_two = running.abandon(TWO)

    assert (for_another, was_idle) == ([], False)
    assert (for_two, running.is_idle) == ([], True)
    assert running.take(dispatcher.answer()) == []


def stored(kind: str) -> BaselineRecord:
    plain = record()
    exhibit = replace(
        plain.representative,
        oracle="performance",
        kind=kind,
        library="planted",
        api=API,
        case=call("double"),
    )
    return replace(plain, representative=exhibit, targets=(ONE, TWO))


@pytest.mark.parametrize(
    ("kind", "dies_after", "is_measured"),
    [("slower", JOBS_AT_MOST, True), ("slower", 1, False), ("stalls", JOBS_AT_MOST, False)],
)
def test_only_records_with_complete_measurements_count_as_measured(
    kind: str, dies_after: int, *, is_measured: bool
) -> None:
    dispatcher = FakeDispatcher(lambda *_: FAST)
    running = Measurer(
        cast("Dispatcher", dispatcher),
        {"planted": group(member(ONE, API), member(TWO, API))},
        known=(),
    )
    known = stored(kind)
    running.propose([known], ())

    running.pump()
    while dispatcher.jobs:
        dispatcher.dies = len(dispatcher.done) >= dies_after
        running.take(dispatcher.answer())

    assert (known.fingerprint in running.measured) == is_measured
    assert running.is_idle
