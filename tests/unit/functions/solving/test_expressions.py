from __future__ import annotations

from typing import Any

import pytest

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
)
from ciguard.functions.solving.expressions import RaisesError, UnknownError, evaluate
from ciguard.functions.solving.views import view

SCOPE: dict[str, Any] = {
    "n": 3,
    "xs": [1, 2, 2],
    "t": (4, 5),
    "s": "same",
    "d": {"a": 1},
    "none": None,
    "x": view(ArrayValue("float32", (2, 3), Constant(0))),
    "z": view(TensorValue("int64", (2, 3), Constant(0))),
    "dtype": view(DtypeValue("float32")),
    "obj": view(CallValue(":made")),
    "member": view(MemberValue("torch.strided")),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * n + 1 - 7 // 2 % 3", 7),
        ("n / 2", 1.5),
        ("-n ** 2", -9),
        ("len(xs) == n and not none", True),
        ("0 < n <= 3", True),
        ("min(xs) + max(1, n) + abs(-2) + sum(xs)", 11),
        ("t[0] * t[-1]", 20),
        ("xs[1:]", [2, 2]),
        ("type(xs) is list", True),
        ("isinstance(n, (int, float)) and not isinstance(xs, tuple)", True),
        ("n if s == 'other' else t[0]", 4),
        ("x.shape", (2, 3)),
        ("x.shape[-1] * x.ndim + x.size", 12),
        ("len(x)", 2),
        ("z.size(1) + z.dim() + z.numel()", 11),
        ("x.shape == z.shape", True),
        ("x.dtype == 'float32' and x.dtype == np.float32 and x.dtype == dtype", True),
        ("z.dtype in (torch.int32, torch.int64)", True),
        ("x.dtype != z.dtype", True),
        ("isinstance(x, np.ndarray) and isinstance(z, torch.Tensor)", True),
        ("x is None or none is None", True),
        ("all(i > 0 for i in xs) and any(i == 2 for i in xs if i > 1)", True),
        ("[a + b for a, b in zip(xs, xs)]", [2, 4, 4]),
        ("len(set(xs)) == 2 and xs == sorted(xs)", True),
        ("s.startswith('s') and 'a' in d and d['a'] == 1", True),
        ("n & (n - 1)", 2),
    ],
)
def test_supported_expressions_evaluate_as_in_python(text: str, expected: object) -> None:
    assert evaluate(text, SCOPE) == expected


@pytest.mark.parametrize(
    "text",
    [
        "unknown", "obj.layers", "obj is None", "member == 1", "x > 0", "x + 1 == 2", "x[0]",
        "is_even(n)", "z.size", "x.mean()", "n.bit_length()", "n +", "10 ** 10 ** 10",
        "range(10 ** 9)", "lambda: 1", "xs.append(4)", "print(n)", "open('f')", "none > 1",
        "max(key=n)", "(n := 4)",
    ],
)  # fmt: skip
def test_unsupported_expressions_raise_unknown_error(text: str) -> None:
    with pytest.raises(UnknownError) as caught:
        evaluate(text, SCOPE)

    assert not isinstance(caught.value, RaisesError)


@pytest.mark.parametrize("text", ["xs[7]", "n % 0", "d['b']", "x.shape[2] == 1"])
def test_expressions_that_fail_for_known_values_raise_raises_error(text: str) -> None:
    with pytest.raises(RaisesError):
        evaluate(text, SCOPE)


def test_an_argument_hides_a_function_of_its_name() -> None:
    with pytest.raises(UnknownError):
        evaluate("len(xs)", {**SCOPE, "len": 3})


def test_nested_lists_are_viewed_as_python_lists() -> None:
    value = ListValue((LiteralValue(1), ListValue((LiteralValue("a"),))))

    assert view(value) == [1, ["a"]]
