"""Whether rounding explains that a compiled graph returns other numbers than eager execution.

Rounding is measured on the eager target: the graph runs in double precision, and with inputs that
are moved by one rounding error. A compiler may round less than eager execution, for example when it
keeps a fused sum in registers. So a difference is explained

- if it is not larger than the effect of rounding all inputs, times a factor for the rounding of
  intermediate results, or
- if the compiled result is as near to the result in double precision as the eager one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, Scalar, TensorDigest, TensorOutput, decode_outputs
from ciguard.oracles.comparing import compare_outputs, relative_tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing import InputPrecision

PERTURBATIONS = 8
"""Number of runs with moved inputs. The effect on a number that is rounded up or down at random is
missed with probability 2^-8."""
_MAX_ROUNDINGS = 16.0
"""Allowed difference, in units of the largest effect of moving all inputs: each of several calls
rounds its result, too."""
_MAX_EXCESS = 4.0
"""Allowed error of a compiled result, in units of the error of the eager one."""
_LARGE = 0.1
"""Difference, relative to the largest number, from which on rounding is an unlikely reason."""


def is_rounding(
    pair: tuple[Outcome, Outcome],
    wide: Outcome | None,
    moved: Sequence[Outcome],
    inputs: InputPrecision,
) -> bool:
    """Return whether rounding explains the difference between two outcomes.

    Args:
        pair: outcomes of the graph run eagerly and compiled.
        wide: outcome of the eager run in double precision; None if there was none.
        moved: outcomes of eager runs with moved inputs.
        inputs: precision of the graph's inputs.
    """
    eager, compiled = map(arrays_of, pair)
    if len(eager) != len(compiled) or not eager:
        return False
    exact = arrays_of(wide) if wide is not None else []
    neighbours = [arrays_of(outcome) for outcome in moved]
    if any(len(arrays) != len(eager) for arrays in neighbours):
        return True  # moved inputs decide whether the graph fails
    is_rounded = _differ_by_rounding(eager, compiled, inputs)
    for index, (mine, other) in enumerate(zip(eager, compiled, strict=True)):
        if is_rounded and _are_whole(mine[1], other[1]):
            continue
        around = [arrays[index][1] for arrays in neighbours]
        reference = exact[index][1] if len(exact) == len(eager) else None
        if not _is_explained(mine, other[1], reference, around, inputs):
            return False
    return True


def _differ_by_rounding(
    eager: Sequence[tuple[str, NDArray[Any]]],
    compiled: Sequence[tuple[str, NDArray[Any]]],
    inputs: InputPrecision,
) -> bool:
    """Return whether some fractions differ, but within the tolerance.

    Whole numbers beside them may then differ, too: a histogram's counts depend on the last bits of
    its edges, also where no input moves since it is 0.
    """
    return any(
        not _are_whole(mine, other)
        and mine.shape == other.shape
        and not np.array_equal(mine, other, equal_nan=True)
        and _is_explained((dtype, mine), other, None, (), inputs)
        for (dtype, mine), (_, other) in zip(eager, compiled, strict=True)
    )


def _are_whole(mine: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays of one shape contain whole numbers only."""
    both = [mine, other]
    return mine.shape == other.shape and all(
        array.dtype.kind != "c" and bool((np.isfinite(array) & (array == np.floor(array))).all())
        for array in both
    )


def is_large(reference: Output, other: Output, inputs: InputPrecision) -> bool:
    """Return whether two outputs differ so much that rounding is an unlikely reason.

    Either they differ in more than numbers, or in integers, or by much of the largest number.
    Whether a number is finite, rounding may decide.
    """
    difference = compare_outputs(reference, other, inputs)
    if difference is None or difference.kind not in {"values", "nan"}:
        return difference is not None
    pairs = zip(_parts(reference), _parts(other), strict=False)
    return any(_is_large_gap(left, right, inputs) for (_, left), (_, right) in pairs)


