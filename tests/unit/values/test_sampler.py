from __future__ import annotations

import pytest
from constraint_examples import X, constraints, random_generator, scope_with, scopes, seeds
from hypothesis import given

from ciguard.domain.dtypes import integer_range
from ciguard.domain.values import (
    CallValue,
    Constant,
    ListValue,
    LiteralValue,
    TensorValue,
    value_from_json,
    value_to_json,
)
from ciguard.values import (
    Constraint,
    Dtype,
    Int,
    Ints,
    List,
    Named,
    Object,
    Optional,
    SamplingScope,
    Tensor,
    compile_sampler,
    references,
)
from ciguard.values.check import problem


@given(constraints, seeds, scopes)
def test_sampled_value_conforms_to_its_constraint(
    constraint: Constraint, seed: int, x: TensorValue | None
) -> None:
    value = compile_sampler(constraint)(random_generator(seed), scope_with(x))

    assert problem(value, constraint, scope_with(x)) == ""


@given(constraints, seeds)
def test_sampler_with_equal_seeds_returns_equal_values(constraint: Constraint, seed: int) -> None:
    sampler = compile_sampler(constraint)

    again = compile_sampler(constraint)(random_generator(seed), scope_with(X))

    assert repr(sampler(random_generator(seed), scope_with(X))) == repr(again)


@given(constraints, seeds)
def test_sampled_value_round_trips_through_json(constraint: Constraint, seed: int) -> None:
    value = compile_sampler(constraint)(random_generator(seed), scope_with(X))

    assert repr(value_from_json(value_to_json(value))) == repr(value)


def test_symbol_has_one_size_in_the_whole_call() -> None:
    rng, scope = random_generator(0), SamplingScope()
    channels = compile_sampler(Int(min=1, max=8, size="C"))(rng, scope)
    image = compile_sampler(Tensor(shape=("N", "C", Named("H", 4, 8))))(rng, scope)
    filters = compile_sampler(Tensor(shape=("O", "C")))(rng, scope)

    assert isinstance(image, TensorValue)
    assert isinstance(filters, TensorValue)
    assert LiteralValue(image.shape[1]) == channels
    assert filters.shape[1] == image.shape[1]
    assert 4 <= image.shape[2] <= 8


def test_dtype_of_follows_a_list_of_tensors() -> None:
    scope = SamplingScope()
    rng = random_generator(3)
    scope.values["xs"] = compile_sampler(
        List(item=Tensor(dtypes=("complex64",)), length=(2, 2), uniform=True)
    )(rng, scope)

    follower = compile_sampler(Tensor(dtypes=("float32", "complex64"), dtype_of="xs"))(rng, scope)

    assert isinstance(follower, TensorValue)
    assert follower.dtype == "complex64"


def test_length_of_a_tensor_is_its_rank() -> None:
    value = compile_sampler(Ints(length_of="x", min=1, max=3))(random_generator(5), scope_with(X))

    assert isinstance(value, ListValue)
    assert len(value.items) == len(X.shape)


def test_reference_to_a_missing_parameter_is_ignored() -> None:
    value = compile_sampler(Tensor(dtypes=("int8",), shape_of="gone"))(
        random_generator(0), SamplingScope()
    )

    assert isinstance(value, TensorValue)


def test_uniform_list_has_tensors_that_differ_only_in_elements() -> None:
    constraint = List(item=Tensor(dtypes=("float32",)), length=(3, 3), uniform=True)

    values = [
        compile_sampler(constraint)(random_generator(seed), SamplingScope()) for seed in range(20)
    ]

    for value in values:
        assert isinstance(value, ListValue)
        assert len({(item.dtype, item.shape) for item in value.items}) == 1  # type: ignore[union-attr]
    assert any(len(set(value.items)) == 3 for value in values if isinstance(value, ListValue))


def test_optional_draws_none_and_other_values() -> None:
    sampler = compile_sampler(Optional(Int(min=1, max=1)))
    rng = random_generator(0)

    drawn = {sampler(rng, SamplingScope()) for _ in range(50)}

    assert drawn == {LiteralValue(None), LiteralValue(1)}


def test_most_sampled_tensors_are_small() -> None:
    sampler = compile_sampler(Tensor())
    rng = random_generator(0)

    sizes = []
    for _ in range(300):
        value = sampler(rng, SamplingScope())
        assert isinstance(value, TensorValue)
        count = 1
        for size in value.shape:
            count *= size
        sizes.append(count)

    assert sorted(sizes)[len(sizes) // 2] <= 64
    assert max(sizes) <= 4096


def test_references_include_all_parameters() -> None:
    constraint = Optional(
        Object("make", (Tensor(dtype_of="a", shape_of="b"), Dtype(dtype_of="c"), Ints(axes_of="d")))
    )

    assert references(constraint) == {"a", "b", "c", "d"}


def test_compile_sampler_of_another_object_raises() -> None:
    with pytest.raises(TypeError, match="is not a value constraint"):
        compile_sampler("int")  # type: ignore[arg-type]


def test_object_has_sampled_arguments() -> None:
    constraint = Object("lib.bitcast", (Tensor(dtypes=("int8",), shape=(2,)),))

    value = compile_sampler(constraint)(random_generator(1), SamplingScope())

    assert isinstance(value, CallValue)
    assert isinstance(value.arguments[0], TensorValue)
    assert value.arguments[0].shape == (2,)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64"])
def test_constant_fill_is_in_the_range_of_the_dtype(dtype: str) -> None:
    least, most = integer_range(dtype)
    drawn = [
        compile_sampler(Tensor(dtypes=(dtype,), low=low, high=high))(
            random_generator(seed), SamplingScope()
        )
        for low, high in ((None, None), (-300.0, 300.0))
        for seed in range(200)
    ]

    fills = [value.fill for value in drawn if isinstance(value, TensorValue)]
    constants = [fill.value for fill in fills if isinstance(fill, Constant)]
    assert constants
    assert all(least <= value <= most for value in constants)
