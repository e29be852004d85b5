"""Whether rounding alone explains a difference: measured on a call whose inputs are moved a little.

A call that makes much of the rounding of its inputs, such as the inverse of a nearly singular
matrix, answers differently on two targets that are both right. What it makes of inputs that were
moved by one rounding shows that, whatever the call is. In the same way a law of smooth functions
that fails at one point and holds beside it has met a kink. This costs calls, so it is done for
what has already shown itself again.
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
from ciguard.oracles.comparing.comparison import number
from ciguard.oracles.comparing.differences import differs
from ciguard.oracles.comparing.tolerance import epsilon_of
from ciguard.oracles.levels import inputs_in, judged
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

_NUMERIC = frozenset({"values", "nan"})
_STEP = 0.01
_MAX_MOVED = 4096
"""Elements of a tensor that are written out one by one; larger ones stay as they are."""


def may_be_rounding(finding: Finding) -> bool:
    """Return whether a finding is of a kind that rounding, or a kink, can bring about."""
    is_of_law = finding.oracle == "metamorphic" and _needs_smoothness(finding.case)
    return is_of_law or is_of_values(finding)


def is_of_values(finding: Finding) -> bool:
    """Return whether results, or those of call and twin, differ in their numbers alone."""
    kinds = {"differential": finding.kind, "metamorphic": finding.detail}
    return kinds.get(finding.oracle) in _NUMERIC


def _needs_smoothness(case: Case) -> bool:
    relation = RELATIONS.items().get(case.relation)
    return relation is not None and relation.needs_smoothness


def nudged(case: Case, seed: int) -> Case:
    """Return the call with every floating-point element moved a little.

    By one rounding; where a law needs smooth functions, by a hundredth of the tensor's range and
    more, each tensor by another part: what was equal is not any more. Where there are no tensors,
    a call's numbers are what it computes with; where there are, they are settings and stay.
    """
    case = case.lowered()
    level = judged(case)
    shares = count(1)
    numbers_move = not level.inputs(case).epsilon and not _needs_smoothness(case)

    def rounded(tensor: ArrayValue | TensorValue) -> Value:
        is_moved = tensor.dtype in dtypes.FLOATING and math.prod(tensor.shape) <= _MAX_MOVED
        return replace(tensor, fill=moved_elements(tensor, seed)) if is_moved else tensor

    def narrowed(tensor: ArrayValue | TensorValue) -> Value:
        if not isinstance(tensor.fill, Uniform):
            return tensor
        low, high = tensor.fill.low, tensor.fill.high
        step = _STEP * next(shares) * (high - low)
        return replace(tensor, fill=replace(tensor.fill, low=low + step, high=high - step / 2))

    move = narrowed if _needs_smoothness(case) else rounded

    def moved(leaf: ArrayValue | TensorValue | LiteralValue) -> Value:
        if not isinstance(leaf, LiteralValue):
            return move(leaf)
        number = leaf.value
        if not (numbers_move and isinstance(number, float) and math.isfinite(number)):
            return leaf
        # Libraries take it as a number of 32 bits, unless they are told otherwise.
        return LiteralValue(number * (1.0 + dtypes.EPSILON["float32"]))

    def each(values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(_nudged(value, moved) for value in values)

    return level.nudged(case, seed, each)


def _nudged(
    value: Value, move: Callable[[ArrayValue | TensorValue | LiteralValue], Value]
) -> Value:
    match value:
        case ArrayValue() | TensorValue() | LiteralValue():
            return move(value)
        case ListValue(items) | TupleValue(items):
            return replace(value, items=tuple(_nudged(item, move) for item in items))
        case DictValue(pairs):
            return DictValue(tuple((key, _nudged(item, move)) for key, item in pairs))
        case CallValue(function, arguments, keywords):
            return CallValue(
                function,
                tuple(_nudged(item, move) for item in arguments),
                tuple((key, _nudged(item, move)) for key, item in keywords),
            )
        case _:
            return value


def moved_elements(value: ArrayValue | TensorValue, seed: int, *, of_zero: float = 0.0) -> Explicit:
    """Return the elements, each moved by one unit of its type's epsilon; a zero by `of_zero`."""
    fill = value_to_json(value)[3]
    given = elements(fill, value.dtype, value.shape).astype(np.float64).ravel()
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), given.size)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = given * (1.0 + signs * dtypes.EPSILON[value.dtype])
        moved = np.where(given == 0.0, signs * of_zero, moved)
    return Explicit(tuple(np.where(np.isfinite(moved), moved, given).tolist()))


def is_rounding(finding: Finding, seen: Mapping[str, Sequence[Outcome]]) -> bool:
    """Return whether rounding, or a kink, explains a finding.

    Args:
        finding: of a difference in values, with its outcomes.
        seen: by target, outcomes of calls that should come to nearly the same: repetitions, and
            calls with nudged inputs.
    """
    inputs = inputs_in(finding.case)
    if _needs_smoothness(finding.case):
        return any(
            not _breaks(outcome, finding, inputs) for n in finding.targets for outcome in seen[n]
        )
    condition = max(
        (
            _condition(finding.outcomes[name], other, inputs)
            for name in judged(finding.case).witnesses(finding)
            for other in seen.get(name, ())
        ),
        default=1.0,
    )
    if math.isinf(condition):
        return True
    return not _shows(finding, replace(inputs, condition=condition))


def _shows(finding: Finding, inputs: InputPrecision) -> bool:
    outcomes = [finding.outcomes[name] for name in finding.targets]
    if finding.oracle == "differential":
        reference, other = outcomes
        difference = differs(reference, other, inputs)
        return difference is not None and difference.kind == finding.kind
    return any(_breaks(outcome, finding, inputs) for outcome in outcomes)


def _breaks(outcome: Outcome, finding: Finding, inputs: InputPrecision) -> bool:
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    return output is not None and judged(finding.case).is_broken(finding.case, output, inputs)


def _condition(outcome: Outcome, other: Outcome, inputs: InputPrecision) -> float:
    """Return how far two outcomes are apart in roundings of the result.

    Infinite where they are not of one form: an index, a sign or a NaN that the last place of the
    inputs decides says nothing.
    """
    if not isinstance(outcome, Passed) or not isinstance(other, Passed):
        return math.inf
    if outcome.encoded == other.encoded:
        return 0.0
    mine, theirs = (decode_outputs(one.encoded) for one in (outcome, other))
    if mine is None or theirs is None:
        return math.inf
    parts = list(_parts(mine)), list(_parts(theirs))
    if len(parts[0]) != len(parts[1]):
        return math.inf
    return max((_apart(*pair, inputs) for pair in zip(*parts, strict=True)), default=0.0)


def _parts(output: Output) -> Iterator[tuple[str, NDArray[Any]]]:
    match output:
        case TensorOutput(dtype, _, numbers) | TensorDigest(dtype, _, numbers):
            yield dtype, numbers
        case Scalar(kind) if kind in "ifzo":
            yield "float32" if kind in "fz" else "int64", number(output)
        case Container(items=items):
            for item in items:
                yield from _parts(item)
        case _:
            return


def _apart(
    mine: tuple[str, NDArray[Any]], theirs: tuple[str, NDArray[Any]], inputs: InputPrecision
) -> float:
    (dtype, x), (other, y) = mine, theirs
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
