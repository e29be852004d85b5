"""The minimiser with real processes: what is left is simpler, and still fails the same way."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import planted
import pytest
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import LiteralValue, Value
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.triage import Minimiser, fingerprint, simplicity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.findings import Finding

TARGET = "planted"


def subject_of(finding: Finding) -> Subject:
    return subject(finding.api)


def subject(api: str) -> Subject:
    identity = Identity(request=TARGET, packages=(), version="1.0", device="cpu")
    return Subject(library="planted", api=api, targets={TARGET: identity})


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    spec = WorkerSpec(
        name=TARGET,
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        limits=Limits(case_s=1.0, memory_mib=256),
    )
    with Dispatcher() as running:
        started = running.start([spec])[TARGET]
        assert isinstance(started, ServerProcess), started
        yield running


def found(dispatcher: Dispatcher, case: ApiCall) -> Finding:
    dispatcher.add(Job(TARGET, "first", (encode(case),)))
    (result,) = dispatcher.wait(30.0)
    (finding,) = judge(case, {TARGET: result.outcomes[0]}, subject(case.api))
    return finding


def minimised(dispatcher: Dispatcher, finding: Finding) -> list[Finding]:
    minimiser = Minimiser(dispatcher, repetitions=2, subject_of=subject_of)
    minimiser.propose(fingerprint(finding).key, finding)
    simpler: list[Finding] = []
    deadline = time.monotonic() + 90
    while not minimiser.is_idle and time.monotonic() < deadline:
        minimiser.pump()
        for result in dispatcher.wait(1.0):
            simpler += minimiser.take(result)
    assert minimiser.is_idle
    return simpler


def call(function: str, *arguments: Value, **keywords: Value) -> ApiCall:
    return ApiCall(
        api=f"planted.{function}",
        kind=CallKind.FUNCTION,
        arguments=arguments,
        keywords=tuple(keywords.items()),
    )


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (call("fragile", LiteralValue(-73_514)), call("fragile", LiteralValue(-1))),
        (call("checked", LiteralValue(40_007)), call("checked", LiteralValue(4000))),
        (
            call("divide", LiteralValue(77), by=LiteralValue(0)),
            call("divide", LiteralValue(0), by=LiteralValue(0)),
        ),
        (call("spin", LiteralValue(-5)), call("spin", LiteralValue(-1))),
    ],
)
def test_minimised_program_is_simpler_and_fails_in_the_same_way(
    dispatcher: Dispatcher, case: ApiCall, expected: ApiCall
) -> None:
    before = found(dispatcher, case)

    (after,) = minimised(dispatcher, before)

    assert fingerprint(after) == fingerprint(before)
    assert simplicity(after.case) < simplicity(before.case)
    assert after.case == expected


def test_minimal_program_is_not_changed(dispatcher: Dispatcher) -> None:
    assert minimised(dispatcher, found(dispatcher, call("fragile", LiteralValue(-1)))) == []
