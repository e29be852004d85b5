"""Short texts for results and outcomes, which a reader can compare."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.execution import (
    Container,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_measured,
    decode_outputs,
)
from ciguard.oracles.comparing.comparison import compare_outputs, shape_in_words
from ciguard.oracles.contract import headline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output

_MAX_ITEMS = 3
_MAX_TEXT_LENGTH = 40


def output_in_words(output: Output, *, start: int = 0) -> str:
    """Return a result as text: its type, its shape and a few elements from index `start` on."""
    match output:
        case Container(type_name, _, items, length):
            parts = ", ".join(output_in_words(item) for item in items[:_MAX_ITEMS])
            return f"{type_name} of {length}: {parts}{', …' * (length > _MAX_ITEMS)}"
        case Scalar("O", text):
            return f"an object of {text[:_MAX_TEXT_LENGTH]}"
        case Scalar("none"):
            return "None"
        case Scalar(_, text):
            return text[:_MAX_TEXT_LENGTH]
        case Unreadable(dtype, shape):
            return f"{dtype}{shape_in_words(shape)}"
        case TensorOutput() | TensorDigest():
            return _describe_elements(output, start)
        case _:
            assert_never(output)


def _describe_elements(output: TensorOutput | TensorDigest, start: int) -> str:
    """Return a tensor as text: its type, its shape and a few elements from index `start` on."""
    description = f"{output.dtype}{list(output.shape)}"
    elements = _elements(output)[start : start + _MAX_ITEMS].tolist()
    if not elements:
        return description
    ellipsis = ", …" * (start + _MAX_ITEMS < math.prod(output.shape))
    listed = ", ".join(map(_format_element, elements))
    return f"{description} ({_position_prefix(output, start)}{listed}{ellipsis})"


def _position_prefix(output: TensorOutput | TensorDigest, start: int) -> str:
    """Return the position of the first shown element as text; `…` for a sample of elements."""
    if not start:
        return ""
    if isinstance(output, TensorDigest):
        return "…, "
    return f"from {[int(index) for index in np.unravel_index(start, output.shape)]}: "


def _format_element(element: object) -> str:
    match element:
        case bool() | int() | str() | bytes():
            return f"{element!r:.20}"
        case float() | complex():
            return f"{element:.9g}"
        case _:
            return "…"


def side_by_side(left: Output, right: Output) -> tuple[str, str]:
    """Return two results as texts that show the elements at the largest difference.

    For containers, the texts show only the first item that differs.
    """
    match left, right:
        case Container(items=items, length=length), Container(items=other_items) if (
            length == right.length
        ):
            for index, (item, other) in enumerate(zip(items, other_items, strict=False)):
                if compare_outputs(item, other) is not None:
                    left_text, right_text = side_by_side(item, other)
                    return f"item {index}: {left_text}", f"item {index}: {right_text}"
        case (TensorOutput() | TensorDigest(), TensorOutput() | TensorDigest()) if (
            left.shape == right.shape
        ):
            start = _index_of_largest_difference(_elements(left), _elements(right))
            return output_in_words(left, start=start), output_in_words(right, start=start)
        case _:
            pass
    return output_in_words(left), output_in_words(right)


def _elements(output: TensorOutput | TensorDigest) -> NDArray[Any]:
    return output.elements if isinstance(output, TensorOutput) else output.sample


def _index_of_largest_difference(left: NDArray[Any], right: NDArray[Any]) -> int:
    """Return the index of the largest difference; 0 if it is among the first elements."""
    if left.shape != right.shape or not left.size or left.dtype.kind in "OSU":
        return 0
    equal = left == right
    if {left.dtype.kind, right.dtype.kind} <= set("fc"):
        equal |= np.isnan(left) & np.isnan(right)
    with np.errstate(all="ignore"):
        distance = np.abs(left.astype(np.complex128) - right)
    distance[np.isnan(distance)] = math.inf
    distance[equal] = 0.0
    index = int(distance.argmax())
    return 0 if index < _MAX_ITEMS else index


def outcome_in_words(outcome: Outcome) -> str:
    """Return an outcome as a phrase; most are predicates of the call, such as `returns 3`."""
    match outcome:
        case Passed(encoded):
            output = None if decode_measured(encoded) else decode_outputs(encoded)
            return "returns" if output is None else f"returns {output_in_words(output)}"
        case Rejected(exception, message):
            return f"raises {exception}: {headline(message)}"
        case Errored(exception, message):
            return f"fails internally with {exception}: {headline(message)}"
        case Crashed(cause):
            return f"the process crashes ({cause})"
        case Hung(limit_s):
            return f"no return within {limit_s:g} s"
        case Exhausted(resource):
            return f"{resource.value} runs out"
        case _:
            assert_never(outcome)


def outcomes_side_by_side(reference: Outcome, other: Outcome) -> tuple[str, str]:
    """Return two outcomes as phrases. Results are shown at their largest difference."""
    if isinstance(reference, Passed) and isinstance(other, Passed):
        left, right = decode_outputs(reference.encoded), decode_outputs(other.encoded)
        if left is not None and right is not None:
            left_text, right_text = side_by_side(left, right)
            return f"returns {left_text}", f"returns {right_text}"
    return outcome_in_words(reference), outcome_in_words(other)
