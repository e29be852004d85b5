"""Tests whether rounding alone explains a difference, by running the call with perturbed inputs.

A call such as the inverse of a nearly singular matrix amplifies the rounding errors of its inputs.
Two correct targets may then return different results. The results for inputs that were moved by one
rounding error show how much the call amplifies such errors.

A metamorphic relation of smooth functions may fail at a kink (a point where the function is not
differentiable). It then holds for perturbed inputs. The extra calls take time, so only findings
that every repetition reproduces are tested.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    value_to_json,
)
from ciguard.execution import Container, Scalar, TensorDigest, TensorOutput, decode_outputs
from ciguard.execution.worker.fills import elements
from ciguard.oracles.comparing.comparison import scalar_array
from ciguard.oracles.comparing.differences import outcome_difference
from ciguard.oracles.comparing.tf32 import precision_of
from ciguard.oracles.comparing.tolerance import epsilon_of
from ciguard.oracles.levels import judged_level_of
from ciguard.oracles.relations import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Value
    from ciguard.execution import Output
    from ciguard.oracles.comparing.tolerance import InputPrecision

_NUMERIC_KINDS = frozenset({"values", "nan"})
_RANGE_STEP = 0.01
"""Fraction of a tensor's range by which its ends move if a relation needs smooth functions."""
_MAX_PERTURBED_ELEMENTS = 4096
"""Maximum number of elements of a tensor that is perturbed element by element. Larger tensors stay
unchanged."""


def may_be_rounding(finding: Finding) -> bool:
    """Return whether rounding errors or a kink can cause a finding of this kind."""
    may_be_kink = finding.oracle == "metamorphic" and _needs_smoothness(finding.case)
    return may_be_kink or is_numeric_difference(finding)


def is_numeric_difference(finding: Finding) -> bool:
    """Return whether a finding is a difference in numbers, between targets or call and twin."""
    kinds = {"differential": finding.kind, "metamorphic": finding.detail}
    return kinds.get(finding.oracle) in _NUMERIC_KINDS


def _needs_smoothness(case: Case) -> bool:
    relation = RELATIONS.items().get(case.relation)
    return relation is not None and relation.needs_smoothness


def result_epsilon(finding: Finding) -> float:
    """Return the largest relative rounding error of the results that a finding compares."""
    outputs = [
        decode_outputs(outcome.encoded)
        for outcome in finding.outcomes.values()
        if isinstance(outcome, Passed)
    ]
    parts = (part for output in outputs if output is not None for part in _numeric_parts(output))
    tf32 = dtypes.TF32_EPSILON if precision_of(finding).uses_tf32 else 0.0
    epsilons = (dtypes.EPSILON.get(dtype, 0.0) for dtype, _ in parts)
    return max(tf32, *epsilons, 0.0)


def perturb_case(case: Case, seed: int, *, epsilon: float = 0.0) -> Case:
    """Return the call with its floating-point inputs perturbed slightly.

    Each element moves by one rounding error. If the call's relation needs smooth functions, the
    range of each tensor moves instead, by a different fraction of at least a hundredth. Equal
    elements of two tensors then become unequal. Python numbers are inputs, and move, only if the
    call has no tensors; otherwise they are settings, and stay.

    Args:
        case: the call.
        seed: the seed that decides which elements move up and which move down.
        epsilon: the minimum relative size of a rounding error. A library that returns float32 for
            float64 has rounded its inputs to float32, too.
    """
    case = case.lowered()
    level = judged_level_of(case)
    step_numbers = count(1)
    are_numbers_inputs = not level.inputs(case).epsilon and not _needs_smoothness(case)

    def move_elements(tensor: ArrayValue | TensorValue) -> Value:
        is_perturbed = (
            tensor.dtype in dtypes.FLOATING and math.prod(tensor.shape) <= _MAX_PERTURBED_ELEMENTS
        )
        if not is_perturbed:
            return tensor
        return replace(tensor, fill=perturb_elements(tensor, seed, epsilon=epsilon))

    def narrow_range(tensor: ArrayValue | TensorValue) -> Value:
        if not isinstance(tensor.fill, Uniform):
            return tensor
        low, high = tensor.fill.low, tensor.fill.high
        step = _RANGE_STEP * next(step_numbers) * (high - low)
        return replace(tensor, fill=replace(tensor.fill, low=low + step, high=high - step / 2))

    perturb_tensor = narrow_range if _needs_smoothness(case) else move_elements

    def perturb_leaf(leaf: ArrayValue | TensorValue | LiteralValue) -> Value:
        if not isinstance(leaf, LiteralValue):
            return perturb_tensor(leaf)
        number = leaf.value
        if not (are_numbers_inputs and isinstance(number, float) and math.isfinite(number)):
            return leaf
        # Libraries convert a Python float to a 32-bit number by default.
        return LiteralValue(number * (1.0 + dtypes.EPSILON["float32"]))

    def perturb_values(values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(_perturb_leaves(value, perturb_leaf) for value in values)

    return level.perturb_inputs(case, seed, perturb_values)


def _perturb_leaves(
    value: Value, perturb: Callable[[ArrayValue | TensorValue | LiteralValue], Value]
) -> Value:
    """Return a value in which `perturb` has replaced each tensor, array and literal."""
    match value:
        case ArrayValue() | TensorValue() | LiteralValue():
            return perturb(value)
        case ListValue(items) | TupleValue(items):
            return replace(value, items=tuple(_perturb_leaves(item, perturb) for item in items))
        case DictValue(pairs):
            return DictValue(tuple((key, _perturb_leaves(item, perturb)) for key, item in pairs))
        case CallValue(function, arguments, keywords):
            return CallValue(
                function,
                tuple(_perturb_leaves(item, perturb) for item in arguments),
                tuple((key, _perturb_leaves(item, perturb)) for key, item in keywords),
            )
        case _:
            return value


def perturb_elements(
    value: ArrayValue | TensorValue, seed: int, *, of_zero: float = 0.0, epsilon: float = 0.0
) -> Explicit:
    """Return a tensor's elements, each moved up or down by one epsilon of its dtype.

    It moves by `epsilon` if that is larger.

    Zeros move by `of_zero`. Elements that would become infinite stay as they are.
    """
    fill = value_to_json(value)[3]
    original = elements(fill, value.dtype, value.shape).astype(np.float64).ravel()
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), original.size)
    with np.errstate(over="ignore", invalid="ignore"):
        perturbed = original * (1.0 + signs * max(dtypes.EPSILON[value.dtype], epsilon))
        perturbed = np.where(original == 0.0, signs * of_zero, perturbed)
    return Explicit(tuple(np.where(np.isfinite(perturbed), perturbed, original).tolist()))


