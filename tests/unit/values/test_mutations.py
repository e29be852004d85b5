from __future__ import annotations

import math

import pytest
from constraint_examples import X, constraints, random_generator, scope_with, scopes, seeds
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.dtypes import integer_range
from ciguard.domain.values import (
    CallValue,
    Constant,
    Explicit,
    Fill,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    Uniform,
    Value,
    value_from_json,
    value_to_json,
)
from ciguard.values import (
    AnyOf,
    Constraint,
    Int,
    Ints,
    OneOf,
    Optional,
    SamplingScope,
    Tensor,
    boundaries,
    compile_sampler,
    violations,
)
from ciguard.values.check import problem
from ciguard.values.mutation import accepts_special_element, insert_special_element, reshape


def _violating_values(
    constraint: Constraint, seed: int, scope: SamplingScope
) -> list[tuple[str, Value]]:
    rng = random_generator(seed)
    current = compile_sampler(constraint)(rng, scope)
    return [(m.aspect, m.mutate(rng, scope, current)) for m in violations(constraint)]


@given(constraints, seeds, scopes)
def test_violating_value_does_not_conform(
    constraint: Constraint, seed: int, x: TensorValue | None
) -> None:
    scope = scope_with(x)

    for aspect, value in _violating_values(constraint, seed, scope):
        judged = scope_with(x)
        judged.sizes = dict(scope.sizes)  # a symbol can only be violated once it is bound
        assert problem(value, constraint, judged) != "", aspect


@given(constraints)
def test_violations_exist_for_all_kinds_of_constraints(constraint: Constraint) -> None:
    assert violations(constraint)


@given(constraints, seeds)
def test_boundary_value_round_trips_through_json(constraint: Constraint, seed: int) -> None:
    rng, scope = random_generator(seed), scope_with(X)
    current = compile_sampler(constraint)(rng, scope)

    for mutation in boundaries(constraint):
        value = mutation.mutate(rng, scope, current)
        assert repr(value_from_json(value_to_json(value))) == repr(value)


@given(constraints, seeds)
def test_mutation_is_deterministic(constraint: Constraint, seed: int) -> None:
    first = _violating_values(constraint, seed, scope_with(X))

    assert repr(_violating_values(constraint, seed, scope_with(X))) == repr(first)


@given(constraints, seeds)
def test_mutation_returns_no_large_tensor(constraint: Constraint, seed: int) -> None:
    rng, scope = random_generator(seed), scope_with(X)
    current = compile_sampler(constraint)(rng, scope)

    for mutation in (*boundaries(constraint), *violations(constraint)):
        value = mutation.mutate(rng, scope, current)
        if isinstance(value, TensorValue):
            count = 1
            for size in value.shape:
                count *= size
            assert count <= 8192
            if isinstance(value.fill, Explicit):
                assert len(value.fill.data) == count


def _boundary_values(constraint: Constraint, current: Value) -> list[Value]:
    rng = random_generator(0)
    return [
        mutation.mutate(rng, SamplingScope(), current)
        for mutation in boundaries(constraint)
        for _ in range(300)
    ]


def test_boundaries_of_an_int_include_its_ends_and_machine_limits() -> None:
    values = _boundary_values(Int(min=2, max=5), LiteralValue(3))

    wanted = {2, 5, 1, 6, 0, -1, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), None}
    assert wanted <= {value.value for value in values if isinstance(value, LiteralValue)}


def test_boundaries_of_a_tensor_include_empty_scalar_high_rank_and_special() -> None:
    current = TensorValue("float32", (2, 3), Uniform(0, 0.0, 1.0))

    values = _boundary_values(Tensor(dtypes=("float32",)), current)
    tensors = [value for value in values if isinstance(value, TensorValue)]

    assert LiteralValue(None) in values
    assert {(0, 3), (2, 0), (), (0,)} <= {tensor.shape for tensor in tensors}
    assert max(len(tensor.shape) for tensor in tensors) > 8
    assert any(isinstance(t.fill, Constant) and t.fill.value != t.fill.value for t in tensors)


