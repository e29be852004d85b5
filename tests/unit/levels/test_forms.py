"""Storage forms of tensors."""

from __future__ import annotations

import random
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.values import CallValue, Explicit, ListValue, LiteralValue, TensorValue, Uniform
from ciguard.levels.api.forms import form_mutator, forms_of
from ciguard.values import SamplingScope

LIBRARIES = ("torch", "tensorflow")
SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=5).map(tuple)


def tensor(shape: tuple[int, ...], dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(1, 0.0, 1.0))


def numbers(value: object) -> list[int]:
    assert isinstance(value, ListValue)
    return [item.value for item in value.items if isinstance(item, LiteralValue)]  # type: ignore[misc]


@given(SHAPES)
def test_a_stepped_tensor_stays_within_its_memory_and_has_the_shape(shape: tuple[int, ...]) -> None:
    form = next(form for form in forms_of("torch") if form.name == "stepped")
    reformed = form.make(tensor(shape))
    assert isinstance(reformed, CallValue)
    whole, sizes, steps = reformed.arguments
    assert isinstance(whole, TensorValue)
    assert tuple(numbers(sizes)) == shape
    last = sum((size - 1) * step for size, step in zip(shape, numbers(steps), strict=True))
    assert prod(shape) == 0 or last < prod(whole.shape)
    assert numbers(steps)[-1] == 2


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_form_is_drawn_for_some_tensor(library: str) -> None:
    mutator = form_mutator(library)
    assert mutator is not None
    rng = random.Random(0)
    dtypes = ("float32", "complex64", "int8", "uint8", "int16", "int32")
    drawn = {
        reformed.function
        for _ in range(2000)
        if isinstance(
            reformed := mutator(rng, SamplingScope(), tensor((3, 3), rng.choice(dtypes))), CallValue
        )
    }
    made_by = {
        form.make(tensor((3, 3))).function  # type: ignore[union-attr]
        for form in forms_of(library)
        if not form.instead_of
    }
    assert drawn == made_by


def test_an_operator_takes_no_sparse_or_ragged_tensor() -> None:
    names = {form.name for form in forms_of("tensorflow", of_operands=True)}

    assert {"variable", "quantised int8"} <= names
    assert not names & {"sparse", "ragged", "huge shape", "splits out of range"}
    assert forms_of("torch", of_operands=True) == forms_of("torch")


def test_a_malformed_form_replaces_the_valid_form_only() -> None:
    mutator = form_mutator("tensorflow")
    assert mutator is not None
    rng, valid = random.Random(0), CallValue("tensorflow.sparse.from_dense", (tensor((3, 3)),))

    drawn = {getattr(mutator(rng, SamplingScope(), valid), "function", "") for _ in range(50)}

    assert drawn == {"tensorflow.SparseTensor"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_tensor_with_a_huge_size_keeps_its_form(library: str) -> None:
    mutator = form_mutator(library)
    assert mutator is not None
    value = tensor((0, 2**40))
    assert mutator(random.Random(0), SamplingScope(), value) is value


def test_a_tensor_with_explicit_elements_keeps_its_form() -> None:
    mutator = form_mutator("torch")
    assert mutator is not None
    value = TensorValue("float32", (2,), Explicit((1.0, 2.0)))
    assert mutator(random.Random(0), SamplingScope(), value) is value


def test_a_library_with_one_storage_form_has_no_form_mutator() -> None:
    assert form_mutator("jittor") is None
