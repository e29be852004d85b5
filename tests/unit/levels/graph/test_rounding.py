"""Differences that rounding explains, and differences that it does not."""

from __future__ import annotations

import numpy as np
import pytest

from ciguard.domain.outcomes import Outcome, Passed, Rejected
from ciguard.execution.worker.summarise import Summariser
from ciguard.levels.graph.rounding import is_rounding
from ciguard.oracles.comparing import InputPrecision

INPUTS = InputPrecision(epsilon=2.0**-23, scale=1.0)


class _NoTensors:
    """Adapter of a library without tensors: results are numpy arrays."""

    def read(self, output: object) -> None:
        del output


def passed(*values: float, dtype: str = "float32") -> Outcome:
    return Passed(Summariser(_NoTensors()).encode(np.array(values, dtype)), 0.0)


def test_an_effect_of_moved_inputs_explains_a_difference_of_its_size() -> None:
    pair = passed(1.0), passed(1.01)

    assert is_rounding(pair, None, [passed(1.002)], INPUTS)
    assert not is_rounding(pair, None, [passed(1.0000001)], INPUTS)


def test_a_compiler_that_is_as_exact_as_eager_execution_is_right() -> None:
    pair = passed(1.0), passed(1.01)

    assert is_rounding(pair, passed(1.009, dtype="float64"), [passed(1.0)], INPUTS)
    assert not is_rounding(pair, passed(1.0, dtype="float64"), [passed(1.0)], INPUTS)


def test_an_integer_that_moved_inputs_change_is_decided_by_rounding() -> None:
    pair = passed(1, 2, dtype="int64"), passed(2, 2, dtype="int64")

    assert is_rounding(pair, None, [passed(2, 1, dtype="int64")], INPUTS)
    assert not is_rounding(pair, None, [passed(1, 2, dtype="int64")], INPUTS)
    assert is_rounding(pair, passed(2, 2, dtype="int64"), [passed(1, 2, dtype="int64")], INPUTS)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_a_special_number_is_explained_only_by_another_run_that_has_it(special: float) -> None:
    pair = passed(1.0), passed(special)

    assert not is_rounding(pair, passed(1.0, dtype="float64"), [passed(1.0)], INPUTS)
    assert is_rounding(pair, None, [passed(1.0), passed(special)], INPUTS)


def test_a_graph_that_fails_for_moved_inputs_is_given_up() -> None:
    refusal = Rejected("ValueError", "singular")

    assert is_rounding((passed(1.0), passed(2.0)), None, [refusal], INPUTS)


def several(*arrays: list[float]) -> Outcome:
    results = [np.array(numbers, "float32") for numbers in arrays]
    return Passed(Summariser(_NoTensors()).encode(results), 0.0)


def test_counts_may_differ_beside_edges_that_are_rounded() -> None:
    eager = several([1, 0], [-0.5, 3.7e-9, 0.5])

    assert is_rounding((eager, several([0, 1], [-0.5, 0.0, 0.5])), None, [eager], INPUTS)
    assert not is_rounding((eager, several([0, 1], [-0.5, 3.7e-9, 0.5])), None, [eager], INPUTS)
    assert not is_rounding((eager, several([0, 1], [-0.5, 0.1, 0.5])), None, [eager], INPUTS)
    assert not is_rounding((eager, several([0, 0.5], [-0.5, 0.0, 0.5])), None, [eager], INPUTS)


def test_other_shapes_are_never_rounding() -> None:
    assert not is_rounding((passed(1.0), passed(1.0, 2.0)), None, [passed(1.0)], INPUTS)
