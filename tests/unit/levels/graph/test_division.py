"""Differences that a division by the integer 0 explains."""

from __future__ import annotations

import numpy as np
import pytest
from graph_examples import call, graph

from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import Constant, Explicit, TensorValue, Uniform
from ciguard.execution.worker.summarise import Summariser
from ciguard.levels.graph.division import is_division_by_zero


class _NoTensors:
    """Adapter of a library without tensors: results are numpy arrays."""

    def read(self, output: object) -> None:
        del output


def passed(*values: float, dtype: str = "int32") -> Outcome:
    return Passed(Summariser(_NoTensors()).encode(np.array(values, dtype)), 0.0)


ZERO = graph(call("tensorflow.math.mod", TensorValue("int32", (2,), Explicit((0, 2)))))


@pytest.mark.parametrize("fill", [Constant(0), Explicit((3, 0)), Uniform(1, -3.0, 3.0)])
def test_a_quotient_by_zero_may_differ(fill: Constant | Explicit | Uniform) -> None:
    case = graph(call("tensorflow.math.mod", TensorValue("int32", (2,), fill)))

    assert is_division_by_zero(case, passed(0, 1), passed(-1, 1))


def test_other_integers_are_no_quotients_by_zero() -> None:
    assert not is_division_by_zero(ZERO, passed(0, 1), passed(-1, 2))
    assert not is_division_by_zero(ZERO, passed(0, 1), passed(0, 1))
    assert not is_division_by_zero(ZERO, passed(0, 1), passed(-1))
    floats = passed(0.0, dtype="float32"), passed(-1.0, dtype="float32")
    assert not is_division_by_zero(ZERO, *floats)


@pytest.mark.parametrize(
    "tensor",
    [TensorValue("int32", (2,), Explicit((1, 2))), TensorValue("float32", (2,), Constant(0))],
)
def test_a_graph_without_an_integer_zero_divides_by_none(tensor: TensorValue) -> None:
    assert not is_division_by_zero(graph(call("a.b", tensor)), passed(0, 1), passed(-1, 1))
