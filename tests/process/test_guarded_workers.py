"""Workers of the planted library under the memory guard: what ends them, and what is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from planted_workers import spec_of, started

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.memory_errors import invalid_access
from ciguard.domain.outcomes import Crashed, Outcome, Passed
from ciguard.domain.values import Constant, LiteralValue, TensorValue, Value
from ciguard.execution import Dispatcher, Job
from ciguard.oracles.relations import encode
from ciguard.targets.memory_guard import build_guard

if TYPE_CHECKING:
    from collections.abc import Iterator

ARRAY = TensorValue("uint8", (48,), Constant(1))


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with pytest.MonkeyPatch.context() as patch, Dispatcher() as running:
        patch.setenv("CIGUARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        started(running, spec_of(guard=build_guard()))
        started(running, spec_of(name="plain"))
        yield running


def call(name: str, *arguments: Value, seed: int = 0) -> ApiCall:
    api = f"planted.{name}"
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=arguments, seed=seed)


def outcomes(dispatcher: Dispatcher, *cases: ApiCall, target: str = "planted") -> list[Outcome]:
    dispatcher.add(Job(target, "test", tuple(map(encode, cases))))
    for _ in range(60):
        for result in dispatcher.wait(1.0):
            return list(result.outcomes)
    pytest.fail("no result within a minute")


def crash(dispatcher: Dispatcher, *cases: ApiCall) -> Crashed:
    *_, last = outcomes(dispatcher, *cases)
    assert isinstance(last, Crashed), last
    return last


def test_a_read_behind_an_argument_is_named_after_it(dispatcher: Dispatcher) -> None:
    outcome = crash(dispatcher, call("memory.overread", ARRAY, LiteralValue(8)))

    access = invalid_access(outcome.log)
    assert outcome.is_memory_error
    assert access is not None
    assert access.in_words(access.owner(("x", "distance"))) == (
        "reads 8 bytes behind the end of x (uint8[48])"
    )
    assert any(frame.function == "overread" for frame in outcome.stack), outcome.stack


def test_a_write_within_the_last_page_is_found_after_the_call(dispatcher: Dispatcher) -> None:
    odd = TensorValue("uint8", (41,), Constant(1))
    outcome = crash(dispatcher, call("double", ARRAY), call("memory.overwrite", odd))

    assert outcome.cause == "out-of-bounds write"
    assert "0 bytes behind argument 1 (uint8[41]), 41 bytes" in outcome.log


def test_blocks_of_some_cases_begin_at_a_page(dispatcher: Dispatcher) -> None:
    before = call("memory.overread", ARRAY, LiteralValue(-49), seed=3)
    assert "1 bytes before argument 1 (uint8[48])" in crash(dispatcher, before).log


def test_the_use_of_freed_memory_is_found(dispatcher: Dispatcher) -> None:
    outcome = crash(dispatcher, call("memory.stale", LiteralValue(3)))

    assert outcome.cause == "use after free"
    assert "0 bytes into a block, 2051 bytes" in outcome.log


def test_an_ordinary_crash_keeps_its_signal(dispatcher: Dispatcher) -> None:
    assert crash(dispatcher, call("fragile", LiteralValue(-1))).cause == "SIGSEGV"


def test_valid_calls_pass_and_without_the_guard_all_do(dispatcher: Dispatcher) -> None:
    valid = [call("double", ARRAY, seed=seed) for seed in range(40)]
    assert all(isinstance(outcome, Passed) for outcome in outcomes(dispatcher, *valid))
    silent = call("memory.overread", ARRAY, LiteralValue(8))
    (outcome,) = outcomes(dispatcher, silent, target="plain")
    assert isinstance(outcome, Passed)
