from __future__ import annotations

import pytest
from constraint_examples import constraints, random_generator, scope_with, scopes, seeds
from hypothesis import given

from ciguard.domain.value_table import VALUE_KINDS
from ciguard.domain.values import (
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
    Value,
)
from ciguard.levels.api.kinds import parameter_kind, value_kinds
from ciguard.values import (
    Bool,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Optional,
    String,
    Tensor,
    boundaries,
    compile_sampler,
    violations,
)
from ciguard.values.changes import limits

FLOATS, INTEGERS = Tensor(dtypes=("float32",)), Tensor(dtypes=("int32", "int64"))


def tensor(dtype: str = "float32", *shape: int, fill: object = None) -> TensorValue:
    return TensorValue(dtype, shape, fill or Uniform(1, 0.0, 1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("constraint", "kind"),
    [
        (FLOATS, "float tensor"),
        (INTEGERS, "int tensor"),
        (Tensor(dtypes=("bool",)), "bool tensor"),
        (Tensor(dtypes=("int64",), index_of="x"), "index tensor"),
        (Optional(Tensor(dtypes=("int64",), increasing=True)), "offset tensor"),
        (List(item=FLOATS), "tensors"),
        (Int(), "int"),
        (Ints(), "ints"),
        (Float(), "float"),
        (Bool(), "bool"),
        (String(), "text"),
        (Dtype(("float32",)), "dtype"),
    ],
)
def test_each_constraint_has_a_kind_of_parameter(constraint: Constraint, kind: str) -> None:
    assert parameter_kind(constraint) == kind


@pytest.mark.parametrize(
    ("constraint", "value", "kinds"),
    [
        (FLOATS, tensor("float32", 2), ["ordinary"]),
        (FLOATS, tensor("float32", 0), ["empty"]),
        (FLOATS, tensor("float32", 0, 2**31), ["empty, huge size"]),
        (FLOATS, tensor("int32"), ["scalar", "other dtype"]),
        (FLOATS, tensor("float32", *[1] * 9), ["high rank"]),
        (FLOATS, tensor("float32", 2, fill=Special(1)), ["NaN, infinite", "extreme"]),
        (INTEGERS, tensor("int64", 2, fill=Constant(-(2**63))), ["extreme", "negative"]),
        (INTEGERS, tensor("int64", 3, fill=Explicit((3, 2, 1))), ["decreasing"]),
        (FLOATS, CallValue("torch.Tensor.to_sparse", (tensor("float32", 2),)), ["other form"]),
        (FLOATS, LiteralValue(3), ["other structure"]),
        (Optional(FLOATS), LiteralValue(None), ["None"]),
        (Int(), LiteralValue(-1), ["negative"]),
        (Int(), LiteralValue(value=True), ["ordinary"]),
        (Float(), LiteralValue(float("inf")), ["NaN, infinite"]),
        (Bool(), LiteralValue(value=True), ["ordinary"]),
        (Bool(), LiteralValue(1), ["other structure"]),
        (Dtype(("float32",)), DtypeValue("float32"), ["ordinary"]),
        (Ints(), ListValue(()), ["empty"]),
        (Ints(), ListValue((LiteralValue(2**40),)), ["extreme"]),
        (List(item=FLOATS), ListValue((tensor("float32", 1),) * 8), ["too long"]),
        (String(), LiteralValue("a" * 300), ["too long"]),
        (String(), LiteralValue(None), ["None"]),
    ],
)
def test_each_value_has_its_kinds(constraint: Constraint, value: Value, kinds: list[str]) -> None:
    assert value_kinds(parameter_kind(constraint), constraint, value) == kinds


@given(constraints, seeds, scopes)
def test_every_drawn_and_mutated_value_has_a_kind_of_the_table(
    constraint: Constraint, seed: int, x: TensorValue | None
) -> None:
    rng, scope = random_generator(seed), scope_with(x)
    row = parameter_kind(constraint)
    current = compile_sampler(constraint)(rng, scope)
    mutations = (*boundaries(constraint), *violations(constraint))

    for value in (current, *(m.mutate(rng, scope, current) for m in mutations)):
        kinds = value_kinds(row, constraint, value) if row else []
        assert bool(kinds) is bool(row)
        assert all(row in VALUE_KINDS[kind] for kind in kinds)


@pytest.mark.parametrize(
    "constraint",
    [
        FLOATS,
        INTEGERS,
        Tensor(dtypes=("bool",), ndim=(1, 1)),
        Tensor(dtypes=("int64",), ndim=(1, 1), increasing=True),
        Tensor(dtypes=("int32",), ndim=(0, 0)),
        Tensor(dtypes=("int64",), index_of="x"),
    ],
    ids=["float", "int", "bool", "offsets", "scalar", "index"],
)
@given(seed=seeds)
def test_changes_of_every_tensor_have_all_unusual_shapes(constraint: Tensor, seed: int) -> None:
    row = parameter_kind(constraint)
    value = compile_sampler(constraint)(random_generator(seed), scope_with(None))

    others = [call["y"] for column in limits({"y": value}, {}) for call in column]

    drawn = {kind for other in others for kind in value_kinds(row, constraint, other)}
    assert {"empty", "empty, huge size", "high rank", "scalar"} <= drawn | set(
        value_kinds(row, constraint, value)
    )
