from __future__ import annotations

import pytest
from constraint_examples import X, scope_with

from ciguard.domain.values import (
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Dict,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    OneOf,
    Optional,
    SamplingScope,
    Tensor,
    Tuple,
    conforms,
    in_range,
)
from ciguard.values.check import problem


def _ints(*numbers: int) -> ListValue:
    return ListValue(tuple(map(LiteralValue, numbers)))


def _tensor(*shape: int, dtype: str = "float32", high: float = 1.0) -> TensorValue:
    return TensorValue(dtype, shape, Uniform(0, 0.0, high))


@pytest.mark.parametrize(
    ("value", "constraint", "why"),
    [
        (LiteralValue(9), Int(min=0, max=8), "9 is not in [0, 8]"),
        (LiteralValue(value=True), Int(min=0, max=8), "not an int"),
        (LiteralValue(3), Int(axis_of="x"), "3 is not an axis of a tensor of rank 3"),
        (LiteralValue(float("nan")), Float(), "NaN"),
        (LiteralValue(1), Float(), "not a float"),
        (LiteralValue(1), Bool(), "not a bool"),
        (DtypeValue("int8"), Dtype(("int32",)), "int8 is not allowed"),
        (
            DtypeValue("int8"),
            Dtype(("int8", "float32"), dtype_of="x"),
            "is not float32, the dtype of x",
        ),
        (_ints(1, 2), Ints(length_of="x"), "length 2, not 3"),
        (_ints(5), Ints(axes_of="x", length=(1, 1)), "5 is not an axis"),
        (_ints(2, 1), Ints(increasing=True), "not increasing"),
        (TupleValue(()), Ints(), "not a list"),
        (_tensor(2), Tensor(ndim=(2, 3)), "rank 1, not 2 to 3"),
        (_tensor(2, 3), Tensor(shape=("N", "N")), "size 3 of dimension 1"),
        (_tensor(2), Tensor(shape_of="x"), "the shape of x"),
        (_tensor(5), Tensor(broadcast_with="x"), "does not broadcast"),
        (_tensor(2, dtype="int8"), Tensor(), "dtype int8 is not allowed"),
        (_tensor(2, high=9.0), Tensor(low=0, high=3), "elements in [0.0, 9.0]"),
        (TensorValue("float32", (1,), Special(0)), Tensor(low=0), "special values"),
        (
            TensorValue("int32", (2,), Explicit((3, 1))),
            Tensor(increasing=True),
            "not increasing",
        ),
        (TensorValue("int32", (), Constant(3)), Tensor(axis_of="x"), "elements in [3, 3]"),
        (LiteralValue("same"), OneOf((LiteralValue("SAME"),)), "not one of the listed values"),
        (ListValue((_tensor(1), _tensor(2))), List(item=Tensor(), uniform=True), "differ"),
        (_ints(1), Tuple((Int(),)), "not a tuple"),
        (TupleValue(()), Tuple((Int(),)), "length 0, not 1"),
        (LiteralValue(1), Dict(()), "not a dict"),
        (LiteralValue(9), Optional(Int(max=8)), "9 is not in"),
        (LiteralValue("a"), AnyOf(((1.0, Int()), (1.0, Bool()))), "not an int; not a bool"),
    ],
)
def test_problem_of_a_violating_value_states_the_reason(
    value: Value, constraint: Constraint, why: str
) -> None:
    assert why in problem(value, constraint, scope_with(X))


def test_none_conforms_to_optional() -> None:
    assert conforms(LiteralValue(None), Optional(Int()))


def test_one_of_distinguishes_1_from_true() -> None:
    assert not conforms(LiteralValue(1), OneOf((LiteralValue(value=True),)))


def test_symbol_is_checked_across_arguments() -> None:
    scope = SamplingScope()

    first = problem(_tensor(2, 5), Tensor(shape=("N", "C")), scope)

    assert first == ""
    assert "is not C" in problem(LiteralValue(4), Int(size="C"), scope)


def test_rejected_option_binds_no_symbol() -> None:
    scope = SamplingScope()
    constraint = AnyOf(((1.0, Tensor(shape=("C", 1))), (1.0, Tensor(shape=("D", 2)))))

    assert problem(_tensor(7, 2), constraint, scope) == ""
    assert scope.sizes == {"D": 7}


def test_empty_tensor_conforms_to_any_range() -> None:
    assert conforms(TensorValue("int32", (0,), Constant(99)), Tensor(ndim=(1, 1), high=3))


@pytest.mark.parametrize(
    ("number", "constraint", "expected"),
    [
        (0, Float(min=0.0), True),
        (0, Float(min=0.0, exclude_min=True), False),
        (5e-324, Float(min=0.0, exclude_min=True), True),
        (1, Float(max=1.0), True),
        (1, Float(max=1.0, exclude_max=True), False),
        (2**53 + 1, Float(min=2.0**53, max=float("inf"), exclude_min=True), True),
        (0.1, Float(min=0.1, width=16), True),
        (float("inf"), Float(max=float("inf")), True),
        (float("inf"), Float(max=float("inf"), exclude_max=True), False),
    ],
)
def test_in_range_accepts_numbers_of_any_type(
    number: float, constraint: Float, *, expected: bool
) -> None:
    assert in_range(number, constraint) is expected