def is_explained_by_rounding(finding: Finding, reruns: Mapping[str, Sequence[Outcome]]) -> bool:
    """Return whether rounding errors or a kink explain a finding.

    Args:
        finding: a finding for which `may_be_rounding` is true.
        reruns: outcomes, by target, of repetitions and of calls with perturbed inputs.
    """
    inputs = precision_of(finding)
    if _needs_smoothness(finding.case):
        return any(
            not _is_violation(outcome, finding, inputs)
            for n in finding.targets
            for outcome in reruns[n]
        )
    condition = max(
        (
            _condition_number(finding.outcomes[name], other, inputs)
            for name in judged_level_of(finding.case).witnesses(finding)
            for other in reruns.get(name, ())
        ),
        default=1.0,
    )
    if math.isinf(condition):
        return True
    return not _is_shown_with(finding, replace(inputs, condition=condition))


def _is_shown_with(finding: Finding, inputs: InputPrecision) -> bool:
    """Return whether the finding's outcomes still show it with the tolerance for `inputs`."""
    outcomes = [finding.outcomes[name] for name in finding.targets]
    if finding.oracle == "differential":
        reference, other = outcomes
        difference = outcome_difference(reference, other, inputs)
        return difference is not None and difference.kind == finding.kind
    return any(_is_violation(outcome, finding, inputs) for outcome in outcomes)


def _is_violation(outcome: Outcome, finding: Finding, inputs: InputPrecision) -> bool:
    """Return whether an outcome violates the relation or invariant of the finding's case."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    return output is not None and judged_level_of(finding.case).is_broken(
        finding.case, output, inputs
    )


def _condition_number(outcome: Outcome, other: Outcome, inputs: InputPrecision) -> float:
    """Return the distance between two results, in rounding errors of the result.

    It is infinite if the results differ in integers, shapes or NaN: the last digit of the inputs
    then decides the result, so that a difference between targets is inconclusive.
    """
    if not isinstance(outcome, Passed) or not isinstance(other, Passed):
        return math.inf
    if outcome.encoded == other.encoded:
        return 0.0
    left, right = (decode_outputs(passed.encoded) for passed in (outcome, other))
    if left is None or right is None:
        return math.inf
    parts = list(_numeric_parts(left)), list(_numeric_parts(right))
    if len(parts[0]) != len(parts[1]):
        return math.inf
    return max(
        (_distance_in_roundings(*pair, inputs) for pair in zip(*parts, strict=True)), default=0.0
    )


def _numeric_parts(output: Output) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the dtype and the elements of each tensor and number in a result."""
    match output:
        case TensorOutput(dtype, _, numbers) | TensorDigest(dtype, _, numbers):
            yield dtype, numbers
        case Scalar(kind) if kind in "ifzo":
            yield "float32" if kind in "fz" else "int64", scalar_array(output)
        case Container(items=items):
            for item in items:
                yield from _numeric_parts(item)
        case _:
            return


def _distance_in_roundings(
    left: tuple[str, NDArray[Any]], right: tuple[str, NDArray[Any]], inputs: InputPrecision
) -> float:
    """Return the largest distance between two arrays' elements, in rounding errors of the largest.

    The arguments are pairs of a dtype and its elements. The distance may be infinite.
    """
    (dtype, x), (other, y) = left, right
    if dtype != other or x.shape != y.shape:
        return math.inf
    if x.dtype.kind not in "fc":
        return 0.0 if np.array_equal(x, y) else math.inf
    finite = np.isfinite(x)
    if not np.array_equal(finite, np.isfinite(y)):
        return math.inf
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x, y = x[finite].astype(wide), y[finite].astype(wide)
    if not x.size:
        return 0.0
    with np.errstate(over="ignore"):
        error = float(np.abs(x - y).max())
        largest = max(float(np.abs(x).max()), float(np.abs(y).max()), inputs.scale)
    rounding = largest * epsilon_of(dtype, inputs)
    if not error:
        return 0.0
    return error / rounding if rounding else math.inf
