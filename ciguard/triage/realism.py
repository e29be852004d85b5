"""Realism: a score for how likely an ordinary program makes a call.

A call gets a point for each of five criteria: a public API; common dtypes; shapes of common rank
and size without empty dimensions; finite numbers of common size; no known violation of the
documentation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.intent import Intent
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.triage.reach import is_raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.values import Fill, Value

CRITERIA = 5
"""Number of criteria."""
_COMMON_DTYPES = frozenset(
    {"float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64"}
)
_MAX_RANK = 5
_MAX_ELEMENTS = 4096 * 4096
_MAX_COMMON_NUMBER = 2**31
_MIN_HUGE_NUMBER = 2**64
"""Magnitude from which on a number is described as huge instead of being shown."""
_MAX_TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Realism:
    """The criteria that a call does not meet."""

    unusual: tuple[str, ...]
    """A phrase for each criterion that the call does not meet."""

    @property
    def points(self) -> int:
        """Number of criteria that the call meets."""
        return CRITERIA - len(self.unusual)

    @property
    def is_plain(self) -> bool:
        """True if the call meets all criteria."""
        return not self.unusual

    @property
    def words(self) -> str:
        """The score as text: `3 of 5 (an empty tensor; the number inf)`."""
        reasons = f" ({'; '.join(self.unusual)})" if self.unusual else ""
        return f"{self.points} of {CRITERIA}{reasons}"


def realism(finding: Finding) -> Realism:
    """Return what is unusual about the call in a finding, as a score of how realistic it is."""
    values = list(_all_values(finding.case))
    unusual = (
        _unusual_api(finding),
        next(filter(None, map(_unusual_dtype, values)), ""),
        next(filter(None, map(_unusual_shape, values)), ""),
        next(filter(None, map(_unusual_content, values)), ""),
        _violation(finding),
    )
    return Realism(tuple(filter(None, unusual)))


def is_plain(value: Value) -> bool:
    """Return whether a value is a common number, tensor, bool or None, or a list of them."""
    match value:
        case ListValue(items) | TupleValue(items):
            return bool(items) and all(map(is_plain, items))
        case TensorValue() | ArrayValue() | LiteralValue(bool() | int() | float() | None):
            return not (_unusual_dtype(value) or _unusual_shape(value) or _unusual_content(value))
        case _:
            return False


def _all_values(case: Case) -> Iterator[Value]:
    """Yield all values of a case, including nested ones."""
    pending = [*case.values]
    while pending:
        value = pending.pop()
        yield value
        match value:
            case ListValue(items) | TupleValue(items):
                pending.extend(items)
            case DictValue(pairs):
                pending.extend(item for _, item in pairs)
            case CallValue(_, arguments, keywords):
                pending.extend((*arguments, *(item for _, item in keywords)))
            case _:
                pass  # other values hold no values


def _unusual_api(finding: Finding) -> str:
    """Return a phrase for a raw entry point; empty for a public API."""
    return "a raw entry point" if is_raw(finding.api) else ""


def _unusual_dtype(value: Value) -> str:
    """Return a phrase for a rare dtype of a value; empty if the dtype is common."""
    match value:
        case TensorValue(dtype=dtype) | ArrayValue(dtype=dtype) | DtypeValue(dtype):
            name = dtype.rpartition(".")[2]
            return "" if name in _COMMON_DTYPES else f"type {name}"
        case _:
            return ""


def _unusual_shape(value: Value) -> str:
    """Return a phrase for a rare shape of a value; empty if the shape is common."""
    if not isinstance(value, TensorValue | ArrayValue):
        return ""
    if 0 in value.shape:
        return "an empty tensor"
    if len(value.shape) > _MAX_RANK:
        return f"{len(value.shape)} dimensions"
    return "a huge tensor" if math.prod(value.shape) > _MAX_ELEMENTS else ""


def _unusual_content(value: Value) -> str:
    """Return a phrase for rare contents of a value; empty if they are common."""
    match value:
        case TensorValue(fill=fill) | ArrayValue(fill=fill):
            return _unusual_fill(fill)
        case LiteralValue(str(text)):
            is_plain = len(text) <= _MAX_TEXT_LENGTH and text.isprintable()
            return "" if is_plain else "an unusual string"
        case LiteralValue(int(number) | float(number)):
            return _unusual_number(number)
        case _:
            return ""


def _unusual_fill(fill: Fill) -> str:
    """Return a phrase for rare elements of a fill; empty if they are common."""
    match fill:
        case Constant(number):
            return _unusual_number(number)
        case Uniform(low=low, high=high):
            return _unusual_number(low) or _unusual_number(high)
        case Explicit(data):
            return next(filter(None, map(_unusual_number, data)), "")
        case Special():
            return "infinities or NaN"


def _unusual_number(number: float) -> str:
    """Return a phrase for a large or non-finite number; empty for other numbers."""
    if abs(number) <= _MAX_COMMON_NUMBER:
        return ""
    is_finite_and_huge = _MIN_HUGE_NUMBER <= abs(number) < math.inf
    return "a huge number" if is_finite_and_huge else f"the number {number!r}"


def _violation(finding: Finding) -> str:
    """Return the known violation of the documentation; empty if none is known."""
    case = finding.case
    if finding.evidence.breach:
        return "not as documented"
    is_call = isinstance(case, ApiCall)
    return "arguments that are forbidden" if is_call and case.intent is Intent.VIOLATING else ""
