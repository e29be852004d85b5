"""What a rejection says of dtypes: phrases that name the wanted dtype and the one that was met."""

from __future__ import annotations

import re
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
from ciguard.knowledge.refinement.requirements import Fields, dtype_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIGNATURE = re.compile(r"signature=(.*?) ?-> ?[^;]*;(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"attr=(\w+):(?:list\()?type\)?[^;]*?allowed=\[([^\]]*)\]")
_NOT_ALLOWED = re.compile(
    r"[Vv]alue for attr '\w+' of \"?(\w+)\"? is not in the list of allowed values: ([\w\", ]+)"
)
_NTH_INPUT = re.compile(
    r"input #(\d+) ?\(zero-based\) was expected to be an? (\w+) tensor but is an? (\w+)"
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
_NOT_IMPLEMENTED = re.compile(r"not implemented for '(\w+)'")


def about_dtypes(
    message: str, text: str, values: Mapping[str, Value], names: Sequence[str]
) -> dict[str, Fields]:
    """Return what a message says of the dtypes of parameters; empty where it is of other things.

    Args:
        message: as the library wrote it.
        text: the same without its wrapping.
        values: the arguments of the call, by parameter.
        names: all parameters.
    """
    declared = _declared(message, names)
    if declared:
        return declared
    found = _NOT_ALLOWED.search(text)
    if found:
        wanted = tuple(d for d in map(dtype_named, re.findall(r"\w+", found.group(2))) if d)
        return _retyped(values, dtype_named(found.group(1)), wanted)
    found = _NTH_INPUT.search(text)
    if found:
        return _nth_retyped(values, int(found.group(1)), (found.group(3), found.group(2)))
    return _converted(text, values) or _related(text, values)


def dtype_of(value: Value) -> str:
    """Return the dtype of a tensor, a dtype object, or the first of a list; else nothing."""
    match value:
        case TensorValue(dtype=dtype) | DtypeValue(dtype):
            return dtype
        case ListValue((first, *_)) | TupleValue((first, *_)):
            return dtype_of(first)
        case _:
            return ""


def _declared(message: str, names: Sequence[str]) -> dict[str, Fields]:
    """Read the operator definition that TensorFlow quotes: it says more than the refusal."""
    found = _SIGNATURE.search(message)
    if not found:
        return {}
    allowed = {
        name: tuple(d for d in map(dtype_named, re.findall(r"\w+", listed)) if d)
        for name, listed in _ATTRIBUTE.findall(found.group(2))
    }
    fields: dict[str, Fields] = {}
    leaders: dict[str, str] = {}
    for argument, kind in re.findall(r"(\w+):(?:\w+\*)?(\w+)", found.group(1)):
        dtypes = allowed.get(kind) or tuple(filter(None, [dtype_named(kind)]))
        if argument not in names or not dtypes:
            continue
        fields[argument] = {"dtypes": dtypes}
        if kind in leaders:
            fields[argument]["dtype_of"] = leaders[kind]
        leaders.setdefault(kind, argument)
    return fields


def _retyped(values: Mapping[str, Value], met: str, wanted: tuple[str, ...]) -> dict[str, Fields]:
    if not met or not wanted:
        return {}
    return {name: {"dtypes": wanted} for name, value in values.items() if dtype_of(value) == met}


def _nth_retyped(
    values: Mapping[str, Value], nth: int, words: tuple[str, str]
) -> dict[str, Fields]:
    met, wanted = map(dtype_named, words)
    tensors = [name for name, value in values.items() if dtype_of(value)]
    candidates = [name for name in tensors if dtype_of(values[name]) == met]
    if not candidates or not wanted:
        return {}
    chosen = tensors[nth] if nth < len(tensors) and tensors[nth] in candidates else candidates[-1]
    earlier = tensors[: tensors.index(chosen)]
    leader = next((name for name in earlier if dtype_of(values[name]) == wanted), "")
    # An operator of one dtype takes it from its first input: another call would want another.
    return {chosen: {"dtype_of": leader} if leader else {"dtypes": (wanted,)}}


def _converted(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    """Read of an argument that has one dtype where another is wanted."""
    found = _CONVERT.search(text)
    if found:
        is_integer = dtype_named(found.group(2)).startswith(("int", "uint"))
        structure = Structure.INT if is_integer else Structure.FLOAT
        return {
            name: {"structures": (structure,)}
            for name, value in values.items()
            if isinstance(value, LiteralValue) and str(value.value) == found.group(1)
        }
    found = _CONVERSION.search(text) or _SCALAR_TYPE.search(text)
    if not found:
        return {}
    wanted, met = map(dtype_named, found.groups())
    wrong = [name for name, value in values.items() if dtype_of(value) == met]
    if not wanted or not wrong:
        return {}
    leader = next((name for name, value in values.items() if dtype_of(value) == wanted), "")
    if leader and _CONVERSION.search(text):
        # One argument sets the dtype of the others: the same call with another one says so again.
        return {wrong[0]: {"dtype_of": leader}}
    # The leading tensor is most often the one that the others must follow.
    return {wrong[-1]: {"dtypes": (wanted,)}}


def _related(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    if not _SAME.search(text):
        return {}
    tensors = [name for name, value in values.items() if isinstance(value, TensorValue)]
    return {name: {"dtype_of": tensors[0]} for name in tensors[1:]}
