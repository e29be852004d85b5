"""Dtypes in messages of rejections: phrases that name the expected and the actual dtype."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.knowledge.clues import Structure
from ciguard.knowledge.refinement.requirements import MAX_CACHED_TEXTS, Fields, named_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIGNATURE = re.compile(r"signature=(.*?) ?-> ?[^;]*;(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"attr=(\w+):(?:list\()?type\)?[^;]*?allowed=\[([^\]]*)\]")
_NOT_ALLOWED = re.compile(
    r"[Vv]alue for attr '\w+' of \"?(\w+)\"? is not in the list of allowed values: ([\w\", ]+)"
)
_NTH_INPUT = re.compile(
    r"(?:cannot compute (\w+) as )?input #(\d+) ?\(zero-based\) was expected to be an? (\w+) "
    r"tensor but is an? (\w+)"
)
_CONVERSION = re.compile(r"conversion requested dtype (\w+) for Tensor with dtype (\w+)")
_SCALAR_TYPE = re.compile(
    r"expected (?:scalar type|tensor for .*? to have .*?type) (\w+)[^.]*?"
    r"(?:but found|got|but got) (?:\w+\.)?(\w+)"
)
_SAME = re.compile(
    r"(?:same|equal|matching) (?:d?type|scalar type)|d?types? (?:to |must )(?:match|be the same)|"
    r"different d?types?|to have the same dtype",
    re.IGNORECASE,
)
_CONVERT = re.compile(r"Cannot convert (\S+) to EagerTensor of dtype (\w+)")
_PATTERNS = (_NOT_ALLOWED, _NTH_INPUT, _CONVERT, _CONVERSION, _SCALAR_TYPE, _SAME)


def demanded_dtypes(
    message: str, values: Mapping[str, Value], names: Sequence[str], *, text: str, operator: str
) -> dict[str, Fields]:
    """Return the demanded dtypes by parameter; empty if the message does not demand dtypes.

    Args:
        message: the message of the exception.
        values: the arguments of the call, by parameter.
        names: the names of all parameters.
        text: the message without text that the library adds to every message.
        operator: the name of the operator that the API is; empty if it is none.
    """
    if not _is_about_dtypes(message, text):
        return {}
    operator_dtypes = _dtypes_in_operator_definition(message, names)
    if operator_dtypes:
        return operator_dtypes
    match = _NOT_ALLOWED.search(text)
    if match:
        expected = tuple(d for d in map(named_dtype, re.findall(r"\w+", match.group(2))) if d)
        return _expected_dtypes(values, named_dtype(match.group(1)), expected)
    match = _NTH_INPUT.search(text)
    if match:
        rejecting, nth, expected_word, actual = match.groups()
        place = int(nth) if rejecting in {None, operator} else None
        return _expected_dtype_of_nth(
            values, place, (actual, expected_word), is_first=int(nth) == 0
        )
    return _demanded_conversion(text, values) or _demanded_same_dtype(text, values)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _is_about_dtypes(message: str, text: str) -> bool:
    """Return whether any pattern of this module matches, which most messages do not."""
    is_definition = _SIGNATURE.search(message) is not None
    return is_definition or any(pattern.search(text) for pattern in _PATTERNS)


def dtype_of(value: Value) -> str:
    """Return the dtype of a tensor, of a dtype object or of a list's first item; else empty."""
    match value:
        case TensorValue(dtype=dtype) | DtypeValue(dtype):
            return dtype
        case ListValue((first, *_)) | TupleValue((first, *_)):
            return dtype_of(first)
        case _:
            return ""


