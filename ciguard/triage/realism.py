"""Realism: does a plain program make such a call?

Five questions, one point each: is it public API that is called; are the types those that programs
compute with; are the shapes of ordinary rank and size, without an empty dimension; are the values
finite and of ordinary size; does the call keep to the documentation, as far as that is known.
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

QUESTIONS = 5
_DTYPES = frozenset(
    {"float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex64"}
)
_MAX_RANK = 5
_MAX_ELEMENTS = 4096 * 4096
_MAX_NUMBER = 2**31
_HUGE = 2**64
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Realism:
    """How plain a call is."""

    unusual: tuple[str, ...]
    """What no plain program has, one phrase per question that is answered with no."""

    @property
    def points(self) -> int:
        """How many of the questions are answered with yes."""
        return QUESTIONS - len(self.unusual)

    @property
    def is_plain(self) -> bool:
        """True if a plain program may make the call."""
        return not self.unusual

    @property
    def words(self) -> str:
        """Return e.g. `3 of 5 (an empty tensor; the number inf)`."""
        why = f" ({'; '.join(self.unusual)})" if self.unusual else ""
        return f"{self.points} of {QUESTIONS}{why}"


def realism(finding: Finding) -> Realism:
    """Return how plain the call is that a finding is shown by."""
    values = list(_all(finding.case))
    answers = (
        _api(finding),
        next(filter(None, map(_dtype, values)), ""),
        next(filter(None, map(_shape, values)), ""),
        next(filter(None, map(_number, values)), ""),
        _documentation(finding),
    )
    return Realism(tuple(filter(None, answers)))


def is_plain(value: Value) -> bool:
    """Return whether a value is an ordinary number, tensor, bool or None, or a list of such."""
    match value:
        case ListValue(items) | TupleValue(items):
            return bool(items) and all(map(is_plain, items))
        case TensorValue() | ArrayValue() | LiteralValue(bool() | int() | float() | None):
            return not (_dtype(value) or _shape(value) or _number(value))
        case _:
            return False


def _all(case: Case) -> Iterator[Value]:
    """Yield every value of a case, those within others too."""
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
                pass  # holds no others


def _api(finding: Finding) -> str:
    return "a raw entry point" if is_raw(finding.api) else ""


def _dtype(value: Value) -> str:
    match value:
        case TensorValue(dtype=dtype) | ArrayValue(dtype=dtype) | DtypeValue(dtype):
            name = dtype.rpartition(".")[2]
            return "" if name in _DTYPES else f"type {name}"
        case _:
            return ""


def _shape(value: Value) -> str:
    if not isinstance(value, TensorValue | ArrayValue):
        return ""
    if 0 in value.shape:
        return "an empty tensor"
    if len(value.shape) > _MAX_RANK:
        return f"{len(value.shape)} dimensions"
    return "a huge tensor" if math.prod(value.shape) > _MAX_ELEMENTS else ""


def _number(value: Value) -> str:
    match value:
        case TensorValue(fill=fill) | ArrayValue(fill=fill):
            return _fill(fill)
        case LiteralValue(str(text)):
            is_plain = len(text) <= _MAX_TEXT and text.isprintable()
            return "" if is_plain else "an unusual text"
        case LiteralValue(int(number) | float(number)):
            return _of_size(number)
        case _:
            return ""


def _fill(fill: Fill) -> str:
    match fill:
        case Constant(number):
            return _of_size(number)
        case Uniform(low=low, high=high):
            return _of_size(low) or _of_size(high)
        case Explicit(data):
            return next(filter(None, map(_of_size, data)), "")
        case Special():
            return "infinities or NaN"


def _of_size(number: float) -> str:
    if abs(number) <= _MAX_NUMBER:
        return ""
    is_finite_and_huge = _HUGE <= abs(number) < math.inf
    return "a huge number" if is_finite_and_huge else f"the number {number!r}"


def _documentation(finding: Finding) -> str:
    """Return how the call differs from what is known of it; nothing known counts as kept to."""
    case = finding.case
    if finding.evidence.breach:
        return "not as documented"
    is_call = isinstance(case, ApiCall)
    return "arguments that are forbidden" if is_call and case.intent is Intent.VIOLATING else ""
