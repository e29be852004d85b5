"""Generation of graphs from samples, and the feedback of probes and units."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from graph_examples import PAIR, SQUARE, call, graph, result

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.graphs import GraphCase, results_used
from ciguard.domain.outcomes import Errored, Passed, Rejected, Stage
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import (
    Explicit,
    LiteralValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.execution.worker.graphs import changes_tensors
from ciguard.levels import Batch
from ciguard.levels.graph.composing import compose
from ciguard.levels.graph.level import GraphLevel, GraphSizes
from ciguard.levels.graph.probing import probed
from ciguard.levels.graph.reshaping import changes_in_place
from ciguard.levels.graph.samples import (
    Sample,
    resized,
    sample_from_json,
    singles,
    size_changes,
)
from ciguard.levels.graph.schedule import BatchKind
from ciguard.levels.graph.store import SampleStore, SampleUse, fitted

if TYPE_CHECKING:
    from ciguard.domain.graphs import Step
    from ciguard.domain.outcomes import Outcome

WIDE = TensorValue("float32", (2, 3), Explicit((1.0,) * 6))


def sample(api: str, argument: TensorValue, form: TensorValue) -> Sample:
    return Sample(call(api, argument), (form,), is_sequence=False)


def store_of(*samples: Sample) -> SampleStore:
    filled = SampleStore()
    for item in samples:
        filled.add(item)
    return filled


def test_graphs_chain_calls_whose_tensors_fit() -> None:
    known = store_of(
        sample("torch.sum", SQUARE, PAIR),
        sample("torch.exp", PAIR, PAIR),
        sample("a.b", WIDE, WIDE),
    )
    graphs = [compose(random.Random(seed), known, calls=6) for seed in range(50)]

    used = {
        (step.api, used.form.shape)
        for steps in graphs
        for step in steps
        for used in results_used(step)
        if isinstance(step, ApiCall)
    }

    assert ("torch.exp", (2,)) in used
    assert all(shape == (2,) for api, shape in used if api == "torch.exp")
    assert all(shape in {(2, 3), (3, 3)} for api, shape in used if api == "a.b")


def test_a_call_in_place_gets_no_second_result() -> None:
    adding = Sample(call("torch.Tensor.add_", PAIR, PAIR), (PAIR,), is_sequence=False)
    known = store_of(sample("torch.exp", PAIR, PAIR), adding)

    for seed in range(50):
        steps = compose(random.Random(seed), known, calls=6)
        for step in steps:
            if isinstance(step, ApiCall) and step.api.endswith("_"):
                second = step.arguments[1]
                assert isinstance(
                    steps[second.step] if isinstance(second, ResultValue) else second, TensorValue
                )


def test_only_graphs_that_grow_choose_results_by_their_sizes() -> None:
    known = store_of(sample("torch.exp", PAIR, PAIR), sample("torch.sin", PAIR, PAIR))

    def choices(*, grows: bool) -> list[tuple[int, ResultValue]]:
        graphs = [compose(random.Random(n), known, calls=6, grows=grows) for n in range(30)]
        values = [value for steps in graphs for step in steps for value in arguments_of(step)]
        return [(value.step, value.other) for value in values if value.other is not None]

    assert choices(grows=False) == []
    assert len(choices(grows=True)) > 10
    assert all(step != other.step and other.form == PAIR for step, other in choices(grows=True))


def arguments_of(step: Step) -> list[ResultValue]:
    values = step.arguments if isinstance(step, ApiCall) else ()
    return [value for value in values if isinstance(value, ResultValue)]


def test_sizes_change_together_with_lists_of_sizes() -> None:
    view = ApiCall(
        api="torch.reshape",
        kind=CallKind.FUNCTION,
        arguments=(WIDE, TupleValue((LiteralValue(3), LiteralValue(2)))),
    )

    changed = resized(view, {2: 4, 3: 5})

    tensor, shape = changed.arguments
    assert isinstance(tensor, TensorValue)
    assert tensor.shape == (4, 5)
    assert shape == TupleValue((LiteralValue(5), LiteralValue(4)))


def test_sizes_change_only_by_a_function() -> None:
    assert size_changes((3, 3), (4, 5)) is None
    assert size_changes((2, 3), (4, 4)) == {2: 4, 3: 4}
    assert size_changes((2,), (2, 3)) is None


def test_a_use_is_fitted_to_the_tensor() -> None:
    use = SampleUse(sample("a.b", WIDE, WIDE), 0)

    call_ = fitted(use, TensorValue("float32", (7, 1), Explicit((0.0,) * 7)))

    assert call_ is not None
    (argument,) = call_.arguments
    assert isinstance(argument, TensorValue)
    assert argument.shape == (7, 1)


def test_a_sample_survives_a_round_trip() -> None:
    item = sample("torch.sum", SQUARE, PAIR)

    assert sample_from_json(json.loads(json.dumps(item.to_json()))) == item


def test_an_api_that_a_compiler_does_not_support_is_banned() -> None:
    known = store_of(sample("torch.exp", PAIR, PAIR))

    assert compose(random.Random(0), known, calls=2)
    known.blame("torch.exp", is_certain=False)
    assert compose(random.Random(0), known, calls=2)
    known.blame("torch.exp", is_certain=False)

    assert compose(random.Random(0), known, calls=2) == ()


def passed(trees: list[Any]) -> Outcome:
    return Passed(json.dumps(["L", "list", trees, len(trees)]).encode(), 0.0)


TENSOR = ["T", "float32", [2], "AACAPwAAAEA="]
"""The encoded tensor (1, 2)."""


def test_a_probe_keeps_the_steps_that_passed() -> None:
    case = graph(
        PAIR,
        call("torch.checked", result(0)),
        call("torch.exp", result(1, SQUARE)),
        call("torch.neg", result(2, SQUARE)),
    )

    left = probed(case, passed([TENSOR, ["s", "ValueError"], TENSOR, TENSOR]))

    assert left is not None
    exp, neg = left.steps
    assert isinstance(exp, ApiCall)
    assert exp.arguments == (SQUARE,)
    assert isinstance(neg, ApiCall)
    assert neg.arguments == (result(0, PAIR),)
    assert [(item.call.api, item.call.arguments) for item in left.samples] == [
        ("torch.exp", (SQUARE,)),
        ("torch.neg", (PAIR,)),
    ]


def test_samples_that_are_compiled_alone_have_the_most_arguments_and_other_forms() -> None:
    long, short = call("a.b", PAIR, PAIR), call("a.b", PAIR)
    known = [Sample(each, (PAIR,), is_sequence=False) for each in (short, long, long)]
    other = sample("a.b", WIDE, WIDE)

    assert singles(known, 1) == [(long,)]
    assert singles(known, 2) == [(long,), (short,)]
    assert len(singles([*known, other, sample("a.c", WIDE, WIDE)], 2)) == 3


def test_a_sample_with_fractions_of_both_signs_is_compiled_first() -> None:
    forms = (
        TensorValue("int64", (2,), Explicit((-1, 1))),
        PAIR,
        TensorValue("float32", (2, 2), Uniform(1, -1.0, 1.0)),
    )
    known = [sample("a.b", form, form) for form in forms]

    assert singles(known, 1) == [(call("a.b", forms[2]),)]


def test_a_probe_that_did_not_return_shows_nothing() -> None:
    assert probed(graph(PAIR), Rejected("ValueError", "no")) is None


# --- the level ----------------------------------------------------------------------------------


RECORDS = [
    ApiRecord(
        api=f"torch.f{number}",
        kind=CallKind.FUNCTION,
        parameters=(ParameterRecord(name="input", required=True, annotation="Tensor"),),
    )
    for number in range(3)
]
SIZES = GraphSizes(calls=4, unit=2)


def run_level(level: GraphLevel, batches: int) -> list[tuple[GraphCase, ...]]:
    """Run batches whose calls all return a pair of numbers; feedback has its usual delay."""
    waiting: list[Any] = []
    ran = []
    for index in range(batches):
        if len(waiting) >= 6:
            level.update(json.loads(json.dumps(waiting.pop(0))))
        batch = level.cases(index)
        assert batch == level.cases(index)
        cases = tuple(case for case in batch.cases if isinstance(case, GraphCase))
        ran.append(cases)
        assert batch.is_eager == cases[0].is_probe
        outcomes = [passed([TENSOR] * len(case.steps)) for case in cases]
        waiting.append(level.feedback(index, batch, {"torch": outcomes}))
    return ran


def test_probed_graphs_run_in_units_after_a_delay() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)

    ran = run_level(level, 24)

    units = [case for cases in ran for case in cases if not case.is_probe]
    assert units
    assert all(case_from_json(case_to_json(case)) == case for case in units)
    assert all(len(case.outputs) >= 1 for case in units)
    kinds = [cases[0].is_probe for cases in ran[-8:]]
    assert all(first != second for first, second in pairwise(kinds))


def test_each_api_is_compiled_alone_before_graphs_are_composed() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)

    ran = run_level(level, 10)

    first = next(case for cases in ran for case in cases if not case.is_probe)
    assert set(first.apis) == {record.api for record in RECORDS}
    assert first.outputs == tuple(range(len(first.steps)))
    assert not any(True for step in first.steps for _ in results_used(step))


def test_graphs_are_composed_between_samples() -> None:
    records = [replace(RECORDS[0], api=f"torch.g{number}") for number in range(16 * 12)]
    level = GraphLevel(records, 5, SIZES)

    ran = run_level(level, 36)

    kinds = [level.schedule.kind(index) for index in range(36)]
    assert kinds[::2] == [BatchKind.SAMPLES, BatchKind.SAMPLES, BatchKind.PROBE] * 6
    assert set(kinds[1::2]) == {BatchKind.UNITS}
    samples = [cases for cases, kind in zip(ran, kinds, strict=True) if kind is BatchKind.SAMPLES]
    assert {case.api for cases in samples for case in cases} == {r.api for r in records}
    chained = [
        any(
            results_used(step) for case in cases for step in case.steps if isinstance(step, ApiCall)
        )
        for cases in ran
        if not cases[0].is_probe
    ]
    assert any(chained)
    assert not level.schedule.is_sampling(36)
    assert level.schedule.kind(36) is BatchKind.PROBE


def test_graphs_between_samples_fill_one_unit() -> None:
    records = [replace(RECORDS[0], api=f"torch.g{number}") for number in range(16 * 6)]

    ran = run_level(GraphLevel(records, 5, SIZES), 40)

    during, after = ran[10], ran[38]
    assert [len(cases) for cases in (during, after)] == [3, 12]
    assert all(case.is_probe and len(case.calls) > 1 for case in (*during, *after))


def test_a_library_that_compiles_calls_gets_fewer_of_each_api() -> None:
    level = GraphLevel(RECORDS * 9, 5, replace(SIZES, is_slow=True))

    ran = run_level(level, 24)

    assert len(ran[0]) == 8 * 4
    assert all(len(cases) == 1 for cases in ran if not cases[0].is_probe)


def test_a_compiled_api_comes_first() -> None:
    known = store_of(sample("torch.exp", PAIR, PAIR), sample("torch.sin", PAIR, PAIR))
    known.clear("torch.sin")
    known.note(["torch.sin"] * 9, [("torch.sin", "torch.sin")] * 9)

    graphs = [compose(random.Random(seed), known, calls=3) for seed in range(20)]

    used = Counter(step.api for steps in graphs for step in steps if isinstance(step, ApiCall))
    assert used["torch.sin"] > 5 * used["torch.exp"]


def test_sizes_change_as_often_as_is_set() -> None:
    tall = TensorValue("float32", (4, 3), Explicit((1.0,) * 12))
    drawn = {}
    for share in (0.0, 1.0):
        known = SampleStore(resizing=share)
        known.add(sample("torch.exp", WIDE, WIDE))
        known.add(sample("torch.sin", tall, tall))
        rng = random.Random(1)
        uses = [known.user_of(WIDE, "", rng) for _ in range(40)]
        drawn[share] = {use.sample.call.api for use in uses if use is not None}

    assert drawn == {0.0: {"torch.exp"}, 1.0: {"torch.exp", "torch.sin"}}


def test_units_of_graphs_without_calls_in_place_may_have_gradients() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, gradient_share=1.0))

    units = [case for cases in run_level(level, 24) for case in cases if not case.is_probe]

    assert units
    assert all(case.has_gradients for case in units)


def test_graphs_that_take_larger_tensors_run_with_two_sizes() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, growing_share=1.0, gradient_share=1.0))

    composed = [case for cases in run_level(level, 24) for case in cases if len(case.calls) > 1]
    probes = [case for case in composed if case.is_probe]
    units = [case for case in composed if not case.is_probe]

    assert all(case.grows for case in probes)
    assert any(case.grows for case in units)
    assert not any(case.grows and case.has_gradients for case in units)


def test_graphs_that_take_a_second_example_run_for_both() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, mapped_share=1.0, gradient_share=1.0))

    composed = [case for cases in run_level(level, 24) for case in cases if len(case.calls) > 1]
    units = [case for case in composed if case.is_mapped and not case.is_probe]

    assert units
    assert all(case.is_mapped for case in composed if case.is_probe)
    assert not any(case.has_gradients for case in units)
    assert all(case_from_json(case_to_json(case)) == case for case in units)


def test_some_units_are_compiled_with_options() -> None:
    sizes = replace(SIZES, option_share=0.5, options=("few", "many"))
    batches = run_level(GraphLevel(RECORDS, 5, sizes), 60)
    units = [case for cases in batches for case in cases if not case.is_probe]

    assert {case.options for case in units} == {"", "few", "many"}
    assert all(case_from_json(case_to_json(case)) == case for case in units)
    assert not any(case.options for cases in batches for case in cases if case.is_probe)


_CALL = graph(call("torch.f0", PAIR), outputs=(0,))


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(replace(_CALL, grows=True), id="grows"),
        pytest.param(replace(_CALL, is_mapped=True), id="is_mapped"),
        pytest.param(replace(_CALL, has_gradients=True), id="has_gradients"),
    ],
)
def test_a_unit_that_fails_everywhere_runs_again_without_its_condition(unit: GraphCase) -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    batch = Batch(api=unit.api, kind=CallKind.FUNCTION, cases=(unit,))
    failed = Rejected("TypeError", "not differentiable")

    level.update(level.feedback(19, batch, {"eager": [failed], "compile": [failed]}))
    retried = next(
        case
        for index in range(20, 40)
        for case in level.cases(index).cases
        if isinstance(case, GraphCase) and case.steps == unit.steps and not case.is_probe
    )

    conditions = (retried.grows, retried.is_mapped, retried.has_gradients)
    assert conditions == (False, False, False)


def test_graphs_with_autocast_are_no_samples() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, autocast_share=1.0, gradient_share=1.0))

    composed = [case for cases in run_level(level, 24) for case in cases if len(case.calls) > 1]
    probes = [case for case in composed if case.is_probe]
    units = [case for case in composed if not case.is_probe and case.autocast]

    assert units
    assert {case.autocast for case in probes} == {"bfloat16"}
    assert not any(case.has_gradients for case in units)
    assert all(case_from_json(case_to_json(case)) == case for case in units)
    batch = Batch(api=probes[0].api, kind=CallKind.FUNCTION, cases=(probes[0],))
    outcome = passed([TENSOR] * len(probes[0].steps))
    feedback = level.feedback(4, batch, {"torch": [outcome]})
    assert feedback["conditions"] == {"autocast": "bfloat16"}
    assert (len(feedback["graphs"]), feedback["samples"]) == (1, [])


def test_the_tensors_of_a_batch_lie_in_memory_in_the_same_way() -> None:
    layouts = ("reversed", "stepped")
    level = GraphLevel(RECORDS, 5, replace(SIZES, layout_share=1.0, layouts=layouts))

    composed = [case for cases in run_level(level, 60) for case in cases if len(case.calls) > 1]
    probes = [case for case in composed if case.is_probe]
    units = [case for case in composed if not case.is_probe and case.layout]

    assert {case.layout for case in probes} == set(layouts)
    assert {case.layout for case in units} <= set(layouts)
    assert units
    assert all(case_from_json(case_to_json(case)) == case for case in units)


def test_no_call_changes_tensors_whose_elements_share_memory() -> None:
    sizes = replace(
        SIZES, layout_share=1.0, layouts=("expanded",), overlapping=frozenset({"expanded"})
    )
    level = GraphLevel(RECORDS, 5, sizes)

    ran = [case for cases in run_level(level, 60) for case in cases if case.layout]

    assert ran
    assert not any(changes_in_place(step) for case in ran for step in case.steps)


def test_apis_of_which_no_call_passed_are_sampled_again() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    (again,) = (index for index in range(2, 10) if level.schedule.kind(index) is BatchKind.MISSING)

    assert set(_apis(level.cases(again))) == {record.api for record in RECORDS}
    passed = call(RECORDS[0].api, PAIR)
    level.update({"samples": [Sample(passed, (PAIR,), is_sequence=False).to_json()]})
    assert set(_apis(level.cases(again))) == {record.api for record in RECORDS[1:]}


def _apis(batch: Batch) -> list[str]:
    return [case.api for case in batch.cases]


def test_some_units_return_copies() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, copy_share=0.5))

    ran = [case for cases in run_level(level, 60) for case in cases]

    assert {case.copies for case in ran if not case.is_probe} == {False, True}
    assert not any(case.copies for case in ran if case.is_probe)
    assert all(case_from_json(case_to_json(case)) == case for case in ran if case.copies)


def test_compiled_apis_are_called_alone_with_special_numbers() -> None:
    level = GraphLevel(
        RECORDS, 5, replace(SIZES, hard_share=1.0, keeps_special=True, gradient_share=1.0)
    )

    ran = [case for cases in run_level(level, 40) for case in cases]

    probes = [case for case in ran if case.is_special and case.is_probe]
    assert probes
    assert all(len(case.calls) == 1 for case in probes)
    assert all(case_from_json(case_to_json(case)) == case for case in probes)
    units = [case for case in ran if not case.is_probe and _has_nan(case)]
    assert units
    assert all(case.is_special and not case.has_gradients for case in units)
    assert not any(case.is_special for case in ran if not case.is_probe and not _has_special(case))


def _has_special(case: GraphCase) -> bool:
    fills = [value.fill for value in case.values if isinstance(value, TensorValue)]
    listed = [fill.data for fill in fills if isinstance(fill, Explicit)]
    return not all(math.isfinite(number) for data in listed for number in data)


def _has_nan(case: GraphCase) -> bool:
    fills = [value.fill for value in case.values if isinstance(value, TensorValue)]
    return any(any(map(math.isnan, fill.data)) for fill in fills if isinstance(fill, Explicit))


def test_every_compiled_api_is_called_alone_with_hard_numbers() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, hard_share=1.0))

    ran = [case for cases in run_level(level, 60) for case in cases]

    units = [case for case in ran if not case.is_probe and _is_hard(case)]
    compiled = {api for case in ran if not case.is_probe for api in case.apis}
    assert {api for case in units for api in case.apis} == compiled
    assert not any(case.is_special for case in ran)


def _is_hard(case: GraphCase) -> bool:
    fills = [value.fill for value in case.values if isinstance(value, TensorValue)]
    return any(isinstance(fill, Uniform) and fill.high in {1e-4, 100.0, 1e30} for fill in fills)


def test_single_calls_are_compiled_in_larger_units() -> None:
    level = GraphLevel(RECORDS, 5, replace(SIZES, hard_share=1.0, unit=1))

    ran = [case for cases in run_level(level, 60) for case in cases]

    assert max(len(case.calls) for case in ran if not case.is_probe and _is_hard(case)) > 1


def test_another_level_with_the_same_seed_makes_the_same_batches() -> None:
    first, second = (run_level(GraphLevel(RECORDS, 5, SIZES), 20) for _ in range(2))

    assert first == second


def test_the_api_that_a_compiler_does_not_support_is_blamed() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    units = next(cases for cases in run_level(level, 20) if not cases[0].is_probe)
    batch = level.cases(19)
    number = next(n for n, step in enumerate(units[0].steps) if isinstance(step, ApiCall))
    step: Step = units[0].steps[number]
    refused = Rejected("Unsupported", f"step {number}: no such operator", Stage.MODE)
    batch = type(batch)(api=batch.api, kind=batch.kind, cases=units[:1])

    feedback = level.feedback(19, batch, {"torch": [passed([])], "torch compile": [refused]})

    assert isinstance(step, ApiCall)
    assert feedback["blamed"] == [step.api]
    assert feedback["suspected"] == []
    level.update(feedback)
    (left,) = feedback["retried"]
    assert len(left) < len(units[0].steps)


UNIT = graph(call("torch.f0", PAIR), call("torch.f1", PAIR), outputs=(0, 1))
WRONG = ["T", "float32", [2], "AACAPwAAgEA="]
NEARLY = ["T", "float32", [2], "AACAP2ZmBkA="]
"""The encoded tensor (1, 2.1)."""


def judged(unit: GraphCase, results: list[Any], level: GraphLevel) -> Any:
    """Return the feedback of a unit whose eager results are all alike, and apply it."""
    batch = Batch(api=unit.api, kind=CallKind.FUNCTION, cases=(unit,))
    sides = [[TENSOR] * len(unit.outputs), results]
    if any(map(changes_in_place, unit.steps)):  # the inputs follow
        sides = [[["L", "list", side, len(side)], TENSOR] for side in sides]
    eager, compiled = map(passed, sides)
    feedback = level.feedback(19, batch, {"eager": [eager], "compile": [compiled]})
    level.update(feedback)
    return feedback


def apis_left(level: GraphLevel) -> set[str]:
    return {api for cases in run_level(level, 30)[-6:] for case in cases for api in case.apis}


def test_an_api_with_wrong_results_is_left_out_of_later_graphs() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    run_level(level, 20)

    for _ in range(3):
        feedback = judged(UNIT, [TENSOR, WRONG], level)
        assert (feedback["wrong"], feedback["right"]) == (["torch.f1"], ["torch.f0"])

    assert apis_left(level) == {"torch.f0", "torch.f2"}


def test_an_api_that_rounding_may_change_is_not_left_out() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    run_level(level, 20)

    for _ in range(6):
        feedback = judged(UNIT, [TENSOR, NEARLY], level)
        assert (feedback["wrong"], feedback["right"]) == ([], ["torch.f0"])

    assert "torch.f1" in apis_left(level)


def test_an_api_that_is_mostly_right_is_not_left_out() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    run_level(level, 20)

    for number in range(20):
        judged(UNIT, [TENSOR, TENSOR if number % 4 else WRONG], level)

    assert "torch.f1" in apis_left(level)


def test_a_call_that_writes_its_result_to_an_argument_changes_it() -> None:
    written = replace(call("torch.add", PAIR), keywords=(("out", PAIR),))
    case = graph(written, outputs=(0,))

    assert changes_in_place(written)
    assert changes_tensors(case_to_json(case)[2])
    assert not changes_in_place(call("torch.add", PAIR))
    assert not changes_tensors(case_to_json(graph(call("torch.add", PAIR), outputs=(0,)))[2])


def test_a_call_whose_result_another_changes_in_place_is_not_blamed() -> None:
    adding = call("torch.Tensor.add_", result(0), kind=CallKind.METHOD)
    unit = graph(call("torch.f1", PAIR), adding, call("torch.f0", PAIR), outputs=(0, 1, 2))

    feedback = judged(unit, [WRONG, WRONG, WRONG], GraphLevel(RECORDS, 5, SIZES))

    assert (feedback["wrong"], feedback["right"]) == (["torch.f0"], [])


def test_a_unit_with_an_error_runs_again_without_the_failing_graph() -> None:
    level = GraphLevel(RECORDS, 5, SIZES)
    unit = graph(call("torch.f0", PAIR), call("torch.f1", PAIR), outputs=(0, 1))
    batch = Batch(api=unit.api, kind=CallKind.FUNCTION, cases=(unit,))
    failed = Errored("LoweringException", "step 1: assertion")

    feedback = level.feedback(19, batch, {"a": [passed([TENSOR] * 2)], "b": [failed]})

    assert (feedback["blamed"], feedback["suspected"]) == ([], ["torch.f1"])
    assert [[step[0] for step in steps] for steps in feedback["retried"]] == [["torch.f0"]]


def feedback_of(unit: GraphCase, message: str) -> Any:
    level = GraphLevel(RECORDS, 5, SIZES)
    batch = Batch(api=unit.api, kind=CallKind.FUNCTION, cases=(unit,))
    refused = Rejected("InvalidArgumentError", message, Stage.MODE)
    return level.feedback(19, batch, {"eager": [passed([])], "xla": [refused]})


def test_a_unit_that_is_refused_without_a_step_runs_again_in_halves() -> None:
    exp, sin = call("torch.exp", PAIR), call("torch.sin", PAIR)

    feedback = feedback_of(graph(exp, sin, call("torch.cos", PAIR)), "no kernel")

    assert [[step[0] for step in steps] for steps in feedback["retried"]] == [
        ["torch.exp"],
        ["torch.sin", "torch.cos"],
    ]
    assert (feedback["blamed"], feedback["suspected"]) == ([], [])


def test_all_apis_of_a_single_graph_are_suspected_until_they_are_compiled() -> None:
    chain = graph(PAIR, call("torch.exp", result(0)), call("torch.sin", result(1)))
    known = store_of(sample("torch.exp", PAIR, PAIR))

    feedback = feedback_of(chain, "no kernel")

    assert feedback["suspected"] == ["torch.exp", "torch.sin"]
    known.clear("torch.exp")
    for _ in range(3):
        known.blame("torch.exp", is_certain=False)
    assert not known.is_banned("torch.exp")


def test_the_producer_of_an_unknown_size_is_suspected() -> None:
    chain = graph(PAIR, call("torch.bincount", result(0)), call("torch.sin", result(1)))

    feedback = feedback_of(chain, "step 2: Could not guard on data-dependent expression")

    assert (feedback["blamed"], feedback["suspected"]) == ([], ["torch.bincount"])
    assert feedback["retried"] == []
