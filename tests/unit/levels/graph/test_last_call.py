"""Differences that a discontinuous last call makes of rounding errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graph_examples import PAIR, call, graph, result
from test_localising import COMPILED, localised, passed

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.values import Explicit, ResultValue, TensorValue

if TYPE_CHECKING:
    from ciguard.domain.graphs import GraphCase
    from ciguard.domain.outcomes import Outcome

CANCELLING = graph(
    PAIR,
    call("torch.sub", result(0), result(0)),
    call("torch.sign", result(1)),
    api="torch.sign",
)
"""A difference that is rounded to another number by a compiler, and its sign."""


def run(case: GraphCase, target: str, *, sign_is_wrong: bool, rest: float) -> Outcome:
    """Compute the graph; a compiler rounds the difference to 0 instead of `rest`."""
    numbers: list[float] = []
    for step in case.steps:
        if not isinstance(step, ApiCall):
            numbers.append(1.0)
        elif step.api == "torch.sub":
            numbers.append(0.0 if target == COMPILED else rest)
        else:
            (value,) = step.arguments
            given = numbers[value.step] if isinstance(value, ResultValue) else _first(value)
            is_wrong = sign_is_wrong and target == COMPILED
            numbers.append(-1.0 if is_wrong else float(given > 0))
    return passed(*(numbers[output] for output in case.outputs))


def _first(value: object) -> float:
    assert isinstance(value, TensorValue)
    assert isinstance(value.fill, Explicit)
    return value.fill.data[0]


CHAIN = graph(*CANCELLING.steps, call("torch.sign", result(2)), outputs=(3,), api="torch.sign")
"""The same, with a further call, which gets another number because of the first sign."""


@pytest.mark.parametrize("sign_is_wrong", [False, True])
def test_each_call_is_right_for_its_inputs(*, sign_is_wrong: bool) -> None:
    findings, _ = localised(
        CHAIN, lambda case, target: run(case, target, sign_is_wrong=sign_is_wrong, rest=1e-9)
    )

    assert bool(findings) == sign_is_wrong


def test_a_last_call_that_is_right_for_rounded_inputs_is_no_finding() -> None:
    findings, cases = localised(
        CANCELLING, lambda case, target: run(case, target, sign_is_wrong=False, rest=1e-9)
    )

    assert findings == []
    assert any(case.outputs == (1, 2) for case in cases)
    assert cases[-1].calls == (call("torch.sign", TensorValue("float32", (1,), Explicit((0.0,)))),)


@pytest.mark.parametrize(
    ("sign_is_wrong", "rest", "blamed"),
    [(True, 1e-9, "torch.sign"), (False, 0.5, "torch.sub")],
    ids=["the last call is wrong", "its input is wrong"],
)
def test_a_defect_is_found_although_numbers_are_rounded(
    *, sign_is_wrong: bool, rest: float, blamed: str
) -> None:
    findings, _ = localised(
        CANCELLING, lambda case, target: run(case, target, sign_is_wrong=sign_is_wrong, rest=rest)
    )

    assert [finding.api for finding in findings] == [blamed]
