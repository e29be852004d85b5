"""Comparison of two targets' outputs: structure, dtype, shape, and values within a tolerance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain import dtypes
from ciguard.execution import Container, Scalar, TensorDigest, TensorOutput, Unreadable
from ciguard.oracles.comparing.tolerance import NO_INPUTS, InputPrecision, relative_tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ciguard.execution import Effects, Output


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two outputs."""

    kind: str
    """One of `structure`, `dtype`, `shape`, `nan`, `values`, `mutation` and `aliasing`, or of
    `refused`, `accepted` and `exception`, which are differences between outcomes."""
    text: str
    """Description of the difference, for readers. May contain values."""
    detail: str = ""
    """Part of the fingerprint: text that is equal whenever the same defect is found."""

    @property
    def predicate(self) -> str:
        """The difference as the predicate of a sentence about an API: `differs in shape: …`."""
        if self.kind == "refused":
            return f"is {self.text}"
        if self.kind == "accepted":
            return f"is accepted, but {self.text}"
        kind = "NaN" if self.kind == "nan" else self.kind
        return f"differs in {kind}: {self.text}"


def compare_outputs(
    reference: Output, other: Output, inputs: InputPrecision = NO_INPUTS
) -> Difference | None:
    """Return the first difference between two outputs; None if they agree.

    Outputs that cannot be compared count as equal. These are unreadable outputs, and inconsistent
    records: a case may have overwritten its worker's memory.
    """
    if isinstance(reference, Container) and isinstance(other, Container):
        return _compare_containers(reference, other, inputs)
    if isinstance(reference, Scalar) and isinstance(other, Scalar):
        return _compare_scalars(reference, other, inputs)
    if isinstance(reference, _ARRAYS) and isinstance(other, _ARRAYS):
        return _compare_arrays(reference, other, inputs)
    return _structure_difference(reference, other)


def compare_effects(reference: Effects, other: Effects) -> Difference | None:
    """Return how the effects of two runs on their arguments differ; None if they agree."""
    if reference.changed != other.changed:
        effects = (f"changes {_tensors_in_words(run.changed)}" for run in (reference, other))
        return Difference("mutation", " vs ".join(effects))
    if reference.shared != other.shared:
        effects = (
            f"shares memory with {_tensors_in_words(run.shared)}" for run in (reference, other)
        )
        return Difference("aliasing", " vs ".join(effects))
    return None


def _tensors_in_words(indices: tuple[int, ...]) -> str:
    numbers = ", ".join(str(index + 1) for index in indices)
    return f"tensor {numbers}" if indices else "no argument"


def _structure_difference(reference: Output, other: Output) -> Difference:
    text = f"{_describe(reference)} vs {_describe(other)}"
    return Difference("structure", text, _LENGTH.sub("", text))


_ARRAYS = (TensorOutput, TensorDigest, Unreadable)
_LENGTH = re.compile(r" of \d+")


def _describe(output: Output) -> str:
    """Return the type of an output in words."""
    match output:
        case Container(type_name, _, _, length):
            return f"{type_name} of {length}"
        case Scalar(kind, text):
            return text if kind == "O" else _SCALAR_NAMES[kind]
        case TensorOutput() | TensorDigest() | Unreadable():
            return "tensor"


_SCALAR_NAMES = {
    "none": "None",
    "i": "int",
    "f": "float",
    "z": "complex",
    "o": "bool",
    "s": "str",
    "b": "bytes",
}


def _compare_containers(
    reference: Container, other: Container, inputs: InputPrecision
) -> Difference | None:
    """Return the difference in length, keys or the first differing item; None if they agree."""
    if reference.length != other.length or reference.keys != other.keys:
        return _structure_difference(reference, other)
    for left, right in zip(reference.items, other.items, strict=False):
        difference = compare_outputs(left, right, inputs)
        if difference is not None:
            return difference
    return None


def _compare_scalars(reference: Scalar, other: Scalar, inputs: InputPrecision) -> Difference | None:
    """Return the difference between two scalars; None if they agree."""
    if reference == other:
        return None
    if reference.kind != other.kind or reference.kind == "O":
        return _structure_difference(reference, other)
    if reference.kind in "fz":
        # A Python float may come from a float32, whose precision therefore applies.
        return _compare_values(scalar_array(reference), scalar_array(other), "float32", inputs)
    if reference.kind in "sb":
        return None  # strings are messages or names, which may differ
    return Difference("values", f"{reference.text[:60]} vs {other.text[:60]}")


def scalar_array(scalar: Scalar) -> NDArray[Any]:
    """Return a scalar as an array of one element, or an empty array if it is not a number."""
    convert = float if scalar.kind == "f" else complex
    try:
        return np.array([convert(scalar.text)])
    except ValueError:
        return np.empty(0)


def _compare_arrays(
    reference: TensorOutput | TensorDigest | Unreadable,
    other: TensorOutput | TensorDigest | Unreadable,
    inputs: InputPrecision,
) -> Difference | None:
    """Return the first difference in dtype, shape or values of two arrays; None if they agree."""
    if reference.dtype != other.dtype:
        text = f"{reference.dtype} vs {other.dtype}"
        return Difference("dtype", text, text)
    shapes = (reference.shape, other.shape)
    if None not in shapes and reference.shape != other.shape:
        return Difference("shape", " vs ".join(map(shape_in_words, shapes)))
    if _may_overflow(reference.dtype, inputs):
        return None
    match reference, other:
        case TensorOutput(), TensorOutput():
            return _compare_values(reference.elements, other.elements, reference.dtype, inputs)
        case TensorDigest(), TensorDigest():
            return _compare_digests(reference, other, inputs)
        case _:
            return None


