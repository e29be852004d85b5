"""Validity of calls that were changed."""

from __future__ import annotations

import random
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.values import (
    ArrayValue,
    Constant,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.functions.checking import is_valid, module_from_json
from ciguard.functions.drawing import call_sampler
from ciguard.functions.in_target.describing.module import module_description
from ciguard.functions.specs import Call, ModuleSpec

SOURCE = """
from ciguard.annotations import *

@arg("x", ints(1, 5))
@arg("ys", lists(ints(0, 3), 1, 4))
@require("len(ys) <= x")
def plain(x, ys): ...

@arg("a", np_arrays("float32", ("n", 3), min=0, max=1))
@arg("b", np_arrays("float32", ("n",)))
@arg("c", tensors("float32", (None, ints(2, 4)), library="torch"))
def arrays(a, b, c): ...

@generator
@arg("depth", ints(1, 3))
def made(depth): ...

@arg("net", objs(made))
@arg("how", anys(froms(["a", "b"]), tuples(ints(0, 1), bools())))
@arg("options", dicts(froms(["p", "q"]), floats(0, 1)))
def mixed(net, how, options): ...

class Net:
    @arg("size", ints(1, 4))
    def __init__(self, size): ...

    @arg("x", ints(0, 1))
    def run(self, x): ...
"""


def _module() -> ModuleSpec:
    module = types.ModuleType("validity_program")
    exec(compile(SOURCE, "<program>", "exec"), vars(module))
    return module_from_json(module_description(module))


MODULE = _module()


def drawn(function: str, seed: int) -> Call | None:
    return call_sampler(MODULE.function(function), MODULE)(random.Random(seed))


def drawn_arguments(function: str) -> dict[str, Value]:
    call = drawn(function, 1)
    assert call is not None
    return dict(call.arguments)


def valid(function: str, constructor: Any = None, **arguments: Value) -> bool:
    call = Call(function=function, arguments=tuple(arguments.items()), constructor=constructor)
    return is_valid(call, MODULE)


def array(*shape: int, value: float = 0.5, dtype: str = "float32") -> ArrayValue:
    return ArrayValue(dtype, shape, Constant(value))


@given(st.sampled_from(["plain", "arrays", "mixed", "Net.run"]), st.integers(0, 10**6))
def test_every_drawn_call_is_valid(name: str, seed: int) -> None:
    call = drawn(name, seed)

    assert call is None or is_valid(call, MODULE)


@pytest.mark.parametrize(
    ("x", "ys", "expected"),
    [
        (1, (0,), True),
        (0, (0,), False),
        (6, (0,), False),
        (3, (), False),
        (3, (4,), False),
        (1, (0, 0), False),
        ("1", (0,), False),
    ],
)
def test_ranges_lengths_and_preconditions_are_checked(
    x: Any, ys: tuple[int, ...], *, expected: bool
) -> None:
    items = ListValue(tuple(map(LiteralValue, ys)))

    assert valid("plain", x=LiteralValue(x), ys=items) is expected


def test_a_call_without_an_argument_is_invalid() -> None:
    assert not valid("plain", x=LiteralValue(3))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (array(2, 3), array(2), True),
        (array(2, 3), array(1), False),
        (array(2, 4), array(2), False),
        (array(2, 3, value=2.0), array(2), False),
        (array(2, 3, dtype="float64"), array(2), False),
        (array(2), array(2), False),
    ],
)
def test_sizes_with_the_same_symbol_must_be_equal(
    first: Value, second: Value, *, expected: bool
) -> None:
    third = drawn_arguments("arrays")["c"]

    assert valid("arrays", a=first, b=second, c=third) is expected


def test_a_tensor_of_the_default_library_is_invalid_for_another_library() -> None:
    plain = TensorValue("float32", (1, 2), Constant(0.0))

    assert not valid("arrays", a=array(2, 3), b=array(2), c=plain)


def test_a_value_must_conform_to_one_alternative_completely() -> None:
    rest = {name: value for name, value in drawn_arguments("mixed").items() if name != "how"}
    pair = TupleValue((LiteralValue(1), LiteralValue(value=True)))

    assert valid("mixed", how=LiteralValue("a"), **rest)
    assert valid("mixed", how=pair, **rest)
    assert not valid("mixed", how=LiteralValue("c"), **rest)
    assert not valid("mixed", how=TupleValue(pair.items[:1]), **rest)


def test_constructor_arguments_are_checked_by_their_annotations() -> None:
    assert valid("Net.run", (("size", LiteralValue(4)),), x=LiteralValue(1))
    assert not valid("Net.run", (("size", LiteralValue(5)),), x=LiteralValue(1))


def test_a_call_of_an_unknown_function_is_invalid() -> None:
    assert not valid("gone", x=LiteralValue(1))