def _is_large_gap(left: NDArray[Any], right: NDArray[Any], inputs: InputPrecision) -> bool:
    if left.dtype.kind not in "fc" or right.dtype.kind not in "fc":
        return not np.array_equal(left, right)
    if left.shape != right.shape:
        return False
    finite = np.isfinite(left) & np.isfinite(right)
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    with np.errstate(over="ignore"):
        gaps = np.abs(left[finite].astype(wide) - right[finite].astype(wide))
    return bool((gaps > _LARGE * _largest([left, right], inputs)).any())


def _is_explained(
    eager: tuple[str, NDArray[Any]],
    compiled: NDArray[Any],
    exact: NDArray[Any] | None,
    moved: Sequence[NDArray[Any]],
    inputs: InputPrecision,
) -> bool:
    """Return whether rounding explains the difference between two arrays; True if none is large."""
    dtype, array = eager
    if array.shape != compiled.shape or any(other.shape != array.shape for other in moved):
        return array.shape == compiled.shape
    if exact is not None and exact.shape != array.shape:
        exact = None
    if array.dtype.kind not in "fc":
        return _is_flip(array, compiled, exact, moved)
    tolerance = relative_tolerance(dtype, count=array.size, inputs=inputs)
    return _is_near(array, compiled, exact, moved, tolerance * _largest([array, compiled], inputs))


def _is_flip(
    array: NDArray[Any],
    compiled: NDArray[Any],
    exact: NDArray[Any] | None,
    moved: Sequence[NDArray[Any]],
) -> bool:
    """Return whether rounding decides the integers in which two arrays differ."""
    different = array != compiled
    if exact is not None and np.array_equal(exact[different], compiled[different]):
        return True
    changes = np.zeros(array.shape, dtype=bool)
    for other in moved:
        changes |= other != array
    # An index that is selected by rounding decides the place of others, too.
    return not different.any() or bool(changes.any())


def _is_near(
    array: NDArray[Any],
    compiled: NDArray[Any],
    exact: NDArray[Any] | None,
    moved: Sequence[NDArray[Any]],
    allowed: float,
) -> bool:
    others = [*moved, *([] if exact is None else [exact])]
    finite = np.isfinite(array)
    if not np.array_equal(finite, np.isfinite(compiled)):
        return any(not np.array_equal(np.isfinite(other), finite) for other in others)
    wide = np.complex128 if array.dtype.kind == "c" else np.float64

    def distance(left: NDArray[Any], right: NDArray[Any]) -> float:
        with np.errstate(all="ignore"):
            gaps = np.abs(left[finite].astype(wide) - right[finite].astype(wide))
        return float(np.nan_to_num(gaps, nan=np.inf).max(initial=0.0))

    effect = max((distance(other, array) for other in moved), default=0.0)
    if distance(array, compiled) <= allowed + _MAX_ROUNDINGS * effect:
        return True
    return exact is not None and distance(compiled, exact) <= allowed + _MAX_EXCESS * distance(
        array, exact
    )


def _largest(arrays: Sequence[NDArray[Any]], inputs: InputPrecision) -> float:
    magnitudes = [np.abs(array[np.isfinite(array)]).max(initial=0.0) for array in arrays]
    return max(inputs.scale, *map(float, magnitudes))


def arrays_of(outcome: Outcome) -> list[tuple[str, NDArray[Any]]]:
    """Return dtype and elements of each tensor and number of a result; empty if there is none."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    return [] if output is None else list(_parts(output))


def _parts(output: Output) -> Iterator[tuple[str, NDArray[Any]]]:
    match output:
        case TensorOutput(dtype, _, elements) | TensorDigest(dtype, _, elements):
            yield dtype, elements
        case Scalar("f" | "i" | "o" as kind, text):
            number = float(text) if kind == "f" else int(text.partition(" ")[0])
            yield "float32" if kind == "f" else "int64", np.array([number])
        case Container(items=items):
            for item in items:
                yield from _parts(item)
        case _:
            return
