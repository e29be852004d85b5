"""Scripts, simpler variants and words of graphs."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from graph_examples import CHAIN, PAIR, call, graph, graphs, result
from hypothesis import given

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.graphs import GraphCase
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import TensorValue
from ciguard.levels.graph.reshaping import sliced
from ciguard.levels.graph.script import graph_script
from ciguard.levels.graph.simplifying import perturbed_graph, simpler_graphs
from ciguard.levels.graph.spec import LEVEL
from ciguard.triage import EnvironmentHint
from ciguard.triage.reductions import reductions

ONE = b'["T","float32",[2],"AACAPwAAAEA="]'
OTHER = b'["T","float32",[2],"AACAPwAAgEA="]'


def finding(case: GraphCase) -> Finding:
    return Finding(
        oracle="differential",
        kind="values",
        severity=Severity.HIGH,
        library="torch",
        api=case.api,
        case=case,
        outcomes={"torch": Passed(ONE, 0.0), "torch compile": Passed(OTHER, 0.0)},
        targets=("torch", "torch compile"),
        pair=PairKind.MODE,
        message="differs",
    )


def script(case: GraphCase, mode: str = "compile") -> str:
    return graph_script(finding(case), EnvironmentHint(install=("torch==2.13.0",), mode=mode))


def test_the_script_defines_the_graph_as_a_function_and_compiles_it() -> None:
    text = script(CHAIN)

    ast.parse(text)
    assert "def graph(x0, x1):" in text
    assert "    v1 = torch.exp(x0)\n    v2 = torch.add(v1, x0)\n" in text
    assert "result = torch.compile(graph, fullgraph=True)(x0, x1)" in text


def test_the_script_of_a_graph_that_changes_its_inputs_compares_them() -> None:
    text = script(
        graph(
            PAIR,
            call("torch.chunk", result(0)),
            call("torch.Tensor.add_", result(1, item=0), PAIR, kind=CallKind.METHOD),
            outputs=(1,),
        )
    )

    ast.parse(text)
    assert "v2 = v1[0].add_(x1)" in text
    assert "result = [result, [x0, x1]]" in text


def test_the_script_of_gradients_computes_them() -> None:
    text = script(replace(CHAIN, has_gradients=True))

    ast.parse(text)
    assert "for x in (x0, x1) if x.is_floating_point()" in text
    assert "torch.autograd.grad(weighted_sum(result), inputs, allow_unused=True)" in text


def test_the_script_passes_the_options_to_the_compiler() -> None:
    text = script(replace(CHAIN, options="little fusion", has_gradients=True))

    ast.parse(text)
    options = "{'max_fusion_size': 2, 'epilogue_fusion': False}"
    assert f"torch.compile(graph, fullgraph=True, options={options})(x0, x1)" in text


def test_the_script_sets_the_options_of_grappler_before_the_call() -> None:
    add = call("tensorflow.add", PAIR, PAIR)
    case = replace(graph(PAIR, add, outputs=(1,)), options="no folding")
    hint = EnvironmentHint(install=("tensorflow-cpu==2.21.0",), mode="function")

    text = graph_script(replace(finding(case), library="tensorflow"), hint)

    ast.parse(text)
    setting = "tf.config.optimizer.set_experimental_options({'constant_folding': False})\n"
    assert setting in text.partition("result = tf.function(graph)(x0)")[0]


@pytest.mark.parametrize(
    ("mode", "lines"),
    [
        (
            "jit",
            (
                "graph = jax.vmap(graph)\n    result = jax.jit(graph)(*stacked)\n"
                "    result = [jax.tree.map(lambda array: array[place], result)"
            ),
        ),
        (
            "eager",
            (
                "flipped_x1 = jnp.flip(x1)\n    again = graph(flipped_x0, flipped_x1)\n"
                "    result = [result, again]"
            ),
        ),
    ],
)
def test_the_script_of_two_examples_computes_both_at_once_in_a_compiler(
    mode: str, lines: str
) -> None:
    of_jax = replace(finding(replace(CHAIN, is_mapped=True)), library="jax")

    text = graph_script(of_jax, EnvironmentHint(install=("jax==0.10.2",), mode=mode))

    ast.parse(text)
    assert lines in text


def test_the_script_of_two_sizes_runs_the_graph_again_with_larger_tensors() -> None:
    text = script(replace(CHAIN, grows=True))

    ast.parse(text)
    assert "larger_x1 = x1.repeat([2 if size > 1 else 1 for size in x1.shape])" in text
    assert "again = torch.compile(graph, fullgraph=True)(larger_x0, larger_x1)" in text
    assert "result = [result, again]" in text


@pytest.mark.parametrize("mode", ["compile", "aot_eager"])
def test_the_script_of_autocast_runs_the_graph_in_its_context(mode: str) -> None:
    text = script(replace(CHAIN, autocast="bfloat16"), mode)

    ast.parse(text)
    before, _, block = text.partition(
        "with torch.autocast(torch.get_default_device().type, dtype=torch.bfloat16):\n"
    )
    assert "torch.compile" not in before
    first = block.splitlines()[0]
    assert first.lstrip().startswith("result = torch.compile(graph, ")


CHOOSING = graph(
    PAIR,
    call("torch.exp", result(0)),
    call("torch.sin", replace(result(1), other=result(0), beyond=2)),
)
"""A graph whose last call uses its input if the tensors are larger."""


def test_the_script_chooses_a_result_by_its_size() -> None:
    text = script(replace(CHOOSING, grows=True))

    ast.parse(text)
    assert "v2 = torch.sin((v1 if v1.shape[0] <= 2 else x0))" in text


def test_a_graph_is_tried_without_choices() -> None:
    arguments = [case.calls[-1].arguments for case in simpler_graphs(CHOOSING)]

    assert (result(1),) in arguments
    assert (result(0),) in arguments


@pytest.mark.parametrize("mode", ["compile", "trace"])
@pytest.mark.parametrize("layout", ["expanded", "reversed", "shifted", "sliding", "stepped"])
def test_the_script_lays_its_inputs_out_before_they_are_used(layout: str, mode: str) -> None:
    text = script(replace(CHAIN, layout=layout), mode)

    ast.parse(text)
    before, _, after = text.partition("def graph(")
    bound = [line for line in before.splitlines() if line.startswith(("x0 = ", "x1 = "))]
    assert ["torch.tensor(" in line for line in bound] == [True, True, False, False]
    assert "torch.tensor(" not in after


def test_a_graph_is_tried_with_contiguous_tensors() -> None:
    case = replace(CHAIN, layout="stepped")

    assert next(simpler_graphs(case)) == CHAIN
    assert LEVEL.origin_rows(case, lambda name: name)[-1] == ("inputs in memory", "stepped")


def test_the_script_defines_how_results_are_copied() -> None:
    case = replace(CHAIN, copies=True)
    text = script(case)

    ast.parse(text)
    assert text.index("def copied(result):") < text.index("def graph(") < text.index("copied(v")
    assert "copied" not in script(CHAIN)
    assert next(simpler_graphs(case)) == CHAIN


def test_a_graph_is_tried_without_autocast() -> None:
    assert next(simpler_graphs(replace(CHAIN, autocast="bfloat16"))) == CHAIN


def test_a_graph_with_autocast_is_as_precise_as_the_lower_type() -> None:
    plain, low = CHAIN, replace(CHAIN, autocast="bfloat16")

    assert LEVEL.inputs(plain).epsilon == 2**-23
    assert LEVEL.inputs(low).epsilon == 2**-7
    assert LEVEL.origin_rows(low, lambda name: name)[-1] == ("autocast", "bfloat16")


@pytest.mark.parametrize("mode", ["export", "trace"])
@pytest.mark.parametrize("case", [CHAIN, graph(PAIR, call("torch.exp", result(0)))])
def test_a_mode_is_prepared_for_the_larger_tensors_again(case: GraphCase, mode: str) -> None:
    text = script(replace(case, grows=True), mode)

    ast.parse(text)
    names = "larger_x0, larger_x1" if case is CHAIN else "larger_x0,"
    again = text.partition("larger_x0 = ")[2]
    if mode == "export":
        runs = f"again = torch.export.export(Module(), ({names})).module()({names.rstrip(',')})\n"
        assert runs in again
        assert text.count("class Module") == 1
    else:
        assert f"copies = tuple(tensor.__deepcopy__({{}}) for tensor in ({names}))\n" in again
        assert f"check_trace=False)({names.rstrip(',')})\n" in again


def test_the_script_of_a_layer_records_no_gradients_unless_they_are_compared() -> None:
    layer = ApiCall(api="torch.nn.ReLU", kind=CallKind.LAYER, arguments=(), inputs=(result(0),))
    case = graph(PAIR, layer)

    assert "\ntorch.set_grad_enabled(False)\n" in script(case)
    assert "set_grad_enabled" not in script(replace(case, has_gradients=True))
    assert "set_grad_enabled" not in script(CHAIN)


def test_the_script_of_an_eager_graph_calls_it() -> None:
    assert "result = graph(x0, x1)" in script(CHAIN, mode="eager")


@given(graphs())
def test_every_variant_is_a_valid_graph_with_the_same_last_output(case: GraphCase) -> None:
    for variant in simpler_graphs(case):
        assert case_from_json(case_to_json(variant)) == variant
        assert len(variant.outputs) == len(case.outputs)
        assert variant.api == case.api


def test_no_variant_leaves_out_the_call_that_the_finding_names() -> None:
    changed = graph(PAIR, call("torch.exp", result(0)), call("torch.Tensor.add_", result(1), PAIR))
    case = sliced(changed, 1)

    assert all("torch.Tensor.add_" in variant.apis for variant in simpler_graphs(case))


def test_reductions_end_at_a_single_call() -> None:
    case = CHAIN
    while simpler := reductions(case):
        smallest = simpler[0]
        assert isinstance(smallest, GraphCase)
        case = smallest

    assert [call_.api for call_ in case.calls] == ["torch.stack"]


def test_all_tensors_are_perturbed() -> None:
    def move(values: object) -> tuple[TensorValue, ...]:
        assert isinstance(values, list | tuple)
        return tuple(
            replace(value, dtype="float64") if isinstance(value, TensorValue) else value
            for value in values
        )

    moved = perturbed_graph(CHAIN, move)

    assert isinstance(moved.steps[0], TensorValue)
    assert moved.steps[0].dtype == "float64"
    assert moved.calls[0] == CHAIN.calls[0]


def test_reports_name_the_calls_and_the_stage() -> None:
    rows = LEVEL.origin_rows(replace(CHAIN, stage="fusion"), lambda name: name)

    assert rows == [
        ("calls", "torch.exp → torch.add → torch.stack"),
        ("stage of the compiler", "fusion"),
    ]
    assert LEVEL.without_place("step 12: no such stride") == "no such stride"


def test_a_stage_is_part_of_the_difference() -> None:
    outcomes = Passed(ONE, 0.0), Passed(OTHER, 0.0)
    inputs = LEVEL.inputs(CHAIN)

    plain = LEVEL.compare(CHAIN, *outcomes, inputs)
    staged = LEVEL.compare(replace(CHAIN, stage="fusion"), *outcomes, inputs)

    assert plain is not None
    assert staged is not None
    assert (plain.detail, staged.detail) == ("", "fusion")
