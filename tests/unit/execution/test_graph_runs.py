"""Graphs as workers run them, with an adapter whose tensors are numpy's arrays."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from arrays_library import ArraysAdapter
from graph_examples import PAIR, SQUARE, call, graph, result

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_to_json
from ciguard.domain.values import Explicit, LiteralValue, TensorValue, TupleValue
from ciguard.execution import Container, Scalar, TensorOutput, decode_outputs
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.build import Builder
from ciguard.execution.worker.graphs import UNUSABLE, Graph
from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.modes import ModeExecutor

if TYPE_CHECKING:
    from ciguard.domain.graphs import GraphCase


def run(case: GraphCase, mode: str = "") -> tuple[int, Any]:
    """Run a graph; return the status, and the output or the error's class and message."""
    executor = ModeExecutor(ArraysAdapter(), mode) if mode else Executor(ArraysAdapter())
    status, payload = executor.execute(case_to_json(case))
    return status, decode_outputs(payload) if status == cells.PASSED else payload.decode()


def numbers(output: Any) -> list[float]:
    assert isinstance(output, TensorOutput)
    return [round(float(number), 4) for number in output.elements]


def test_calls_use_the_results_of_earlier_calls() -> None:
    case = graph(
        PAIR,
        call("arrays.split", result(0), LiteralValue(2)),
        call("arrays.add", result(1, item=0), result(1, item=1)),
        call("arrays.concatenate", TupleValue((result(2), result(0)))),
    )

    status, output = run(case)

    assert (status, numbers(output)) == (cells.PASSED, [3.0, 1.0, 2.0])


def test_layers_and_methods_take_results() -> None:
    layer = ApiCall(
        api="arrays.Scale",
        kind=CallKind.LAYER,
        arguments=(LiteralValue(2.0),),
        inputs=(result(0),),
    )
    case = graph(PAIR, layer, call("arrays.ndarray.sum", result(1), kind=CallKind.METHOD))

    status, output = run(case)

    assert status == cells.PASSED
    assert output == Scalar("O", "float32") or numbers(output) == [6.0]


def test_several_outputs_are_a_tuple() -> None:
    case = graph(PAIR, call("arrays.negative", result(0)), outputs=(0, 1))

    _, output = run(case)

    assert isinstance(output, Container)
    assert [numbers(item) for item in output.items] == [[1.0, 2.0], [-1.0, -2.0]]


def test_a_graph_that_changes_its_inputs_returns_them() -> None:
    _, output = run(graph(PAIR, call("arrays.add_", result(0), PAIR)))

    assert isinstance(output, Container)
    _, inputs = output.items
    assert isinstance(inputs, Container)
    assert [numbers(item) for item in inputs.items] == [[2.0, 4.0], [1.0, 2.0]]


def test_a_failure_names_the_step() -> None:
    status, text = run(graph(PAIR, call("arrays.checked", result(0))))

    assert status == cells.REJECTED
    assert text == '["ValueError","step 1: the shape (2,) is wrong"]'


def test_a_wide_graph_computes_in_double_precision() -> None:

    _, output = run(replace(graph(PAIR, call("arrays.exp", result(0))), is_wide=True))

    assert isinstance(output, TensorOutput)
    assert output.dtype == "float64"


@pytest.mark.parametrize(("stage", "expected"), [("", [-3.0, -6.0]), ("doubled", [-2.0, -4.0])])
def test_a_mode_runs_a_graph_wholly_or_up_to_a_stage(stage: str, expected: list[float]) -> None:

    case = replace(graph(PAIR, call("arrays.negative", result(0))), runs_stage=stage)

    status, output = run(case, "tripled")

    assert (status, numbers(output)) == (cells.PASSED, expected)


def test_a_probe_leaves_out_steps_that_fail_or_are_unusable() -> None:

    case = replace(
        graph(
            PAIR,
            call("arrays.checked", result(0)),
            call("arrays.negative", result(1)),
            call("arrays.log", result(2)),
            call("arrays.noise", result(0)),
            call("arrays.shape", result(0)),
        ),
        is_probe=True,
    )

    with np.errstate(invalid="ignore"):
        status, output = run(case)

    assert status == cells.PASSED
    assert isinstance(output, Container)
    _, checked_, negative, log, noise, shape = output.items
    assert checked_ == Scalar("s", "ValueError")
    assert numbers(negative) == [-1.0, -2.0]
    assert log == noise == shape == Scalar("s", UNUSABLE)


def test_a_probe_of_special_numbers_keeps_results_that_are_not_finite() -> None:
    given = TensorValue("float32", (2,), Explicit((0.0, math.nan)))
    steps = [call(f"arrays.{name}", given) for name in ("log", "isnan", "argsort")]
    case = replace(graph(*steps), is_probe=True)

    def usable(probe: GraphCase) -> list[bool]:
        with np.errstate(divide="ignore"):
            _, output = run(probe)
        assert isinstance(output, Container)
        return [not isinstance(item, Scalar) for item in output.items]

    assert usable(replace(case, is_special=True)) == [True, True, False]
    assert usable(case) == [False, True, True]


def test_a_graph_runs_a_second_time_with_larger_tensors() -> None:
    case = replace(graph(PAIR, call("arrays.negative", result(0))), grows=True)

    _, output = run(case)

    assert isinstance(output, Container)
    assert [numbers(item) for item in output.items] == [[-1.0, -2.0], [-1.0, -2.0] * 2]


def test_a_probe_leaves_out_steps_that_fail_with_larger_tensors() -> None:
    shape = TupleValue((LiteralValue(2), LiteralValue(1)))
    steps = PAIR, call("arrays.reshape", result(0), shape), call("arrays.negative", result(0))
    case = replace(graph(*steps), is_probe=True)

    outputs = [run(replace(case, grows=grows))[1] for grows in (False, True)]

    kept = [[isinstance(item, TensorOutput) for item in output.items] for output in outputs]
    assert kept == [[True, True, True], [True, False, True]]


def test_a_division_by_zero_is_an_error_if_a_case_asks_so() -> None:
    zero = TensorValue("int32", (2,), Explicit((0, 3)))
    case = graph(call("arrays.remainder", zero, zero))

    with np.errstate(divide="ignore"):
        assert run(case)[0] == cells.PASSED
    assert "FloatingPointError" in run(replace(case, raises_division=True))[1]


def test_copies_of_results_share_no_memory_with_each_other() -> None:
    split = call("arrays.split", result(0), LiteralValue(2))
    case = graph(PAIR, split, outputs=(0, 1))
    adapter = ArraysAdapter()

    for copies in (False, True):
        encoded = case_to_json(replace(case, copies=copies))[2]
        built = Graph(encoded, Builder(adapter), adapter)
        function = built.function(encoded)
        whole, parts = function(*built.tensors)
        assert [np.may_share_memory(whole, part) for part in parts] == [not copies] * 2
        _, output = run(replace(case, copies=copies))
        assert numbers(output.items[0]) == [1.0, 2.0]


def test_tensors_lie_in_memory_as_a_case_asks() -> None:
    case = graph(SQUARE, call("arrays.isfortran", result(0, SQUARE)), outputs=(0, 1))

    for layout, is_fortran in (("", False), ("fortran", True)):
        status, output = run(replace(case, layout=layout))
        assert status == cells.PASSED
        assert output.items[1] == Scalar("o", str(int(is_fortran)))
