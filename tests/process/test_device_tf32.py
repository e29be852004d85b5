"""Mode `tf32` on the planted device: products are coarser there, and only there."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ciguard_planted import device_adapter
from planted_workers import spec_of

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess
from ciguard.libraries import LIBRARIES
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target
from ciguard.targets.environment import worker_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.findings import Finding

PLAIN, COARSE = "torch==2.13.0@cuda", "torch==2.13.0@cuda tf32"
MATRIX = ArrayValue("float32", (16, 16), Uniform(1, -1.0, 1.0))
DOUBLE = replace(MATRIX, dtype="float64")


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    specs = [
        replace(
            spec_of(name=name, limits=Limits(case_s=5.0, memory_mib=256)),
            adapter=Path(device_adapter.__file__),
            device="cuda:0",
            variables=worker_variables(
                parse_target(name), (LIBRARIES.items()["torch"],), cache=None
            ),
        )
        for name in (PLAIN, COARSE)
    ]
    with Dispatcher() as running:
        for started in running.start(specs).values():
            assert isinstance(started, ServerProcess), started
        yield running


def outcomes_of(dispatcher: Dispatcher, case: ApiCall) -> dict[str, Outcome]:
    for name in (PLAIN, COARSE):
        dispatcher.add(Job(name, "test", (encode(case),)))
    outcomes: dict[str, Outcome] = {}
    deadline = time.monotonic() + 60
    while len(outcomes) < 2 and time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            outcomes[result.job.target] = result.outcomes[0]
    return {name: outcomes[name] for name in (PLAIN, COARSE)}


def product(function: str, matrix: ArrayValue = MATRIX) -> ApiCall:
    return ApiCall(
        api=f"planted.device.{function}", kind=CallKind.FUNCTION, arguments=(matrix, matrix)
    )


def judged(case: ApiCall, outcomes: dict[str, Outcome]) -> list[Finding]:
    targets = {
        name: Identity(
            request=name, packages=(), version="1", device="cuda:0", mode=parse_target(name).mode
        )
        for name in (PLAIN, COARSE)
    }
    return judge(case, outcomes, Subject(library="torch", api=case.api, targets=targets))


def test_products_are_rounded_in_mode_tf32_only_and_agree(dispatcher: Dispatcher) -> None:
    case = product("product")
    outcomes = outcomes_of(dispatcher, case)

    plain, coarse = outcomes.values()
    assert isinstance(plain, Passed)
    assert isinstance(coarse, Passed)
    assert plain.encoded != coarse.encoded
    assert judged(case, outcomes) == []


def test_products_that_are_coarser_than_tf32_differ(dispatcher: Dispatcher) -> None:
    case = product("coarse_product")

    (found,) = judged(case, outcomes_of(dispatcher, case))

    assert (found.oracle, found.kind, found.targets) == ("differential", "values", (PLAIN, COARSE))


def test_products_in_double_precision_are_the_same_in_both_modes(dispatcher: Dispatcher) -> None:
    plain, coarse = outcomes_of(dispatcher, product("product", DOUBLE)).values()

    assert isinstance(plain, Passed)
    assert isinstance(coarse, Passed)
    assert plain.encoded == coarse.encoded
