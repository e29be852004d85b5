"""The search for failures of one function, with calls that are made right here."""

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
    Verdict,
)
from ciguard.functions.searching.examples import KeepingDatabase
from ciguard.functions.searching.search import SearchResult, search
from ciguard.functions.searching.settings import SearchSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def the_default_profile() -> Iterator[None]:
    """Search as at a desk: where `CI` is set, Hypothesis keeps no examples by itself."""
    chosen = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile(
        "desk", derandomize=False, database=InMemoryExampleDatabase()
    )
    hypothesis.settings.load_profile("desk")
    yield
    hypothesis.settings.load_profile(chosen)


@dataclass(frozen=True)
class Number:
    value: int

    def to_json(self) -> int:
        return self.value


def failure(key: str, kind: FailureKind = FailureKind.EXCEPTION) -> CallFailure:
    frames = (StackLine("model.py", 3, key),)
    return CallFailure(kind=kind, type="ValueError", message=key, frames=frames, key=key)


def numbers(least: int = 0, most: int = 1000) -> st.SearchStrategy[Number]:
    return st.integers(least, most).map(Number)


def searched(
    execute: Callable[[Number], Verdict],
    strategy: st.SearchStrategy[Number] | None = None,
    **chosen: object,
) -> SearchResult:
    settings = SearchSettings(**{"database": InMemoryExampleDatabase(), **chosen})  # type: ignore[arg-type]
    chosen_strategy = numbers() if strategy is None else strategy
    return search(f"test {next(_NUMBERS)}", chosen_strategy, execute, chosen=settings)


def test_a_function_that_never_fails_has_as_many_valid_inputs_as_asked_for() -> None:
    result = searched(lambda call: CallPassed(), max_examples=37)  # noqa: ARG005

    assert (result.found, result.valid, result.discarded) == ([], 37, 0)


def test_a_failure_comes_with_its_smallest_call() -> None:
    result = searched(lambda call: failure("big") if call.value >= 100 else CallPassed())

    assert [(f.call.value, f.failure.key, f.recurs) for f in result.found] == [(100, "big", True)]


def test_a_path_that_failed_is_blocked_so_that_what_it_masks_is_found() -> None:
    def masked(call: Number) -> Verdict:
        if call.value < 950:
            return failure("nearly all")
        return failure("the rest") if call.value >= 970 else CallPassed()

    result = searched(masked, max_examples=100)

    assert {f.failure.key: f.call.value for f in result.found} == {"nearly all": 0, "the rest": 970}


def test_the_search_ends_where_every_input_takes_a_blocked_path() -> None:
    calls = []

    def always(call: Number) -> Verdict:
        calls.append(call)
        return failure("always")

    result = searched(always, max_examples=20)

    assert [f.call.value for f in result.found] == [0]
    assert len(calls) < 20 * 12


def test_inputs_that_are_discarded_are_counted_with_their_reasons() -> None:
    result = searched(
        lambda call: CallPassed() if call.value % 2 else Discarded("n % 2 == 1"), max_examples=30
    )

    assert result.valid == 30
    assert result.reasons == {"n % 2 == 1": result.discarded}
    assert 0.2 < result.discard_rate < 0.8


def test_inputs_that_are_discarded_while_they_are_drawn_are_counted() -> None:
    refused: list[int] = []

    def is_odd(call: Number) -> Number:
        if not call.value % 2:
            refused.append(call.value)
        assume(call.value % 2)
        return call

    result = searched(lambda call: CallPassed(), numbers().map(is_odd), max_examples=20)  # noqa: ARG005

    assert result.valid > 0
    assert 0 < result.discarded <= len(refused)  # a mapped strategy tries again by itself


def test_what_hypothesis_cuts_short_itself_is_not_discarded() -> None:
    long = st.lists(st.integers(0, 9), min_size=5, max_size=30)

    result = searched(lambda call: CallPassed(), long.map(sum).map(Number), max_examples=50)  # noqa: ARG005

    assert result.valid > 0
    assert result.discarded == 0


