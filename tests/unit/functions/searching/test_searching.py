"""The search for failures of one function, with calls that run in the test itself."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from ciguard.execution import StackLine
from ciguard.functions.hosting.verdicts import (
    CallFailure,
    CallPassed,
    Discarded,
    FailureKind,
    NoInstance,
    Undecided,
    Verdict,
)
from ciguard.functions.searching.examples import ProtectedDatabase
from ciguard.functions.searching.results import counts_text
from ciguard.functions.searching.search import SearchResult, search
from ciguard.functions.searching.settings import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def the_default_profile() -> Iterator[None]:
    """Use a profile with a database, since Hypothesis keeps no examples where `CI` is set."""
    options = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile(
        "interactive", derandomize=False, database=InMemoryExampleDatabase()
    )
    hypothesis.settings.load_profile("interactive")
    yield
    hypothesis.settings.load_profile(options)


@dataclass(frozen=True)
class Number:
    value: int

    def to_json(self) -> int:
        return self.value


def failure(key: str, kind: FailureKind = FailureKind.EXCEPTION) -> CallFailure:
    frames = (StackLine("model.py", 3, key),)
    return CallFailure(kind=kind, type="ValueError", message=key, frames=frames, key=key)


def numbers(minimum: int = 0, maximum: int = 1000) -> st.SearchStrategy[Number]:
    return st.integers(minimum, maximum).map(Number)


def search_numbers(
    execute: Callable[[Number], Verdict],
    strategy: st.SearchStrategy[Number] | None = None,
    **options: object,
) -> SearchResult:
    settings = SearchSettings(**{"database": InMemoryExampleDatabase(), **options})  # type: ignore[arg-type]
    chosen_strategy = numbers() if strategy is None else strategy
    return search(f"test {next(_NUMBERS)}", chosen_strategy, execute, options=settings)


def test_a_function_that_never_fails_is_called_with_max_examples_inputs() -> None:
    result = search_numbers(lambda call: CallPassed(), max_examples=37)  # noqa: ARG005

    assert (result.failures, result.valid_count, result.discarded_count) == ([], 37, 0)


def test_a_failure_is_reported_with_its_smallest_call() -> None:
    result = search_numbers(lambda call: failure("big") if call.value >= 100 else CallPassed())

    assert [
        (minimal.call.value, minimal.failure.key, minimal.is_reproducible)
        for minimal in result.failures
    ] == [(100, "big", True)]


def test_a_failure_path_is_blocked_so_that_masked_failures_are_found() -> None:
    def fail_behind_another(call: Number) -> Verdict:
        if call.value < 950:
            return failure("nearly all")
        return failure("the rest") if call.value >= 970 else CallPassed()

    result = search_numbers(fail_behind_another, max_examples=100)

    assert {minimal.failure.key: minimal.call.value for minimal in result.failures} == {
        "nearly all": 0,
        "the rest": 970,
    }


def test_the_search_ends_if_every_input_takes_a_blocked_path() -> None:
    calls = []

    def fail_always(call: Number) -> Verdict:
        calls.append(call)
        return failure("always")

    result = search_numbers(fail_always, max_examples=20)

    assert [minimal.call.value for minimal in result.failures] == [0]
    assert len(calls) < 20 * 12


def test_discarded_inputs_are_counted_by_reason() -> None:
    result = search_numbers(
        lambda call: CallPassed() if call.value % 2 else Discarded("n % 2 == 1"), max_examples=30
    )

    assert result.valid_count == 30
    assert result.reasons == {"n % 2 == 1": result.discarded_count}
    assert 0.2 < result.discard_rate < 0.8


def test_inputs_discarded_while_drawing_are_counted() -> None:
    refused: list[int] = []

    def is_odd(call: Number) -> Number:
        if not call.value % 2:
            refused.append(call.value)
        assume(call.value % 2)
        return call

    result = search_numbers(lambda call: CallPassed(), numbers().map(is_odd), max_examples=20)  # noqa: ARG005

    assert result.valid_count > 0
    assert 0 < result.discarded_count <= len(refused)  # a mapped strategy retries by itself


def test_draws_that_hypothesis_aborts_do_not_count_as_discarded() -> None:
    long = st.lists(st.integers(0, 9), min_size=5, max_size=30)

    result = search_numbers(lambda call: CallPassed(), long.map(sum).map(Number), max_examples=50)  # noqa: ARG005

    assert result.valid_count > 0
    assert result.discarded_count == 0


def test_a_search_without_valid_inputs_returns_a_count_of_zero() -> None:
    result = search_numbers(lambda call: Discarded("False"), max_examples=20)  # noqa: ARG005

    assert (result.valid_count, result.failures) == (0, [])
    assert result.discarded_count > 0


def test_missing_instances_are_counted_but_are_no_failures() -> None:
    result = search_numbers(lambda call: NoInstance("ValueError: no"), max_examples=20)  # noqa: ARG005

    assert (result.valid_count, result.discarded_count, result.failures) == (0, 0, [])
    assert result.no_instance_count > 0


def test_a_call_is_repeated_only_to_confirm_a_failure() -> None:
    seen: list[int] = []

    def execute(call: Number) -> Verdict:
        seen.append(call.value)
        return failure("big") if call.value >= 3 else CallPassed()

    search_numbers(execute, numbers(0, 5))

    assert seen.count(3) == 2
    assert all(seen.count(value) == 1 for value in set(seen) - {3})


def test_a_failure_that_does_not_recur_is_marked_irreproducible() -> None:
    seen: set[int] = set()

    def fail_once(call: Number) -> Verdict:
        is_new = call.value not in seen
        seen.add(call.value)
        return failure("flaky") if is_new else CallPassed()

    result = search_numbers(fail_once, max_examples=5)

    assert [minimal.is_reproducible for minimal in result.failures] == [False]


def test_the_search_stops_when_the_time_budget_is_used_up() -> None:
    result = search_numbers(lambda call: CallPassed(), budget_s=1e-9, max_examples=50)  # noqa: ARG005

    assert result.is_stopped
    assert result.valid_count == 0


def test_failures_are_replayed_first_in_the_next_session() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database)

    def fail_rarely(call: Number) -> Verdict:
        return failure("one") if call.value == 31_337 else CallPassed()

    strategy = st.one_of(st.just(31_337), st.integers(0, 10**9)).map(Number)
    first = search("rare", strategy, fail_rarely, options=settings)
    seen: list[int] = []

    def record_call(call: Number) -> Verdict:
        seen.append(call.value)
        return fail_rarely(call)

    again = search("rare", strategy, record_call, options=settings)

    assert len(first.failures) == len(again.failures) == 1
    assert seen[0] == 31_337


def test_later_rounds_keep_the_examples_of_blocked_paths() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database, max_examples=50)

    def fail_in_two_ways(call: Number) -> Verdict:
        return failure("low") if call.value < 900 else failure("high")

    search("two", numbers(), fail_in_two_ways, options=settings)
    seen: list[int] = []

    def record_call(call: Number) -> Verdict:
        seen.append(call.value)
        return fail_in_two_ways(call)

    search("two", numbers(), record_call, options=settings)

    assert set(seen[:2]) == {0, 900}


def test_functions_have_separate_examples() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database, max_examples=10)

    search("one", numbers(), lambda call: failure("a"), options=settings)  # noqa: ARG005
    search("other", numbers(), lambda call: failure("a"), options=settings)  # noqa: ARG005

    assert len(database.data) >= 2


def test_a_protected_database_deletes_only_later_examples() -> None:
    inner = InMemoryExampleDatabase()
    inner.save(b"key", b"old")
    database = ProtectedDatabase(inner)
    assert list(database.fetch(b"key")) == [b"old"]

    database.save(b"key", b"new")
    database.delete(b"key", b"new")
    database.delete(b"key", b"old")
    database.move(b"key", b"other", b"old")

    assert list(inner.fetch(b"key")) == [b"old"]
    assert list(inner.fetch(b"other")) == [b"old"]


@pytest.mark.parametrize("examples", [1, 2])
def test_settings_that_are_not_given_come_from_the_profile(examples: int) -> None:
    profile = f"few-{examples}"
    hypothesis.settings.register_profile(profile, max_examples=examples, database=None)
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.load_profile(profile)
    try:
        result = search_numbers(lambda call: CallPassed())  # noqa: ARG005
    finally:
        hypothesis.settings.load_profile(before)

    assert result.valid_count == examples


def test_a_slow_search_ends_early_if_all_calls_fail_in_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ciguard.functions.searching.search._PATIENCE_S", 0.0)
    seen: list[int] = []

    def fail(call: Number) -> Verdict:
        seen.append(call.value)
        return failure("always")

    result = search_numbers(fail, numbers(0, 10**6), max_examples=1000)

    assert result.fails_always
    assert len(result.failures) == 1
    assert len(set(seen)) < 200
    assert "stopped early because all inputs fail in this way" in counts_text(result)


@pytest.mark.parametrize("other", [CallPassed(), failure("another")])
def test_a_search_goes_on_if_a_call_has_another_result(
    other: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ciguard.functions.searching.search._PATIENCE_S", 0.0)

    result = search_numbers(
        lambda call: other if call.value == 0 else failure("often"), max_examples=100
    )

    assert not result.fails_always


def test_a_defect_of_ciguard_ends_the_search_without_failures() -> None:
    calls: list[int] = []

    def undecided(call: Number) -> Verdict:
        calls.append(call.value)
        return Undecided("ciguard itself failed: KeyError")

    result = search_numbers(undecided, max_examples=100)

    assert (result.defect, result.failures) == ("ciguard itself failed: KeyError", [])
    assert len(calls) == 1
