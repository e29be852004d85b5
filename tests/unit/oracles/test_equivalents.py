"""Equivalent calls: the shipped rows, and translation between libraries."""

from __future__ import annotations

import pytest

from ciguard.campaign.shipped import shipped_folder
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import (
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.knowledge import read_constraints
from ciguard.oracles import equivalence_of, equivalent_call, translated_calls
from ciguard.oracles.equivalents import parse_equivalences, shipped_equivalences

LIBRARIES = ("torch", "tensorflow", "jax", "keras", "jittor")
FORMS = [form for row in shipped_equivalences() for form in row.forms.items()]
X = TensorValue("float32", (2, 3), Constant(1.0))


def call(api: str, *arguments: Value, **keywords: Value) -> ApiCall:
    return ApiCall(
        api=api,
        kind=CallKind.FUNCTION,
        arguments=arguments,
        keywords=tuple(keywords.items()),
        seed=7,
    )


def number(value: float | None) -> LiteralValue:
    return LiteralValue(value)


# --- the rows that come with ciguard --------------------------------------------------------------


def test_the_shipped_rows_name_known_libraries() -> None:
    assert len(shipped_equivalences()) >= 100
    assert {library for library, _ in FORMS} == set(LIBRARIES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_row_names_apis_of_the_catalogue(library: str) -> None:
    (path,) = shipped_folder().glob(f"{library}-*.jsonl")
    with path.open(encoding="utf-8") as lines:
        known = read_constraints(lines, name=path.name)

    named = {form.api for of, form in FORMS if of == library}

    assert named <= known.records.keys()


# --- from one library to another ------------------------------------------------------------------


def test_arguments_follow_the_names_and_order_of_the_other_library() -> None:
    case = call("torch.amax", X, dim=number(1), keepdim=LiteralValue(value=True))

    assert equivalent_call(case, "tensorflow") == call(
        "tensorflow.reduce_max", X, axis=number(1), keepdims=LiteralValue(value=True)
    )


def test_a_different_default_is_passed_explicitly() -> None:
    case = call("tensorflow.nn.leaky_relu", X)

    assert equivalent_call(case, "jax") == call("jax.nn.leaky_relu", X, negative_slope=number(0.2))


def test_a_fixed_argument_is_passed_and_required() -> None:
    assert equivalent_call(call("tensorflow.math.reduce_variance", X), "torch") == call(
        "torch.var", X, correction=number(0)
    )
    assert equivalent_call(call("torch.var", X, correction=number(0)), "jax") is not None
    assert equivalent_call(call("torch.var", X), "jax") is None


def test_a_list_of_tensors_stays_a_list_and_one_of_numbers_becomes_a_tuple() -> None:
    two = TupleValue((X, X))
    axes = ListValue((number(0), number(1)))

    stacked = equivalent_call(call("torch.stack", two), "jax")
    flipped = equivalent_call(call("torch.flip", X, axes), "jax")

    assert stacked == call("jax.numpy.stack", ListValue(two.items), axis=number(0))
    assert flipped == call("jax.numpy.flip", X, axis=TupleValue(axes.items))


def test_none_and_output_arguments_are_left_out() -> None:
    case = call("torch.exp", X, out=X, dtype=number(None))

    assert equivalent_call(case, "keras") == call("keras.ops.exp", X)


@pytest.mark.parametrize(
    "case",
    [
        call("torch.exp", number(1.0)),
        call("torch.exp", TensorValue("float16", (2,), Constant(1.0))),
        call("torch.exp", TensorValue("int32", (2,), Constant(1))),
        call("torch.amax", TensorValue("float32", (0,), Constant(1.0))),
        call("torch.add", X, TensorValue("float64", (2, 3), Constant(1.0))),
        call("torch.add", X, X, alpha=number(2)),
        call("torch.cumsum", X, number(0), dtype=DtypeValue("float64")),
        call("torch.amax", X, dim=X),
        call("torch.amax", X, dim=TupleValue(())),
        call("torch.exp", X, X),
        call("torch.nn.Linear", X),
    ],
    ids=lambda case: case.api,
)
def test_a_call_outside_of_all_rows_has_no_equivalent(case: ApiCall) -> None:
    assert all(equivalent_call(case, library) is None for library in LIBRARIES)


def test_a_library_that_computes_in_32_bits_is_not_compared_in_64() -> None:
    case = call("torch.exp", TensorValue("float64", (2,), Constant(1.0)))

    assert set(translated_calls(case, LIBRARIES)) == {"torch", "tensorflow", "jax", "jittor"}


def test_none_instead_of_a_default_has_no_equivalent() -> None:
    assert equivalent_call(call("tensorflow.argmax", X, axis=number(None)), "torch") is None
    assert equivalent_call(call("torch.argmax", X), "tensorflow") is None
    assert equivalent_call(call("torch.argmax", X), "jax") is not None


def test_an_argument_that_the_other_library_lacks_has_no_equivalent() -> None:
    case = call("torch.nn.functional.elu", X, alpha=number(0.5))

    assert list(translated_calls(case, LIBRARIES)) == ["torch", "jax", "keras", "jittor"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_equivalent_calls_are_the_same_from_any_library(library: str) -> None:
    calls = translated_calls(call("torch.sum", X), LIBRARIES)

    again = translated_calls(calls[library], LIBRARIES)

    assert again == calls


def test_an_api_in_no_row_has_no_equivalent_calls() -> None:
    assert equivalence_of("torch.linalg.inv") is None
    assert translated_calls(call("torch.linalg.inv", X), LIBRARIES) == {}


# --- rows that are wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ('torch = "torch.abs(x)"', "two libraries"),
        ('torch = "torch.abs(x)"\njax = "jax.numpy.abs"', "expected calls"),
        ('torch = "torch.abs(x)"\njax = "jax.numpy.abs(x"', "expected calls"),
        ('torch = "torch.abs(x)"\njax = "jax.numpy.abs(x + 1)"', "expected calls"),
        ('torch = "torch.abs(x)"\njax = 3', "expected calls"),
        ('torch = "torch.abs(x)"\njax = "f(x)"\nelements = ["half"]', "'elements' must be among"),
    ],
)
def test_an_invalid_row_is_named_in_the_error(row: str, text: str) -> None:
    with pytest.raises(ValueError, match=text) as raised:
        parse_equivalences(f"[[equivalent]]\n{row}\n")

    assert "equivalent 1 (torch.abs(x))" in str(raised.value)


def test_an_api_in_two_rows_is_an_error() -> None:
    row = '[[equivalent]]\ntorch = "torch.abs(x)"\njax = "jax.numpy.abs(x)"\n'

    with pytest.raises(ValueError, match=r"two rows contain torch\.abs, jax\.numpy\.abs"):
        parse_equivalences(row + row)