def test_no_valid_input_is_no_error_but_a_count_of_nothing() -> None:
    result = searched(lambda call: Discarded("False"), max_examples=20)  # noqa: ARG005

    assert (result.valid, result.found) == (0, [])
    assert result.discarded > 0


def test_missing_instances_are_no_failures_of_the_method() -> None:
    result = searched(lambda call: NoInstance("ValueError: no"), max_examples=20)  # noqa: ARG005

    assert (result.valid, result.discarded, result.found) == (0, 0, [])
    assert result.no_instance > 0


def test_no_call_is_made_twice_but_to_see_whether_it_recurs() -> None:
    seen: list[int] = []

    def execute(call: Number) -> Verdict:
        seen.append(call.value)
        return failure("big") if call.value >= 3 else CallPassed()

    searched(execute, numbers(0, 5))

    assert seen.count(3) == 2
    assert all(seen.count(value) == 1 for value in set(seen) - {3})


def test_a_failure_that_does_not_recur_says_so() -> None:
    seen: set[int] = set()

    def only_once(call: Number) -> Verdict:
        is_new = call.value not in seen
        seen.add(call.value)
        return failure("flaky") if is_new else CallPassed()

    result = searched(only_once, max_examples=5)

    assert [f.recurs for f in result.found] == [False]


def test_calls_end_when_the_budget_is_spent() -> None:
    result = searched(lambda call: CallPassed(), budget_s=1e-9, max_examples=50)  # noqa: ARG005

    assert result.stopped
    assert result.valid == 0


def test_failures_are_replayed_first_in_the_next_session() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database)

    def rare(call: Number) -> Verdict:
        return failure("one") if call.value == 31_337 else CallPassed()

    strategy = st.one_of(st.just(31_337), st.integers(0, 10**9)).map(Number)
    first = search("rare", strategy, rare, chosen=settings)
    seen: list[int] = []

    def watched(call: Number) -> Verdict:
        seen.append(call.value)
        return rare(call)

    again = search("rare", strategy, watched, chosen=settings)

    assert len(first.found) == len(again.found) == 1
    assert seen[0] == 31_337


def test_later_rounds_keep_the_examples_of_paths_that_are_blocked() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database, max_examples=50)

    def two(call: Number) -> Verdict:
        return failure("low") if call.value < 900 else failure("high")

    search("two", numbers(), two, chosen=settings)
    seen: list[int] = []

    def watched(call: Number) -> Verdict:
        seen.append(call.value)
        return two(call)

    search("two", numbers(), watched, chosen=settings)

    assert set(seen[:2]) == {0, 900}


def test_functions_do_not_share_examples() -> None:
    database = InMemoryExampleDatabase()
    settings = SearchSettings(database=database, max_examples=10)

    search("one", numbers(), lambda call: failure("a"), chosen=settings)  # noqa: ARG005
    search("other", numbers(), lambda call: failure("a"), chosen=settings)  # noqa: ARG005

    assert len(database.data) >= 2


def test_a_database_that_keeps_loses_only_what_came_later() -> None:
    inner = InMemoryExampleDatabase()
    inner.save(b"key", b"old")
    database = KeepingDatabase(inner)
    assert list(database.fetch(b"key")) == [b"old"]

    database.save(b"key", b"new")
    database.delete(b"key", b"new")
    database.delete(b"key", b"old")
    database.move(b"key", b"other", b"old")

    assert list(inner.fetch(b"key")) == [b"old"]
    assert list(inner.fetch(b"other")) == [b"old"]


@pytest.mark.parametrize("examples", [1, 2])
def test_the_profile_rules_what_is_not_chosen(examples: int) -> None:
    profile = f"few-{examples}"
    hypothesis.settings.register_profile(profile, max_examples=examples, database=None)
    before = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.load_profile(profile)
    try:
        result = searched(lambda call: CallPassed())  # noqa: ARG005
    finally:
        hypothesis.settings.load_profile(before)

    assert result.valid == examples