def _dtypes_in_operator_definition(message: str, names: Sequence[str]) -> dict[str, Fields]:
    """Return the dtypes in the operator definition that TensorFlow's message quotes."""
    match = _SIGNATURE.search(message)
    if not match:
        return {}
    allowed = {
        name: tuple(d for d in map(named_dtype, re.findall(r"\w+", listed)) if d)
        for name, listed in _ATTRIBUTE.findall(match.group(2))
    }
    fields: dict[str, Fields] = {}
    leaders: dict[str, str] = {}
    for argument, kind in re.findall(r"(\w+):(?:\w+\*)?(\w+)", match.group(1)):
        dtypes = allowed.get(kind) or tuple(filter(None, [named_dtype(kind)]))
        if argument not in names or not dtypes:
            continue
        fields[argument] = {"dtypes": dtypes}
        if kind in leaders:
            fields[argument]["dtype_of"] = leaders[kind]
        leaders.setdefault(kind, argument)
    return fields


def _expected_dtypes(
    values: Mapping[str, Value], actual: str, expected: tuple[str, ...]
) -> dict[str, Fields]:
    """Return the expected dtypes for every parameter whose argument has the actual dtype."""
    if not actual or not expected:
        return {}
    return {
        name: {"dtypes": expected} for name, value in values.items() if dtype_of(value) == actual
    }


def _expected_dtype_of_nth(
    values: Mapping[str, Value], nth: int | None, words: tuple[str, str], *, is_first: bool
) -> dict[str, Fields]:
    """Return the expected dtype of the n-th input, as that of another input if possible.

    The input has the actual dtype. Among several such arguments, its place decides, if the API is
    the operator that rejects the call; another operator numbers its inputs otherwise.

    Args:
        values: the arguments of the call, by parameter.
        nth: the index of the tensor among the API's inputs, from 0; None if it is unknown.
        words: the actual dtype and the expected dtype, as the message names them.
        is_first: whether it is the operator's first input, whose dtype no other input determines.
    """
    actual, expected = map(named_dtype, words)
    tensors = [name for name, value in values.items() if dtype_of(value)]
    candidates = [name for name in tensors if dtype_of(values[name]) == actual]
    if not candidates or not expected:
        return {}
    is_known = nth is not None and nth < len(tensors) and tensors[nth] in candidates
    blamed_name = tensors[nth] if is_known and nth is not None else candidates[-1]
    partner = next((name for name in tensors if dtype_of(values[name]) == expected), "")
    if is_first or not partner:
        return {blamed_name: {"dtypes": (expected,)}}
    # Both have one dtype, which the first of them determines, so that no two refer to each other.
    leader, follower = sorted((partner, blamed_name), key=tensors.index)
    return {follower: {"dtype_of": leader}}


def _demanded_conversion(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    """Return the fields for an argument whose dtype is not the expected dtype."""
    match = _CONVERT.search(text)
    if match:
        is_integer = named_dtype(match.group(2)).startswith(("int", "uint"))
        structure = Structure.INT if is_integer else Structure.FLOAT
        return {
            name: {"structures": (structure,)}
            for name, value in values.items()
            if isinstance(value, LiteralValue) and str(value.value) == match.group(1)
        }
    match = _CONVERSION.search(text) or _SCALAR_TYPE.search(text)
    if not match:
        return {}
    expected, actual = map(named_dtype, match.groups())
    mismatched_names = [name for name, value in values.items() if dtype_of(value) == actual]
    if not expected or not mismatched_names:
        return {}
    leader = next((name for name, value in values.items() if dtype_of(value) == expected), "")
    if leader and _CONVERSION.search(text):
        # The leader determines the dtype of the others, so the clue names the leader, not a dtype.
        return {mismatched_names[0]: {"dtype_of": leader}}
    # Mostly tensors must have the dtype of the leading tensor, so the last one is blamed.
    return {mismatched_names[-1]: {"dtypes": (expected,)}}


def _demanded_same_dtype(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    """Return the fields that give all tensors the dtype of the first; empty if not demanded."""
    if not _SAME.search(text):
        return {}
    tensors = [name for name, value in values.items() if isinstance(value, TensorValue)]
    return {name: {"dtype_of": tensors[0]} for name in tensors[1:]}
