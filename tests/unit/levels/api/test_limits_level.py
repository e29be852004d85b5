"""Calls of level `api` on one target: every second batch changes a call that passed to limits."""

from __future__ import annotations

from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.records import record_from_json
from ciguard.domain.values import LiteralValue, TensorValue
from ciguard.levels.api.at_limits import LimitsLevel
from ciguard.levels.api.level import ApiLevel

RESIZE = record_from_json(
    {
        "api": "torch.resize",
        "kind": CallKind.FUNCTION.value,
        "source": "schema",
        "parameters": [
            {"name": "images", "schema_type": "Tensor", "dtypes": ["float32"]},
            {"name": "size", "schema_type": "int"},
        ],
    }
)


def level(*, passes: bool = True) -> LimitsLevel:
    """Return a level whose first batch passed, or was rejected."""
    made = LimitsLevel([RESIZE], 0)
    batch = made.visit(RESIZE.api, 0)
    outcome = Passed(b"1", 0.001) if passes else Rejected("ValueError", "no")
    feedback = made.feedback(batch, [outcome] * len(batch.cases))
    assert feedback is not None
    made.learn(RESIZE.api, feedback)
    return made


def calls(number: int) -> list[ApiCall]:
    return [as_call(case) for case in level().visit(RESIZE.api, number).cases]


def differing(first: ApiCall, second: ApiCall) -> int:
    """Return the number of arguments that differ between two calls."""
    before, after = dict(first.keywords), dict(second.keywords)
    pairs = [
        *zip(first.arguments, second.arguments, strict=True),
        *((before.get(name), after.get(name)) for name in before | after),
    ]
    return sum(old != new for old, new in pairs)


def test_a_batch_of_limits_starts_with_a_call_that_passed() -> None:
    known, *changed = calls(1)

    assert known.intent is Intent.BOUNDARY
    assert {call.intent for call in changed} == {Intent.BOUNDARY}
    assert {differing(known, call) for call in changed} == {1}


def test_each_change_to_a_limit_is_made_once() -> None:
    changed = [(call.arguments, call.keywords) for call in calls(1)]

    assert len(changed) == len(set(changed))
    sizes = [arguments[1] for arguments, _ in changed]
    assert {LiteralValue(number) for number in (0, -1, 2**31 - 1, -(2**63))} <= set(sizes)
    shapes = [
        arguments[0].shape for arguments, _ in changed if isinstance(arguments[0], TensorValue)
    ]
    assert any(0 in shape and max(shape) >= 2**31 for shape in shapes if shape)


def test_calls_of_later_batches_have_two_changes() -> None:
    known, *changed = calls(5)

    assert {differing(known, call) for call in changed} == {1, 2}


def test_other_batches_and_those_before_a_call_has_passed_are_drawn() -> None:
    drawn, limited = ApiLevel([RESIZE], 0), level(passes=False)

    assert LimitsLevel([RESIZE], 0).visit(RESIZE.api, 0) == drawn.visit(RESIZE.api, 0)
    feedback = drawn.feedback(drawn.visit(RESIZE.api, 0), [Rejected("ValueError", "no")] * 4)
    assert feedback is not None
    drawn.learn(RESIZE.api, feedback)
    assert limited.visit(RESIZE.api, 1) == drawn.visit(RESIZE.api, 1)


def test_a_batch_depends_on_seed_number_and_feedback_only() -> None:
    first, busy = level(), level()
    for number in (2, 3, 5):
        busy.visit(RESIZE.api, number)

    assert first.visit(RESIZE.api, 1) == busy.visit(RESIZE.api, 1)
    assert first.visit(RESIZE.api, 1) != first.visit(RESIZE.api, 3)
