"""Calls of level `api` on several targets of one library: every second batch is a battery."""

from __future__ import annotations

from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import CallValue, DtypeValue, LiteralValue, TensorValue, Value
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


def level(api: ApiRecord = REDUCE, *, conforms: bool = True) -> SideBySideLevel:
    """Return a level after a batch of which only calls that conform, or that do not, passed."""
    made = SideBySideLevel([api], 0)
    for number in (0, 2):
        batch = made.visit(api.api, number)
        is_conforming = [as_call(case).intent is Intent.CONFORMING for case in batch.cases]
        outcomes = [PASSED if one is conforms else REFUSED for one in is_conforming]
        feedback = made.feedback(batch, outcomes)
        assert feedback is not None
        made.learn(api.api, feedback)
    return made


def part(number: int, *, conforms: bool = True) -> list[ApiCall]:
    """Return a part of a battery: the call that passed, and some changes."""
    return [as_call(case) for case in level(conforms=conforms).visit(REDUCE.api, number).cases]


def battery() -> list[ApiCall]:
    """Return the first battery, which has three parts."""
    known, *changed = part(1)
    return [known, *changed, *part(3)[1:], *part(5)[1:]]


def arguments(call: ApiCall) -> dict[str, Value]:
    return dict(zip(("x", "axis", "keepdims", "mode"), call.arguments, strict=False)) | dict(
        call.keywords
    )


def test_every_second_batch_is_part_of_a_battery() -> None:
    made = level()
    sizes = [len(made.visit(REDUCE.api, number).cases) for number in range(5)]

    assert sizes == list(made.batch_sizes)
    for number in (2, 4, 6):
        assert made.visit(REDUCE.api, number) == made.drawn(
            REDUCE.api, number, drawn_before=number // 2
        )
    for number in (1, 3):
        known, *changed = part(number)
        assert all(differs_once(known, call) for call in changed)


def test_there_is_no_battery_at_once_if_no_call_has_passed() -> None:
    made = SideBySideLevel([REDUCE], 0)

    assert made.visit(REDUCE.api, 1) == made.drawn(REDUCE.api, 1, drawn_before=1)
    assert len(made.visit(REDUCE.api, 3).cases) == 33


def test_values_of_kinds_that_seldom_matter_end_a_battery() -> None:
    axes = [arguments(call)["axis"] for call in battery() if "axis" in arguments(call)]

    kinds = [type(axis.value) if isinstance(axis, LiteralValue) else type(axis) for axis in axes]
    assert max(map(kinds.index, (int, str, type(None)))) < min(map(kinds.index, (bool, DtypeValue)))


def differs_once(known: ApiCall, call: ApiCall) -> bool:
    before, after = arguments(known), arguments(call)
    return sum(before.get(name) != value for name, value in after.items()) == 1


def test_a_battery_changes_one_call_that_passed_each_time() -> None:
    known, *changed = battery()

    assert known.intent is Intent.CONFORMING
    assert all(differs_once(known, call) for call in changed)


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
    assert {call.intent for call in part(1, conforms=False)} == {Intent.BOUNDARY}


def test_a_battery_has_no_call_twice() -> None:
    changed = battery()

    assert len({(call.arguments, call.keywords) for call in changed}) == len(changed)


def test_after_a_battery_another_call_that_passed_is_changed() -> None:
    first, second, third = (part(number)[0] for number in (1, 3, 7))

    assert first.values == second.values
    assert third.values != first.values


def test_a_batch_depends_on_its_number_and_the_feedback_only() -> None:
    made = level()
    made.visit(REDUCE.api, 5)

    assert made.visit(REDUCE.api, 3) == level().visit(REDUCE.api, 3)
