"""Comparison of outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from outcome_examples import digest, scalar, tensor

from ciguard.domain import dtypes
from ciguard.execution import Container, Output, Scalar, TensorOutput, Unreadable
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.comparing.tolerance import inputs_of

NAN, INF = math.nan, math.inf

floats = npst.arrays(
    dtype=st.sampled_from(["float16", "float32", "float64", "complex64", "int32", "bool"]),
    shape=st.integers(0, 6),
)


def kind_of(reference: Output, second: Output) -> str:
    difference = compare_outputs(reference, second)
    return "" if difference is None else difference.kind


def sequence(*items: Output, name: str = "tuple", length: int | None = None) -> Container:
    return Container(name, (), items, len(items) if length is None else length)


@given(floats)
def test_an_output_agrees_with_itself(array: np.ndarray) -> None:
    output = TensorOutput(str(array.dtype), array.shape, array)

    assert compare_outputs(output, output) is None


@given(floats, floats)
def test_a_difference_does_not_depend_on_the_choice_of_the_reference(
    first: np.ndarray, second: np.ndarray
) -> None:
    left = TensorOutput(str(first.dtype), first.shape, first)
    right = TensorOutput(str(second.dtype), second.shape, second)

    assert kind_of(left, right) == kind_of(right, left)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_rounding_within_some_dozen_steps_is_not_a_difference(dtype: str) -> None:
    step = dtypes.EPSILON[dtype]

    assert kind_of(tensor(1.0, dtype=dtype), tensor(1.0 + 60 * step, dtype=dtype)) == ""
    assert kind_of(tensor(1.0, dtype=dtype), tensor(1.0 + 70 * step, dtype=dtype)) == "values"


@pytest.mark.parametrize("error", [1e-3, 1e-4])
def test_an_error_in_the_fourth_digit_of_single_precision_is_a_difference(error: float) -> None:
    assert kind_of(tensor(0.5, 1.0), tensor(0.5, 1.0 + error)) == "values"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_tolerates_an_error_of_a_twentieth(dtype: str) -> None:
    assert kind_of(tensor(1.0, dtype=dtype), tensor(1.04, dtype=dtype)) == ""
    assert kind_of(tensor(1.0, dtype=dtype), tensor(1.1, dtype=dtype)) == "values"


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "bool"])
def test_integers_are_compared_exactly(dtype: str) -> None:
    assert kind_of(tensor(1, 1, dtype=dtype), tensor(1, 1, dtype=dtype)) == ""
    assert kind_of(tensor(1, 1, dtype=dtype), tensor(1, 0, dtype=dtype)) == "values"


def test_the_tolerance_is_relative_to_the_largest_element() -> None:
    assert kind_of(tensor(1e6, 0.0), tensor(1e6, 1.0)) == ""
    assert kind_of(tensor(1.0, 0.0), tensor(1.0, 1.0)) == "values"


def test_an_overflowing_difference_is_reported() -> None:
    greatest = float(np.finfo("float64").max)

    assert kind_of(tensor(greatest, dtype="float64"), tensor(-greatest, dtype="float64")) == (
        "values"
    )


@pytest.mark.parametrize(
    ("mine", "theirs", "kind"),
    [
        (NAN, NAN, ""),
        (NAN, 1.0, "nan"),
        (INF, INF, ""),
        (INF, -INF, "nan"),
        (INF, 3.4e38, "nan"),
        (NAN, INF, "nan"),
    ],
)
def test_non_finite_elements_must_be_equal(mine: float, theirs: float, kind: str) -> None:
    assert kind_of(tensor(1.0, mine), tensor(1.0, theirs)) == kind


@pytest.mark.filterwarnings("error")
def test_signalling_nans_are_compared_without_a_warning() -> None:
    noise = np.random.default_rng(0).bytes(8 * 4096)  # any bits, such as uninitialised memory
    array = np.frombuffer(noise, dtype="complex64")
    output = TensorOutput("complex64", array.shape, array)

    assert compare_outputs(output, output) is None


def test_empty_tensors_agree() -> None:
    assert kind_of(tensor(), tensor()) == ""


@pytest.mark.parametrize(
    ("mine", "theirs", "kind"),
    [
        (tensor(1.0), tensor(1.0, dtype="float64"), "dtype"),
        (tensor(1.0, 2.0), tensor(1.0, 2.0, shape=(2, 1)), "shape"),
        (tensor(1.0), scalar(1.0), "structure"),
        (scalar(1), scalar(1.0), "structure"),
        (scalar(1), Scalar("none", ""), "structure"),
        (Scalar("O", "Size"), Scalar("O", "list"), "structure"),
        (sequence(tensor(1.0)), tensor(1.0), "structure"),
        (sequence(scalar(1)), sequence(scalar(1), scalar(2)), "structure"),
        (
            Container("dict", ("a",), (scalar(1),), 1),
            Container("dict", ("b",), (scalar(1),), 1),
            "structure",
        ),
    ],
)
def test_structure_dtype_and_shape_are_compared_before_values(
    mine: Output, theirs: Output, kind: str
) -> None:
    assert kind_of(mine, theirs) == kind


def test_the_first_difference_inside_a_container_is_reported() -> None:
    mine = sequence(scalar(1), sequence(tensor(1.0), tensor(2.0)))
    theirs = sequence(scalar(1), sequence(tensor(1.0), tensor(3.0)))

    difference = compare_outputs(mine, theirs)

    assert difference is not None
    assert (difference.kind, difference.detail) == ("values", "")
    assert difference.text == "2 vs 3: relative error 0.33, 4.2e+06 ULP (allowed 2.3e-05)"


@pytest.mark.parametrize(
    ("mine", "theirs", "kind"),
    [
        (1.0, 1.0 + 1e-6, ""),
        (1.0, 1.1, "values"),
        (NAN, NAN, ""),
        (NAN, 1.0, "nan"),
        (1 + 2j, 1 + 2j, ""),
        (1 + 2j, 1 - 2j, "values"),
        (3, 3, ""),
        (3, 4, "values"),
        (True, False, "values"),
        ("torch.float32", "float32", ""),
    ],
)
def test_scalars_are_compared_as_numbers_and_texts_are_not(
    mine: object, theirs: object, kind: str
) -> None:
    assert kind_of(scalar(mine), scalar(theirs)) == kind


def test_equal_digests_agree_whatever_was_sampled() -> None:
    assert kind_of(digest(1.0, sha256="aa"), digest(1.0, sha256="aa")) == ""


def test_large_float_tensors_are_compared_by_their_sample_within_the_tolerance() -> None:
    reference = digest(1.0, 2.0, sha256="aa")

    assert kind_of(reference, digest(1.0, 2.0 + 1e-6, sha256="bb")) == ""
    assert kind_of(reference, digest(1.0, 2.5, sha256="bb")) == "values"


def test_large_integer_tensors_must_have_the_same_digest() -> None:
    reference = digest(1, 2, dtype="int64", sha256="aa")

    assert kind_of(reference, digest(1, 2, dtype="int64", sha256="bb")) == "values"
    assert kind_of(reference, digest(1, 2, dtype="int64")) == ""


def test_nan_outside_of_the_sample_is_detected_by_its_count() -> None:
    reference = digest(1.0, sha256="aa", nan=1)

    assert kind_of(reference, digest(1.0, sha256="bb", nan=2)) == "nan"
    assert kind_of(reference, digest(1.0, sha256="bb", nan=1, inf=1)) == "nan"


def test_unreadable_tensors_are_compared_by_dtype_and_shape() -> None:
    meta = Unreadable("float32", (2,), "meta tensor")

    assert kind_of(meta, Unreadable("float32", (2,), "sparse")) == ""
    assert kind_of(meta, tensor(1.0, 2.0)) == ""
    assert kind_of(meta, Unreadable("float32", (3,), "meta tensor")) == "shape"
    assert kind_of(meta, Unreadable("float32", None, "sparse")) == ""
    assert kind_of(meta, Unreadable("float64", None, "sparse")) == "dtype"


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (Scalar("f", "no number"), Scalar("f", "1.0")),
        (Scalar("z", "()"), Scalar("z", "1j")),
        (digest(1.0), digest(1.0, 2.0)),
        (tensor(1.0, shape=(2,)), tensor(1.0, 2.0)),
        (sequence(scalar(1), length=2), sequence(scalar(1), scalar(2))),
    ],
)
def test_a_damaged_record_is_not_a_difference(mine: Output, theirs: Output) -> None:
    assert compare_outputs(mine, theirs) is None
    assert compare_outputs(theirs, mine) is None


def test_cancellation_is_measured_by_the_scale_of_the_inputs() -> None:
    mine, theirs = tensor(-2.5e-9, dtype="float64"), tensor(5e-9, dtype="float64")

    assert compare_outputs(mine, theirs) is not None
    assert compare_outputs(mine, theirs, inputs_of([("float32", -3.0, 3.0)])) is None


def test_a_cast_of_out_of_range_numbers_is_not_compared() -> None:
    mine, theirs = tensor(254, dtype="uint8"), tensor(0, dtype="uint8")

    assert compare_outputs(mine, theirs, inputs_of([("float32", -3.0, 3.0)])) is None
    assert compare_outputs(mine, theirs, inputs_of([("float32", 0.0, 3.0)])) is not None


def test_integer_inputs_do_not_affect_the_tolerance() -> None:
    assert inputs_of([("int32", -3, 2**40)]) == inputs_of([])


@given(
    st.sampled_from(["float16", "float32", "float64"]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_the_error_of_any_two_numbers_has_a_text(dtype: str, first: float, second: float) -> None:
    with np.errstate(over="ignore"):
        mine, theirs = (np.array([number]).astype(dtype) for number in (first, second))

    difference = compare_outputs(TensorOutput(dtype, (1,), mine), TensorOutput(dtype, (1,), theirs))

    assert difference is None or difference.text
