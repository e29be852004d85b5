"""Encoding of observed operators in the worker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ciguard.domain.values import value_from_json, value_to_json
from ciguard.execution.worker.observing import OperatorLog
from ciguard.libraries.in_target.observed import MadeTensor, NamedArgument


class Arrays:
    """Adapter of a library whose tensors are numpy arrays."""

    def read(self, value: Any) -> dict[str, Any] | None:
        if not isinstance(value, np.ndarray):
            return None
        return {"dtype": str(value.dtype), "array": value}


def noted(*calls: tuple[str, dict[str, Any]]) -> list[list[Any]]:
    log = OperatorLog(Arrays())
    for operator, arguments in calls:
        log.note(operator, arguments)
    return log.records


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, None),
        (True, True),
        (3, 3),
        ("sum", "sum"),
        (0.5, 0.5),
        (float("inf"), ["f", "inf"]),
        (b"\xff", ["b", "\xff"]),
        ((1, [2]), ["l", [1, ["l", [2]]]]),
        (NamedArgument("y", "float32"), ["y", "float32"]),
        (np.array([[3, -1]]), ["t", "int64", [1, 2], ["x", [3, -1]]]),
        (np.array([True]), ["t", "bool", [1], ["x", [True]]]),
        (np.zeros((0, 4), "float32"), ["t", "float32", [0, 4], ["k", 0]]),
        (np.array([2.0, -1.0]), ["t", "float64", [2], ["u", 7, -1.0, 2.0]]),
        (np.array([2.0, np.nan]), ["t", "float64", [2], ["u", 7, -1.0, 1.0]]),
        (np.arange(100), ["t", "int64", [100], ["u", 7, 0.0, 99.0]]),
        (MadeTensor("lib.f", np.array([1])), ["c", "lib.f", [["t", "int64", [1], ["x", [1]]]],
                                             []]),
    ],
)  # fmt: skip
def test_an_argument_becomes_a_value(value: Any, encoded: Any) -> None:
    assert noted(("op", {"x": value})) == [["op", {"x": encoded}]]
    assert value_to_json(value_from_json(encoded)) == encoded


@pytest.mark.parametrize("value", [object(), 1j, np.zeros(5000), ["a" * 2000], {"a": 1}])
def test_a_call_with_an_argument_without_a_short_form_is_left_out(value: Any) -> None:
    assert noted(("op", {"x": value}), ("op", {"x": 1})) == [["op", {"x": 1}]]


def test_each_operator_is_noted_a_few_times() -> None:
    records = noted(*[("op", {"x": number}) for number in range(9)], ("other", {}))

    assert records == [["op", {"x": 0}], ["op", {"x": 1}], ["other", {}]]
