"""Differences in integers that a division by 0 explains; eager runs are those of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from arrays_library import ArraysAdapter
from graph_examples import call, graph
from test_localising import EAGER, localised

from ciguard.domain.case import case_to_json
from ciguard.domain.outcomes import Errored, Passed, Rejected
from ciguard.domain.values import Constant, Explicit, TensorValue, Uniform
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.loop import Executor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.findings import Finding
    from ciguard.domain.graphs import GraphCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Fill

DIVIDED = TensorValue("int32", (2,), Explicit((7, 8)))


class Compiled(ArraysAdapter):
    """The library as a compiler runs it: one function of numpy is another one."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        super().__init__()
        self._name, self._function = name, function

    def resolve(self, path: str) -> Any:
        return self._function if path == f"arrays.{self._name}" else super().resolve(path)


def findings_about(name: str, function: Callable[..., Any], *tensors: TensorValue) -> list[Finding]:
    """Return the findings about a call if a compiler computes `function` in its place."""
    eager, compiled = Executor(ArraysAdapter()), Executor(Compiled(name, function))

    def run(case: GraphCase, target: str) -> Outcome:
        executor = eager if target == EAGER else compiled
        with np.errstate(divide="ignore"):
            status, payload = executor.execute(case_to_json(case))
        if status == cells.PASSED:
            return Passed(payload, 0.0)
        exception, message = payload.decode().split('"')[1:4:2]
        is_refusal = exception == ValueError.__name__
        return (Rejected if is_refusal else Errored)(exception, message)

    api = f"arrays.{name}"
    return localised(graph(call(api, *tensors), api=api), run)[0]


def like_xla(x: Any, y: Any) -> Any:
    """Return the remainder, and -1 for a division by 0."""
    with np.errstate(divide="ignore"):
        return np.where(y == 0, -1, np.remainder(x, y)).astype(x.dtype)


@pytest.mark.parametrize("fill", [Constant(0), Explicit((0, 3)), Uniform(1, 0.0, 0.0)])
def test_a_remainder_by_zero_may_differ(fill: Fill) -> None:
    assert findings_about("remainder", like_xla, DIVIDED, TensorValue("int32", (2,), fill)) == []


@pytest.mark.parametrize("fill", [Constant(0), Explicit((0, 3)), Explicit((2, 3))])
def test_a_remainder_that_is_always_wrong_is_found(fill: Fill) -> None:
    def wrong(x: Any, y: Any) -> Any:
        return like_xla(x, y) - 1

    tensors = DIVIDED, TensorValue("int32", (2,), fill)
    assert [found.api for found in findings_about("remainder", wrong, *tensors)] == [
        "arrays.remainder"
    ]


def refused(x: Any, y: Any) -> Any:
    """Refuse a division by 0, as operators of TensorFlow do and its functions of numpy do not."""
    if not np.all(y):
        msg = "Integer division by zero"
        raise ValueError(msg)
    return np.remainder(x, y)


def refused_always(x: Any, y: Any) -> Any:
    """Refuse any arguments."""
    msg = f"no remainder of {x} by {y}"
    raise ValueError(msg)


@pytest.mark.parametrize(("function", "count"), [(refused, 0), (refused_always, 1)])
def test_a_division_by_zero_may_be_refused(function: Callable[..., Any], count: int) -> None:
    zero = TensorValue("int32", (2,), Explicit((0, 3)))

    assert len(findings_about("remainder", function, DIVIDED, zero)) == count


def test_a_zero_by_which_nothing_is_divided_explains_nothing() -> None:
    def wrong(x: Any) -> Any:
        return np.where(x == 0, -1, np.sign(x)).astype(x.dtype)

    tensor = TensorValue("int32", (2,), Explicit((0, 3)))
    assert [found.api for found in findings_about("sign", wrong, tensor)] == ["arrays.sign"]


def test_fractions_are_no_quotients_of_integers() -> None:
    def wrong(x: Any, y: Any) -> Any:
        return np.divide(x, y, where=y != 0, out=np.full(x.shape, 5, x.dtype))

    tensors = [TensorValue("float32", (2,), Explicit(data)) for data in ((3.0, 4.0), (0.0, 2.0))]
    assert [found.api for found in findings_about("divide", wrong, *tensors)] == ["arrays.divide"]
