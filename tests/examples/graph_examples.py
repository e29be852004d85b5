"""Small graphs of torch, outcomes of their runs, and strategies that draw graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import GraphCase
from ciguard.domain.values import (
    Explicit,
    ListValue,
    LiteralValue,
    ResultValue,
    TensorValue,
    Uniform,
)

if TYPE_CHECKING:
    from ciguard.domain.graphs import Step
    from ciguard.domain.values import Value

PAIR = TensorValue("float32", (2,), Explicit((1.0, 2.0)))
SQUARE = TensorValue("float32", (3, 3), Uniform(1, 0.0, 1.0))


def call(api: str, *arguments: Value, kind: CallKind = CallKind.FUNCTION) -> ApiCall:
    """Return a call without keywords."""
    return ApiCall(api=api, kind=kind, arguments=arguments)


def result(step: int, form: TensorValue = PAIR, item: int = -1) -> ResultValue:
    """Return the result of a step, which is like `form`."""
    return ResultValue(step, item, form)


def graph(*steps: Step, outputs: tuple[int, ...] = (), api: str = "torch.add") -> GraphCase:
    """Return a graph, whose last step is the output unless others are named."""
    return GraphCase(api=api, steps=steps, outputs=outputs or (len(steps) - 1,), seed=3)


CHAIN = graph(
    PAIR,
    call("torch.exp", result(0)),
    call("torch.add", result(1), result(0)),
    call("torch.stack", ListValue((result(2), PAIR)), LiteralValue(0)),
    api="torch.stack",
)
"""A graph of an input and three calls."""


@st.composite
def graphs(draw: st.DrawFn) -> GraphCase:
    """Draw a graph in which each call uses some of the earlier steps, perhaps by their size."""
    steps: list[Step] = [PAIR]
    for number in range(1, draw(st.integers(2, 7))):
        earlier = st.integers(0, number - 1)
        used = [result(step) for step in draw(st.lists(earlier, max_size=3))]
        other = draw(st.none() | earlier)
        if used and other is not None:
            used[0] = replace(used[0], other=result(other), beyond=2)
        name = draw(st.sampled_from(("add", "exp", "mul_", "cat")))
        steps.append(call(f"torch.{name}", *used, SQUARE))
    outputs = draw(st.lists(st.integers(0, len(steps) - 1), min_size=1, max_size=3, unique=True))
    return GraphCase(api="torch.add", steps=tuple(steps), outputs=tuple(outputs))
