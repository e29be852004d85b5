from __future__ import annotations

import collections
from typing import TYPE_CHECKING

import pytest
from annotated import Annotated
from hypothesis import HealthCheck, given, settings

from ciguard.functions.drawing.calls import call_strategy

if TYPE_CHECKING:
    from ciguard.functions.specs import Call

SOLVED = {
    "a length that equals a number": """
        @arg("xs", int_lists(0, 20, 1, 100))
        @arg("n", ints(0, 30))
        @require("len(xs) == n")
        def f(xs, n): pass""",
    "the densenet example": """
        @arg("blocks", ints(min=2, max=9))
        @arg("layers", anys(-1, ints(min=1, max=5), int_lists(2, 5, min=2, max=5)))
        @require("type(layers) is not list or len(layers) == blocks")
        def f(blocks, layers): pass""",
    "a chain of inequalities": """
        @arg("a", ints(1, 100))
        @arg("b", ints(1, 100))
        @arg("c", ints(1, 100))
        @require("a < b < c")
        def f(a, b, c): pass""",
    "open ends of floats": """
        @arg("low", floats(-5, 5))
        @arg("high", floats(-5, 5))
        @require("low < high")
        def f(low, high): pass""",
    "a product": """
        @arg("a", ints(1, 30))
        @arg("b", ints(1, 30))
        @arg("c", ints(1, 900))
        @require("c == a * b")
        def f(a, b, c): pass""",
    "a multiple": """
        @arg("hidden", ints(1, 100_000))
        @arg("heads", ints(1, 16))
        @require("hidden % heads == 0")
        def f(hidden, heads): pass""",
    "a divisor and an inequality": """
        @arg("n", ints(1, 1000))
        @arg("d", ints(1, 1000))
        @require("n % d == 0")
        @require("d != 1 or n == 1")
        def f(n, d): pass""",
    "divisible sizes": """
        @arg("x", np_arrays("int8", (ints(2, 64), ints(3, 64))))
        @arg("depth", ints(1, 4))
        @require("x.shape[0] % 2 ** depth == 0 and (x.shape[1] - 3) % depth == 0")
        def f(x, depth): pass""",
    "a conjunction decided part by part": """
        @arg("a", ints(1, 1000))
        @arg("b", ints(1, 1000))
        @arg("k", ints(2, 9))
        @require("a % k == 0 and b % k == 0")
        def f(a, b, k): pass""",
    "a permutation": """
        @arg("shape", np_shapes(1, 4))
        @arg("axes", int_lists(1, 4, 0, 3))
        @require("len(axes) == len(shape) and sorted(axes) == list(range(len(shape)))")
        def f(shape, axes): pass""",
    "the arithmetic of a convolution": """
        @arg("size", ints(1, 64))
        @arg("kernel", ints(1, 7))
        @arg("stride", ints(1, 4))
        @arg("pad", ints(0, 3))
        @require("kernel <= size + 2 * pad")
        @require("(size + 2 * pad - kernel) % stride == 0")
        def f(size, kernel, stride, pad): pass""",
    "equal shapes": """
        @arg("x", np_arrays("float32", np_shapes(2, 4)))
        @arg("y", np_arrays("float32", np_shapes(1, 3)))
        @require("x.shape == y.shape")
        def f(x, y): assert x.shape == y.shape""",
    "parts of shapes": """
        @arg("x", np_arrays("float32"))
        @arg("y", np_arrays("float32"))
        @require("x.shape[1:] == y.shape[1:] and x.ndim > 1")
        def f(x, y): assert x.shape[1:] == y.shape[1:]""",
    "sizes, ranks and dtypes of a product of matrices": """
        @arg("x", np_arrays(["float32", "float64"], np_shapes(2, 3, max_side=50)))
        @arg("w", np_arrays(["float32", "float64"]))
        @require("x.shape[-1] == w.shape[0] and w.ndim == 2")
        @require(lambda x, w: x.dtype == w.dtype)
        def f(x, w): return x @ w""",
    "every item and the maximum": """
        @arg("xs", int_lists(1, 5, -100, 100))
        @arg("m", ints(1, 100))
        @require("all(-m <= x < m for x in xs)")
        @require("max(xs) <= 50 and min(xs) >= -50")
        def f(xs, m): pass""",
    "an axis": """
        @arg("axis", ints(-5, 5))
        @arg("x", np_arrays("float32", np_shapes(3, 4)))
        @require("-x.ndim <= axis < x.ndim")
        def f(axis, x): return x.sum(axis)""",
    "cases by type": """
        @arg("k", anys(None, ints(1, 9), tuples(ints(1, 9), ints(1, 9))))
        @arg("size", np_shapes(2, 2, min_side=4, max_side=20))
        @require("k is None or isinstance(k, int) and k <= min(size[0], size[1])"
                 " or isinstance(k, tuple) and k[0] <= size[0] and k[1] <= size[1]")
        def f(k, size): pass""",
    "a power of two": """
        @arg("p", ints(1, 64))
        @require("p & (p - 1) == 0")
        def f(p): assert p in (1, 2, 4, 8, 16, 32, 64)""",
    "an implication": """
        @arg("mode", froms(["full", "valid"]))
        @arg("n", ints(1, 10))
        @arg("m", ints(1, 10))
        @require("not mode == 'valid' or n <= m")
        def f(mode, n, m): assert mode == "full" or n <= m""",
    "one of several": """
        @arg("n", ints(0, 1_000_000))
        @require("n in (7, 1000, 99_999)")
        def f(n): assert n in (7, 1000, 99_999)""",
}


@pytest.mark.parametrize("source", SOLVED.values(), ids=SOLVED)
@pytest.mark.lengthy
def test_no_call_is_discarded_if_preconditions_are_solved(source: str) -> None:
    program = Annotated(source)

    calls = program.calls("f", 150)
    results = [program.run(call) for call in calls if call is not None]

    assert program.problems == []
    assert calls.count(None) == 0
    assert {result["status"] for result in results} == {"passed"}


@pytest.mark.parametrize("source", SOLVED.values(), ids=SOLVED)
@pytest.mark.lengthy
def test_hypothesis_rejects_no_call_if_preconditions_are_solved(source: str) -> None:
    program = Annotated(source)
    statuses: collections.Counter[str] = collections.Counter()

    @settings(
        max_examples=30, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(call_strategy(program.spec.function("f"), program.spec))
    def run(call: Call) -> None:
        statuses[program.run(call)["status"]] += 1

    run()

    assert set(statuses) == {"passed"}
    assert statuses["passed"] >= 3


def test_solving_leaves_every_valid_value_possible() -> None:
    program = Annotated(SOLVED["a power of two"])

    drawn = {call.arguments[0][1] for call in program.calls("f", 400) if call is not None}

    assert len(drawn) == 7


def test_preconditions_that_need_actual_objects_are_checked_by_the_call() -> None:
    program = Annotated(
        """
        def is_even(n): return n % 2 == 0
        @arg("n", ints(0, 9))
        @require("is_even(n)")
        def f(n): assert n % 2 == 0
        """
    )

    assert program.calls("f").count(None) == 0
    assert program.statuses("f") == {"passed", "discarded"}