def test_boundaries_of_an_integer_tensor_replace_one_element() -> None:
    current = TensorValue("int64", (4,), Uniform(0, 0.0, 3.0))

    values = _boundary_values(Tensor(dtypes=("int64",)), current)
    explicit = [v.fill.data for v in values if isinstance(v, TensorValue) and _is_explicit(v)]  # type: ignore[union-attr]

    assert any(sum(not 0 <= n <= 3 for n in data) == 1 for data in explicit)


def test_edge_element_that_only_makes_a_tensor_large_is_rare() -> None:
    for dtype in ("int32", "int64"):
        current = TensorValue(dtype, (3,), Uniform(0, 1.0, 3.0))
        rng, scope = random_generator(0), SamplingScope()
        mutate = next(m.mutate for m in boundaries(Tensor(dtypes=(dtype,))) if m.aspect != "none")
        mutated = [mutate(rng, scope, current) for _ in range(3000)]

        large = [value for value in mutated if _is_merely_large(value)]
        assert 0 < len(large) < 0.04 * len(mutated), dtype


def _is_merely_large(value: Value) -> bool:
    if not isinstance(value, TensorValue) or not isinstance(value.fill, Explicit):
        return False
    return sum(2**16 <= number < 2**32 for number in value.fill.data) == 1


def test_boundaries_keep_the_keywords_of_a_handle() -> None:
    handle = CallValue("lib.make", (), (("size", LiteralValue(3)),))

    values = _boundary_values(OneOf((handle,)), handle)

    assert not any(isinstance(value, CallValue) and value != handle for value in values)


def test_scope_finds_shape_and_dtype_of_a_tensor_inside_a_call() -> None:
    scope = SamplingScope()
    inner = CallValue("lib.variable", (TensorValue("float64", (4, 2), Constant(1)),))
    scope.values["x"] = CallValue("builtins.getattr", (inner, LiteralValue("handle")))

    assert scope.shape("x") == (4, 2)
    assert scope.dtype("x") == "float64"


def _is_explicit(tensor: TensorValue) -> bool:
    return isinstance(tensor.fill, Explicit)


def test_boundaries_of_a_list_include_empty_and_other_lengths() -> None:
    current = ListValue((LiteralValue(1), LiteralValue(2)))

    values = _boundary_values(Ints(length=(2, 2), min=1, max=3), current)

    lengths = {len(value.items) for value in values if isinstance(value, ListValue)}
    assert {0, 1, 2, 3} <= lengths


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_boundary_elements_are_in_the_range_of_their_dtype(dtype: str) -> None:
    least, most = integer_range(dtype)
    current = TensorValue(dtype, (3,), Uniform(0, 0.0, 3.0))

    for value in _boundary_values(Tensor(dtypes=(dtype,)), current):
        if isinstance(value, TensorValue) and value.dtype == dtype:
            if isinstance(value.fill, Constant):
                assert least <= value.fill.value <= most
            if isinstance(value.fill, Explicit):
                assert all(least <= number <= most for number in value.fill.data)


def test_violations_of_a_constraint_that_accepts_everything_are_empty() -> None:
    everything = AnyOf(((1.0, Optional(Int())),))

    assert all(mutation.aspect in {"range", "structure"} for mutation in violations(everything))


@given(
    st.sampled_from(["float16", "bfloat16", "float32", "float64"]),
    st.sampled_from([Uniform(3, -1.0, 1.0), Constant(2), Explicit((0.5, 0.25, 1.0, 2.0))]),
    st.integers(0, 2**32),
)
def test_with_special_replaces_one_element_and_keeps_the_range(
    dtype: str, fill: Fill, seed: int
) -> None:
    tensor = TensorValue(dtype, (2, 2), fill)
    assert accepts_special_element(tensor)

    mutated = insert_special_element(random_generator(seed), tensor)

    assert isinstance(mutated.fill, Explicit)
    numbers = [x for x in mutated.fill.data if math.isfinite(x)]
    assert (len(mutated.fill.data), len(numbers), mutated.shape) == (4, 3, (2, 2))
    assert -1.0 <= min(numbers) <= max(numbers) <= 2.0