def shape_in_words(shape: tuple[int, ...] | None) -> str:
    """Return a shape as text, such as `[2, 3]`; `[…]` if it is unknown."""
    return "[…]" if shape is None else str(list(shape))


def _may_overflow(dtype: str, inputs: InputPrecision) -> bool:
    """Return whether inputs exceed an integer type's range, so that results are undefined."""
    if dtype not in dtypes.INTEGERS:
        return False
    lowest, highest = dtypes.integer_range(dtype)
    return not (lowest <= inputs.low and inputs.high <= highest)


def _compare_digests(
    reference: TensorDigest, other: TensorDigest, inputs: InputPrecision
) -> Difference | None:
    """Return how two large tensors differ, by their samples, counts of NaN, and digests."""
    if reference.sha256 and reference.sha256 == other.sha256:
        return None
    pair, count = (reference.sample, other.sample), math.prod(reference.shape)
    difference = _compare_values(*pair, reference.dtype, inputs, count=count)
    if difference is not None:
        return difference
    if _special_counts(reference, inputs) != _special_counts(other, inputs):
        counts = (f"{digest.nan} NaN and {digest.inf} infinite" for digest in (reference, other))
        return Difference("nan", " vs ".join(counts))
    is_exact = reference.dtype not in dtypes.EPSILON
    if is_exact and reference.sha256 and other.sha256:
        return Difference("values", "unequal outside of the elements that were kept")
    return None


def _special_counts(digest: TensorDigest, inputs: InputPrecision) -> tuple[int, int]:
    """Return two numbers that must agree: of NaN or infinite elements, and of NaN.

    If an input is not finite, NaN and infinity count as equal, so both numbers are the first one.
    """
    special = digest.nan + digest.inf
    return special, digest.nan if inputs.are_finite else special


def _compare_values(
    left: NDArray[Any], right: NDArray[Any], dtype: str, inputs: InputPrecision, *, count: int = 0
) -> Difference | None:
    """Return how two arrays differ; None if they agree within the tolerance.

    If the arrays are samples of larger arrays, `count` is the number of elements of those.
    """
    if left.shape != right.shape:
        return None  # only a worker whose memory was overwritten writes such a record
    if left.dtype.kind not in "fc":
        return None if np.array_equal(left, right) else _first_unequal(left, right)
    finite = np.isfinite(left) & np.isfinite(right)
    unequal = _special_mismatch(left, right, inputs)
    if unequal.any():
        return _difference_at(int(np.flatnonzero(unequal)[0]), left, right, kind="nan")
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    x, y = left[finite].astype(wide), right[finite].astype(wide)
    if not x.size:
        return None
    with np.errstate(over="ignore"):
        error = np.abs(x - y)
        largest = max(float(np.abs(x).max()), float(np.abs(y).max()), inputs.scale)
        rtol = relative_tolerance(dtype, count=count or left.size, inputs=inputs)
        allowed = rtol * largest
    if not (error > allowed).any():
        return None
    worst = int(error.argmax())
    error_text = _error_in_words(
        float(error[worst]), float(max(abs(x[worst]), abs(y[worst]))), dtype
    )
    return Difference(
        "values", f"{x[worst]:.9g} vs {y[worst]:.9g}: {error_text} (allowed {allowed:.2g})"
    )


def _error_in_words(error: float, magnitude: float, dtype: str) -> str:
    """Return the distance of two numbers as text: relative to the larger number, and in ULP."""
    epsilon = dtypes.EPSILON.get(dtype, 0.0)
    if not magnitude or not math.isfinite(error):
        return "infinitely far apart"
    relative = error / magnitude
    # The spacing of the type's numbers near the larger of the two numbers.
    spacing = math.ldexp(epsilon, math.frexp(magnitude)[1] - 1)
    ulp_text = f", {error / spacing:.2g} ULP" if spacing else ""
    return f"relative error {relative:.2g}{ulp_text}"


def _special_mismatch(
    left: NDArray[Any], right: NDArray[Any], inputs: InputPrecision
) -> NDArray[np.bool_]:
    """Return a mask of the elements that are NaN or infinite in one array and differ in the other.

    If an input is not finite, NaN and infinity count as equal.
    """
    finite, other_finite = np.isfinite(left), np.isfinite(right)
    unequal: NDArray[np.bool_] = finite != other_finite
    if inputs.are_finite:
        with np.errstate(invalid="ignore"):  # comparing a signalling NaN warns on the console
            are_same = (left == right) | (np.isnan(left) & np.isnan(right))
        unequal |= ~finite & ~other_finite & ~are_same
    return unequal


def _first_unequal(left: NDArray[Any], right: NDArray[Any]) -> Difference:
    unequal = np.flatnonzero(left != right)
    return _difference_at(int(unequal[0]) if unequal.size else 0, left, right, kind="values")


def _difference_at(index: int, left: NDArray[Any], right: NDArray[Any], *, kind: str) -> Difference:
    """Return the difference between two arrays, described by their elements at one index."""
    return Difference(kind, f"{left[index]!s:.60} vs {right[index]!s:.60} at element {index}")
