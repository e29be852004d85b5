"""Confirmation of a lost device: the failing call is named, and races are not refuted."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ciguard_planted import device_adapter
from planted_workers import spec_of

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Crashed, Outcome, Passed
from ciguard.domain.values import ArrayValue, Constant
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.triage import Confirmer, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.findings import Finding
    from ciguard.triage import ConfirmationResult

TARGET = "planted@cuda"


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    spec = replace(
        spec_of(name=TARGET, limits=Limits(case_s=60.0, memory_mib=256)),
        adapter=Path(device_adapter.__file__),
        device="cuda:0",
    )
    with Dispatcher() as running:
        started = running.start([spec])[TARGET]
        assert isinstance(started, ServerProcess), started
        yield running


def call(function: str) -> ApiCall:
    argument = ArrayValue("float32", (2,), Constant(1))
    return ApiCall(api=f"planted.device.{function}", kind=CallKind.FUNCTION, arguments=(argument,))


def outcome_of(dispatcher: Dispatcher, case: ApiCall, *, is_synchronous: bool) -> Outcome:
    job = Job(TARGET, "test", (encode(case),), fresh=True, is_synchronous=is_synchronous)
    dispatcher.add(job)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return result.outcomes[0]
    pytest.fail("no result in time")


def subject_of(finding: Finding) -> Subject:
    return subject(finding.api)


def subject(api: str) -> Subject:
    identity = Identity(request=TARGET, packages=(), version="1.0", device="cuda:0")
    return Subject(library="planted", api=api, targets={TARGET: identity})


def proposed(dispatcher: Dispatcher, case: ApiCall) -> Finding:
    outcome = outcome_of(dispatcher, case, is_synchronous=False)
    (finding,) = judge(case, {TARGET: outcome}, subject(case.api))
    return finding


def settled(dispatcher: Dispatcher, finding: Finding, *, repetitions: int) -> ConfirmationResult:
    confirmer = Confirmer(dispatcher, repetitions=repetitions, subject_of=subject_of)
    confirmer.propose(fingerprint(finding).key, finding)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        confirmer.pump()
        for result in dispatcher.wait(1.0):
            if found := confirmer.take(result):
                return found[0]
    pytest.fail("nothing was settled")


def names_call(outcome: Outcome, function: str) -> bool:
    assert isinstance(outcome, Crashed), outcome
    return any(frame.function == function for frame in outcome.stack)


def test_synchronous_device_blames_the_call_itself(dispatcher: Dispatcher) -> None:
    case = call("far")

    assert names_call(outcome_of(dispatcher, case, is_synchronous=True), "far")
    assert not names_call(outcome_of(dispatcher, case, is_synchronous=False), "far")


def test_worker_after_a_synchronous_one_is_asynchronous(dispatcher: Dispatcher) -> None:
    assert isinstance(outcome_of(dispatcher, call("raced"), is_synchronous=True), Passed)
    assert isinstance(outcome_of(dispatcher, call("raced"), is_synchronous=False), Crashed)


def test_confirmed_loss_of_a_device_has_the_frames_of_its_call(dispatcher: Dispatcher) -> None:
    found = settled(dispatcher, proposed(dispatcher, call("far")), repetitions=2)

    assert found.confirmation is Confirmation.CONFIRMED
    assert names_call(found.finding.outcomes[TARGET], "far")


@pytest.mark.parametrize("repetitions", [1, 2, 3])
def test_race_that_synchronous_kernels_hide_is_confirmed(
    dispatcher: Dispatcher, repetitions: int
) -> None:
    race = proposed(dispatcher, call("raced"))

    found = settled(dispatcher, race, repetitions=repetitions)

    assert found.confirmation is Confirmation.CONFIRMED


@pytest.mark.parametrize("repetitions", [2, 3])
def test_crash_that_no_repetition_shows_is_flaky(dispatcher: Dispatcher, repetitions: int) -> None:
    crash = replace(proposed(dispatcher, call("far")), case=call("add"))

    found = settled(dispatcher, crash, repetitions=repetitions)

    assert (found.confirmation, found.shown) == (Confirmation.FLAKY, 0)