@pytest.mark.parametrize(
    "value",
    [
        None,
        LiteralValue(1.0),
        TensorValue("int32", (2,), Constant(1)),
        TensorValue("float32", (0,), Constant(1.0)),
        TensorValue("float32", (9, 9), Constant(1.0)),
        TensorValue("float32", (2,), Special(1)),
    ],
)
def test_takes_special_rejects_other_values(value: Value | None) -> None:
    assert not accepts_special_element(value)


def test_boundaries_of_a_tensor_include_huge_sizes_only_without_elements() -> None:
    current = TensorValue("float32", (2, 3), Uniform(0, 0.0, 1.0))

    values = _boundary_values(Tensor(dtypes=("float32",)), current)
    shapes = [value.shape for value in values if isinstance(value, TensorValue)]

    wide = [shape for shape in shapes if shape and max(shape) >= 2**31 - 1]
    assert wide
    assert all(0 in shape for shape in wide)


def test_boundaries_of_a_tensor_include_the_shape_of_another_argument() -> None:
    scope = scope_with(TensorValue("float32", (7, 1, 2), Constant(0.0)))
    current = TensorValue("float32", (2, 3), Uniform(0, 0.0, 1.0))
    rng = random_generator(0)

    mutations = boundaries(Tensor(dtypes=("float32",)))
    drawn = [m.mutate(rng, scope, current) for m in mutations for _ in range(300)]

    assert (7, 1, 2) in {value.shape for value in drawn if isinstance(value, TensorValue)}


def test_boundaries_of_an_integer_tensor_include_decreasing_elements() -> None:
    current = TensorValue("int64", (3,), Explicit((0, 1, 2)))

    values = _boundary_values(Tensor(dtypes=("int64",), increasing=True), current)

    elements = [v.fill.data for v in values if isinstance(v, TensorValue) and _is_explicit(v)]  # type: ignore[union-attr]
    decreasing = [data for data in elements if list(data) == sorted(data, reverse=True)]
    assert any(len(data) > 1 and data[0] > data[-1] for data in decreasing)


def test_boundaries_of_an_int_include_numbers_next_to_the_sizes_of_the_call() -> None:
    scope = scope_with(TensorValue("float32", (40, 50), Constant(0.0)))
    rng = random_generator(0)

    drawn = [m.mutate(rng, scope, LiteralValue(1)) for m in boundaries(Int()) for _ in range(500)]

    numbers = {value.value for value in drawn if isinstance(value, LiteralValue)}
    assert {40, 41, -41, 50, 2, 3, 2000} <= numbers


def test_boundaries_of_a_set_of_objects_are_mostly_its_rare_members() -> None:
    usual = CallValue("lib.make", (), (("size", LiteralValue(3)),))
    unusual = CallValue("lib.make", (), (("size", LiteralValue(0)),))
    rng, scope = random_generator(0), SamplingScope()
    mutations = boundaries(OneOf((*(usual,) * 9, unusual)))
    table = [mutation for mutation in mutations for _ in range(mutation.weight)]

    drawn = [rng.choice(table).mutate(rng, scope, usual) for _ in range(1000)]

    assert 150 < sum(value == unusual for value in drawn) < 400


def test_reshape_repeats_explicit_elements_only_for_small_tensors() -> None:
    tensor = TensorValue("int64", (2,), Explicit((4, 5)))

    assert reshape(tensor, (3,)).fill == Explicit((4, 5, 4))
    assert reshape(tensor, (2**40,)).fill == Constant(4)
