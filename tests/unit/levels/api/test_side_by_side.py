"""Calls of level `api` on several targets of one library: every second batch is a battery."""

from __future__ import annotations

from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import CallValue, LiteralValue, TensorValue, Value
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.side_by_side import SideBySideLevel

PASSED = Passed(b"1", 0.001)
REFUSED = Rejected("ValueError", "no")


def record(*parameters: dict[str, object]) -> ApiRecord:
    return record_from_json(
        {
            "api": "torch.reduce",
            "kind": CallKind.FUNCTION.value,
            "source": "docstring",
            "parameters": list(parameters),
        }
    )


REDUCE = record(
    {"name": "x", "schema_type": "Tensor"},
    {"name": "axis", "schema_type": "int", "required": False, "default": "0"},
    {"name": "keepdims", "schema_type": "bool", "required": False, "default": "False"},
    {"name": "mode", "schema_type": "str", "allowed": ["a", "b", "c"], "required": False,
     "default": "'a'"},
)  # fmt: skip
TENSORS: list[dict[str, object]] = [{"name": f"x{n}", "schema_type": "Tensor"} for n in range(8)]
WIDE = record(*TENSORS)


def battery(api: ApiRecord = REDUCE, *, conforms: bool = True) -> list[ApiCall]:
    """Return the first battery; only calls that conform, or that do not, have passed before."""
    level = SideBySideLevel([api], 0)
    for number in range(2):
        batch = level.visit(api.api, number)
        is_conforming = [as_call(case).intent is Intent.CONFORMING for case in batch.cases]
        outcomes = [PASSED if one is conforms else REFUSED for one in is_conforming]
        feedback = level.feedback(batch, outcomes)
        if feedback is not None:
            level.learn(api.api, feedback)
    return [as_call(case) for case in level.visit(api.api, 2).cases]


def arguments(call: ApiCall) -> dict[str, Value]:
    return dict(zip(("x", "axis", "keepdims", "mode"), call.arguments, strict=False)) | dict(
        call.keywords
    )


def test_the_first_batches_are_those_of_one_target() -> None:
    one, several = ApiLevel([REDUCE], 0), SideBySideLevel([REDUCE], 0)

    for number in (0, 1, 3, 5):
        assert one.visit(REDUCE.api, number) == several.visit(REDUCE.api, number)
    assert one.visit(REDUCE.api, 2) != several.visit(REDUCE.api, 2)


def test_a_battery_changes_one_call_that_passed_each_time() -> None:
    known, *changed = battery()

    before = arguments(known)
    assert known.intent is Intent.CONFORMING
    for call in changed:
        after = arguments(call)
        assert sum(before.get(name) != value for name, value in after.items()) == 1


def test_a_battery_tries_kinds_types_sizes_and_listed_values_of_each_parameter() -> None:
    _, *changed = battery()

    axes = [arguments(call).get("axis") for call in changed]
    assert {LiteralValue(None), LiteralValue("mean"), LiteralValue(-1), LiteralValue(1.5)} <= set(
        axes
    )
    modes = [arguments(call).get("mode") for call in changed]
    assert set(map(LiteralValue, ("a", "b", "c", "", None))) <= set(modes)
    tensors = [x for call in changed if isinstance(x := arguments(call)["x"], TensorValue)]
    assert {"float16", "bfloat16", "int8", "complex64", "bool"} <= {x.dtype for x in tensors}
    assert any(0 in x.shape for x in tensors)
    forms = [x.function for call in changed if isinstance(x := arguments(call)["x"], CallValue)]
    assert "torch.Tensor.to_sparse" in forms


def test_only_listed_values_count_as_conforming() -> None:
    _, *changed = battery()

    for call in changed:
        if call.intent is Intent.CONFORMING:
            assert not call.focus
        else:
            assert call.intent is Intent.BOUNDARY
            assert call.focus


def test_changes_of_a_call_that_may_not_conform_do_not_count_as_conforming() -> None:
    known, *changed = battery(conforms=False)

    assert {call.intent for call in (known, *changed)} == {Intent.BOUNDARY}


def test_a_battery_has_a_limit_and_no_call_twice() -> None:
    calls = battery(WIDE)

    assert len(calls) == 97
    assert len({call.values for call in calls}) == 97


def test_a_battery_depends_on_its_number_and_the_feedback_only() -> None:
    assert battery() == battery()
