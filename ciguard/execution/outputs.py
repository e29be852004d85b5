"""The outputs of a passed case, decoded from the form that `worker/summarise.py` writes."""

from __future__ import annotations

import base64
import binascii
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ciguard.execution.worker.fills import storage_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TensorOutput:
    """A tensor or array with all its elements."""

    dtype: str
    shape: tuple[int, ...]
    elements: NDArray[Any]
    """Flat, in the storage dtype (float32 for bfloat16); texts for `string`."""


@dataclass(frozen=True, slots=True)
class TensorDigest:
    """A large tensor: evenly spaced elements and counts."""

    dtype: str
    shape: tuple[int, ...]
    sample: NDArray[Any]
    sha256: str
    nan: int
    inf: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A tensor without elements that can be read: meta, sparse, quantised, resource."""

    dtype: str
    shape: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """None, a Python number, a string, or the class name of something else (kind `O`)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple or dictionary."""

    type_name: str
    keys: tuple[str, ...]
    """Empty for lists and tuples."""
    items: tuple[Output, ...]
    length: int


Output: TypeAlias = TensorOutput | TensorDigest | Unreadable | Scalar | Container


@dataclass(frozen=True, slots=True)
class Effects:
    """What a call did to its arguments; places count the tensors and arrays made for it."""

    changed: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    """Those with which the output shares memory."""


def decode_effects(encoded: bytes) -> Effects:
    """Return what a passed case did to its arguments."""
    if not encoded.startswith(b'["E"'):
        return Effects()
    try:
        _, changed, shared, _ = json.loads(encoded)
        return Effects(tuple(map(int, changed)), tuple(map(int, shared)))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return Effects()


def decode_outputs(encoded: bytes) -> Output | None:
    """Return the outputs of a passed case.

    Returns:
        None when the text cannot have been written by a healthy worker: it says nothing then,
        neither equal nor different.
    """
    try:
        return _decode(json.loads(encoded))
    except _CORRUPT:
        return None


_CORRUPT = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    binascii.Error,
)


def _decode(tree: Any) -> Output:
    if tree is None:
        return Scalar("none", "")
    decoded: Output = _DECODERS[tree[0]](*tree)
    return decoded


def _array(data: str, dtype: str) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(data, validate=True), dtype=storage_dtype(dtype))


def _tensor(_tag: str, dtype: str, shape: list[int], data: str) -> Output:
    if dtype == "string":
        return TensorOutput(dtype, tuple(shape), np.array(json.loads(data), dtype=object))
    elements = _array(data, dtype)
    if elements.size != math.prod(shape) or min(shape, default=0) < 0:
        message = f"{elements.size} elements in shape {shape}"
        raise ValueError(message)
    return TensorOutput(dtype, tuple(shape), elements)


def _tensor_digest(_tag: str, dtype: str, shape: list[int], digest: dict[str, Any]) -> Output:
    return TensorDigest(
        dtype,
        tuple(shape),
        _array(digest["sample"], dtype),
        str(digest.get("sha256", "")),
        int(digest.get("nan", 0)),
        int(digest.get("inf", 0)),
    )


def _sequence(_tag: str, name: str, items: list[Any], length: int) -> Output:
    return Container(name, (), tuple(_decode(item) for item in items), length)


def _mapping(_tag: str, name: str, pairs: list[Any], length: int) -> Output:
    keys = tuple(str(key) for key, _ in pairs)
    return Container(name, keys, tuple(_decode(item) for _, item in pairs), length)


def _scalar(tag: str, text: object) -> Output:
    return Scalar(tag, str(text))


_DECODERS: dict[str, Any] = {
    "T": _tensor,
    "D": _tensor_digest,
    "N": lambda _tag, dtype, shape, why: Unreadable(dtype, tuple(shape), why),
    "L": _sequence,
    "M": _mapping,
    "E": lambda _tag, _changed, _shared, output: _decode(output),
    **dict.fromkeys(("i", "f", "z", "o", "s", "b", "O"), _scalar),
}
