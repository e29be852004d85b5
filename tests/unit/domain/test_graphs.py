"""Graph cases: their JSON form, and what they report about themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_examples import CHAIN, PAIR, call, graph, graphs, result
from hypothesis import given

from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.graphs import GraphCase, results_used


@given(graphs())
def test_any_graph_survives_a_round_trip_through_json(case: GraphCase) -> None:
    assert case_from_json(case_to_json(case)) == case


def test_a_probe_and_a_stage_survive_a_round_trip() -> None:
    case = replace(CHAIN, is_probe=True, is_wide=True, grows=True, raises_division=True)
    case = replace(case, stage="fusion", runs_stage="dynamo", copies=True)

    assert case_from_json(case_to_json(case)) == case


def test_a_graph_names_its_apis_once_and_in_order() -> None:
    case = graph(PAIR, call("torch.exp", result(0)), call("torch.exp", result(1)))

    assert case.apis == ("torch.exp",)
    assert case.label == "torch.exp → torch.exp"


def test_results_are_found_within_lists() -> None:
    assert [used.step for used in results_used(CHAIN.steps[3])] == [2]


@pytest.mark.parametrize(
    "case",
    [
        graph(PAIR, call("torch.exp", result(1))),  # itself
        graph(call("torch.exp", result(1)), PAIR),  # a later step
        graph(PAIR, outputs=(1,)),
    ],
)
def test_a_graph_whose_steps_do_not_exist_is_malformed(case: GraphCase) -> None:
    with pytest.raises(ValueError, match="malformed graph case"):
        case_from_json(case_to_json(case))


def test_a_step_that_is_neither_tensor_nor_call_is_malformed() -> None:
    encoded = case_to_json(CHAIN)
    encoded[2]["steps"][0] = ["t", "float32"]

    with pytest.raises(ValueError, match="malformed"):
        case_from_json(encoded)
