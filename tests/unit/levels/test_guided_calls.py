"""Guided calls, with a stub library that passes, rejects or crashes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from api_records import ADD_METHOD, CONV1D_LAYER, SPREAD, SUM
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import LiteralValue, TensorValue, Value
from ciguard.knowledge import understand
from ciguard.levels import VisitedLevel
from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.level import ApiLevel

PICKY = record_from_json(
    {
        "api": "lib.picky",
        "kind": "function",
        "parameters": [
            {"name": "x", "schema_type": "Tensor"},
            {"name": "mode", "schema_type": "str"},
            {"name": "n", "schema_type": "int", "required": False, "default": "1"},
        ],
    }
)
Library = Callable[[ApiCall], Outcome]
PASSED = Passed(b"", 0.0)


def picky(call: ApiCall) -> Outcome:
    """Take 2-D floats and one of two modes; die of what else is no float, now and then."""
    x, mode = call.arguments
    if not isinstance(x, TensorValue) or len(x.shape) != 2:
        return Rejected("ValueError", "x must be a 2D tensor")
    if mode not in {LiteralValue("fast"), LiteralValue("slow")}:
        return Rejected("ValueError", "mode must be one of fast or slow")
    if x.dtype == "bool":
        return Crashed("SIGSEGV")
    return PASSED if x.dtype.startswith("float") else Rejected("TypeError", "expected floats")


def fragile(call: ApiCall) -> Outcome:
    """Refuse all but bool tensors, and die of these: nothing ever passes."""
    x = call.arguments[0]
    if isinstance(x, TensorValue) and x.dtype == "bool":
        return Crashed("SIGSEGV")
    return Rejected("ValueError", "x is not supported")


def joined(call: ApiCall) -> Outcome:
    """Take a volume, its windows and the sizes of the result, which all depend on each other."""
    x, windows, sizes = call.arguments
    if not all(isinstance(value, TensorValue) for value in call.arguments):
        return Rejected("TypeError", "not a tensor")
    assert isinstance(x, TensorValue)
    assert isinstance(windows, TensorValue)
    assert isinstance(sizes, TensorValue)
    depth = (0, *x.shape)[-1]
    fits = len(x.shape) == 4 and windows.shape == (1, 1, depth, depth) and sizes.shape == (4,)
    return PASSED if fits and x.dtype == windows.dtype else Rejected("ValueError", "do not fit")


def outcomes(
    library: Library, record: ApiRecord = PICKY, *, batches: int = 40, seed: int = 0
) -> list[tuple[ApiCall, Outcome]]:
    level = ApiLevel([record], seed)
    observed = []
    for index in range(batches):
        batch = level.cases(index)
        calls = [*map(as_call, batch.cases)]
        results = [library(call) for call in calls]
        feedback = level.feedback(batch, results)
        if feedback is not None:
            level.learn(batch.api, feedback)
        observed += list(zip(calls, results, strict=True))
    return observed


def share_passed(observed: list[tuple[ApiCall, Outcome]]) -> float:
    conforming = [out for case, out in observed if case.intent is Intent.CONFORMING]
    return sum(isinstance(out, Passed | Crashed) for out in conforming) / len(conforming)


def test_the_level_visits_each_api_separately() -> None:
    assert isinstance(ApiLevel([PICKY], 0), VisitedLevel)


@pytest.mark.parametrize("seed", range(4))
def test_calls_that_are_rejected_at_first_pass_later(seed: int) -> None:
    observed = outcomes(picky, seed=seed)

    assert share_passed(observed[-320:]) > max(0.6, share_passed(observed[:96]))


@pytest.mark.parametrize("seed", range(4))
def test_feedback_does_not_hide_crashes(seed: int) -> None:
    observed = outcomes(fragile, seed=seed, batches=60)

    late = [out for _, out in observed[480:]]
    assert sum(isinstance(out, Crashed) for out in late) / len(late) > 0.05


@pytest.mark.parametrize("seed", range(4))
def test_a_share_of_the_calls_ignores_feedback(seed: int) -> None:
    observed = outcomes(picky, seed=seed, batches=60)

    ranks = {
        len(case.arguments[0].shape)
        for case, _ in observed[480:]
        if case.intent is Intent.CONFORMING and isinstance(case.arguments[0], TensorValue)
    }
    assert len(ranks) > 2


def test_a_learning_level_is_deterministic_for_seed_and_index() -> None:
    assert outcomes(picky, seed=3) == outcomes(picky, seed=3)
    assert outcomes(picky, seed=3) != outcomes(picky, seed=4)


def test_restored_feedback_gives_the_same_calls_although_none_were_drawn_in_between() -> None:
    level, learned = ApiLevel([PICKY], 5), []
    for index in range(9):
        batch = level.cases(index)
        feedback = level.feedback(batch, [picky(as_call(case)) for case in batch.cases])
        assert feedback is not None
        level.learn(batch.api, feedback)
        learned.append(feedback)

        resumed = ApiLevel([PICKY], 5)
        for earlier in learned:
            resumed.learn(batch.api, earlier)
        assert resumed.cases(index + 1) == level.cases(index + 1)


def test_an_api_whose_sizes_depend_on_each_other_is_searched_with_sizes_of_one() -> None:
    record = record_from_json(
        {
            "api": "lib.joined",
            "kind": "function",
            "parameters": [
                {"name": "x", "schema_type": "Tensor", "dtypes": ["float32"]},
                {"name": "windows", "schema_type": "Tensor", "dtypes": ["float32"]},
                {"name": "sizes", "schema_type": "Tensor", "dtypes": ["int32"]},
            ],
        }
    )

    tried = outcomes(joined, record)

    passed = [call for call, outcome in tried if isinstance(outcome, Passed)]
    assert len(passed) > len(tried) // 20
    assert any(len(call.arguments) == len(record.parameters) for call in passed)


def test_an_api_without_passing_calls_is_searched_beyond_its_documentation() -> None:
    def wants_a_list(call: ApiCall) -> Outcome:
        x = call.arguments[0]
        is_list = not isinstance(x, TensorValue | LiteralValue)
        return PASSED if is_list else Rejected("ValueError", "no")

    observed = outcomes(wants_a_list, batches=30)

    assert share_passed(observed[:16]) == 0
    assert share_passed(observed[-160:]) > 0.3


def test_experience_of_earlier_campaigns_is_used_from_the_first_call() -> None:
    first = ApiLevel([PICKY], 0)
    for index in range(10):
        batch = first.cases(index)
        feedback = first.feedback(batch, [picky(as_call(case)) for case in batch.cases])
        assert feedback is not None
        first.learn(batch.api, feedback)

    second = ApiLevel([PICKY, SUM], 1)
    second.recall(first.learned())

    cases = [as_call(case) for index in range(20) for case in second.cases(index).cases]
    assert share_passed([(c, picky(c)) for c in cases if c.api == PICKY.api]) > 0.6
    assert second.learned()[PICKY.api].noted == 532


def test_feedback_ends_after_the_maximum_number_of_calls() -> None:
    level = ApiLevel([PICKY], 0)
    batches = [level.cases(index) for index in range(11)]

    pending = [level.feedback(batch, [PASSED] * len(batch.cases)) for batch in batches]

    assert [feedback is not None for feedback in pending] == [True] * 10 + [False]


@settings(deadline=None)  # the first call of each API compiles it
@given(st.sampled_from([PICKY, SUM, SPREAD, CONV1D_LAYER, ADD_METHOD]), st.integers(0, 500))
def test_the_arguments_of_a_call_are_read_back_by_parameter(record: ApiRecord, index: int) -> None:
    generator = CallGenerator(understand(record))
    level = ApiLevel([record], 0)

    for call in map(as_call, level.cases(index).cases):
        values = generator.arguments(call)
        flat: list[Value] = [*call.values]
        given_values = [v for name, v in values.items() if name != "size"]
        assert all(value in flat for value in given_values)
        assert set(values) <= set(generator.names)
