"""A crash counts only if it also happens with more memory than a worker usually has."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import planted
import pytest
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Confirmation
from ciguard.domain.outcomes import Crashed, Exhausted, Passed
from ciguard.domain.values import LiteralValue
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.triage import Confirmer, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.triage import ConfirmationResult

TARGET = "planted==1.0"
MEMORY_MIB, AMPLE_MIB = 128, 512


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    spec = WorkerSpec(
        name=TARGET,
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        limits=Limits(case_s=5.0, memory_mib=MEMORY_MIB, ample_memory_mib=AMPLE_MIB),
    )
    with Dispatcher() as running:
        (started,) = running.start([spec]).values()
        assert isinstance(started, ServerProcess), started
        yield running


def store(mib: int) -> ApiCall:
    return ApiCall(
        api="planted.careless.store", kind=CallKind.FUNCTION, arguments=(LiteralValue(mib),)
    )


def outcome_of(dispatcher: Dispatcher, case: ApiCall, *, has_ample_memory: bool) -> Outcome:
    job = Job(TARGET, "test", (encode(case),), fresh=True, has_ample_memory=has_ample_memory)
    dispatcher.add(job)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return result.outcomes[0]
    pytest.fail("no result within a minute")


def subject_of(finding: Finding) -> Subject:
    identity = Identity(request=TARGET, packages=(), version=TARGET, device="cpu")
    return Subject(library="planted", api=finding.api, targets={TARGET: identity})


def settled(dispatcher: Dispatcher, case: ApiCall) -> ConfirmationResult:
    outcome = outcome_of(dispatcher, case, has_ample_memory=False)
    assert isinstance(outcome, Crashed), outcome
    identity = Identity(request=TARGET, packages=(), version=TARGET, device="cpu")
    subject = Subject(library="planted", api=case.api, targets={TARGET: identity})
    (finding,) = judge(case, {TARGET: outcome}, subject)
    confirmer = Confirmer(dispatcher, repetitions=2, subject_of=subject_of)
    confirmer.propose(fingerprint(finding).key, finding)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        confirmer.pump()
        for result in dispatcher.wait(1.0):
            if found := confirmer.take(result):
                return found[0]
    pytest.fail("nothing was settled")


def test_ample_memory_suffices_for_a_call_that_crashes_without_it(dispatcher: Dispatcher) -> None:
    case = store(2 * MEMORY_MIB)

    assert isinstance(outcome_of(dispatcher, case, has_ample_memory=False), Crashed)
    assert isinstance(outcome_of(dispatcher, case, has_ample_memory=True), Passed)


def test_a_crash_that_only_the_memory_limit_causes_is_dropped(dispatcher: Dispatcher) -> None:
    assert settled(dispatcher, store(2 * MEMORY_MIB)).confirmation is None


def test_a_crash_without_enough_memory_on_most_machines_is_confirmed(
    dispatcher: Dispatcher,
) -> None:
    found = settled(dispatcher, store(100 * AMPLE_MIB))

    assert found.confirmation is Confirmation.CONFIRMED
    assert found.finding.oracle == "crash"


def test_a_worker_after_one_with_ample_memory_has_the_usual_limit(dispatcher: Dispatcher) -> None:
    case = store(2 * MEMORY_MIB)
    outcome_of(dispatcher, case, has_ample_memory=True)

    assert isinstance(outcome_of(dispatcher, case, has_ample_memory=False), Crashed | Exhausted)
