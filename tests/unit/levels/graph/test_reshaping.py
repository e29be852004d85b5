"""Graphs with fewer steps."""

from __future__ import annotations

from dataclasses import replace

from graph_examples import CHAIN, PAIR, call, graph, graphs, result
from hypothesis import given

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.graphs import GraphCase, results_used
from ciguard.domain.values import ResultValue, TensorValue
from ciguard.levels.graph.reshaping import (
    joined,
    needed_steps,
    sliced,
    unused_steps,
    without_links,
    without_step,
)


def test_a_slice_has_only_what_its_output_needs() -> None:
    part = sliced(CHAIN, 1)

    assert part.steps == CHAIN.steps[:2]
    assert part.outputs == (1,)
    assert part.api == "torch.exp"


def test_a_slice_keeps_calls_that_change_its_tensors_in_place() -> None:
    changed = graph(
        PAIR,
        call("torch.exp", result(0)),
        call("torch.Tensor.add_", result(1), PAIR),
        call("torch.sin", result(0)),
    )

    part = sliced(changed, 1)

    assert [call.api for call in part.calls] == ["torch.exp", "torch.Tensor.add_"]
    assert part.api == "torch.Tensor.add_"


def test_a_tensor_replaces_the_result_of_a_step_that_is_left_out() -> None:
    without = without_step(CHAIN, 1)

    assert without.apis == ("torch.add", "torch.stack")
    assert without.calls[0].arguments == (PAIR, result(0))


def test_a_choice_between_results_ends_with_either_step() -> None:
    choice = replace(result(1), other=result(2), beyond=2)
    steps = (call("torch.exp", result(0)), call("torch.sin", result(0)), call("torch.cos", choice))
    case = graph(PAIR, *steps)

    moved = joined([case.steps, case.steps])[-1]
    (argument,) = moved.arguments if isinstance(moved, ApiCall) else ()
    assert argument == replace(result(5), other=result(6), beyond=2)
    assert needed_steps(case.steps, [3]) == {0, 1, 2, 3}
    assert without_step(case, 1).calls[-1].arguments == (PAIR,)
    assert without_step(case, 2).calls[-1].arguments == (result(1),)


def test_a_graph_without_its_last_call_has_the_api_of_the_call_before() -> None:
    changed = graph(PAIR, call("torch.exp", result(0)), call("torch.Tensor.add_", result(1), PAIR))
    part = sliced(changed, 1)

    assert part.api == "torch.Tensor.add_"
    assert without_step(part, 2).api == "torch.exp"


@given(graphs())
def test_every_slice_is_a_valid_graph(case: GraphCase) -> None:
    for number in range(len(case.steps)):
        part = sliced(case, number)

        assert case_from_json(case_to_json(part)) == part
        assert len(part.steps) <= len(case.steps)
        assert part.steps[part.outputs[0]].__class__ is case.steps[number].__class__


@given(graphs())
def test_a_graph_without_a_step_is_valid_and_has_fewer(case: GraphCase) -> None:
    for number in range(len(case.steps)):
        if number in case.outputs:
            continue
        without = without_step(case, number)

        assert case_from_json(case_to_json(without)) == without
        assert len(without.steps) < len(case.steps)
        assert len(without.outputs) == len(case.outputs)


@given(graphs())
def test_needed_steps_are_closed_under_use(case: GraphCase) -> None:
    needed = needed_steps(case.steps, case.outputs)

    assert needed.issuperset(case.outputs)
    for number in needed:
        assert needed.issuperset(used.step for used in results_used(case.steps[number]))


def test_joined_graphs_do_not_depend_on_each_other() -> None:
    steps = joined([CHAIN.steps, CHAIN.steps])

    assert unused_steps(steps) == (3, 7)
    assert needed_steps(steps, [7]) == {4, 5, 6, 7}


def test_a_call_without_links_has_tensors_only() -> None:
    assert without_links(CHAIN.calls[1]).arguments == (PAIR, PAIR)
    assert not any(isinstance(value, ResultValue) for value in without_links(CHAIN.calls[1]).values)
    assert all(isinstance(value, TensorValue) for value in without_links(CHAIN.calls[0]).values)
