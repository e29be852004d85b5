"""Outputs of a passed case, decoded from the form that `worker/summarise.py` writes."""

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
    """Common name of the element type."""
    shape: tuple[int, ...]
    """Length of each axis."""
    elements: NDArray[Any]
    """Elements, flat, in the storage dtype (float32 for bfloat16); strings for `string`."""


@dataclass(frozen=True, slots=True)
class TensorDigest:
    """A large tensor, summarised by a sample of its elements, a hash and counts."""

    dtype: str
    """Common name of the element type."""
    shape: tuple[int, ...]
    """Length of each axis."""
    sample: NDArray[Any]
    """Evenly spaced elements, flat."""
    sha256: str
    """First 16 hexadecimal digits of the hash of all elements; empty for very large tensors."""
    nan: int
    """Number of elements that are NaN."""
    inf: int
    """Number of elements that are infinite."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A tensor whose elements cannot be read, such as a meta, sparse or quantised one."""

    dtype: str
    """Common name of the element type."""
    shape: tuple[int, ...] | None
    """Length of each axis; None if it is unknown."""
    why: str
    """Reason why the elements cannot be read."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """None, a Python number, a string, or the class name of another object."""

    kind: str
    """Kind of the value, as in `worker/summarise.py`; `O` for another object."""
    text: str
    """Value as text, or class name."""


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple or dictionary."""

    type_name: str
    """Class name."""
    keys: tuple[str, ...]
    """Keys of a dictionary; empty for lists and tuples."""
    items: tuple[Output, ...]
    """First items, or values of the first keys."""
    length: int
    """Number of all items."""


Output: TypeAlias = TensorOutput | TensorDigest | Unreadable | Scalar | Container


@dataclass(frozen=True, slots=True)
class Effects:
    """Side effects of a call on its arguments, numbered in the order of their creation."""

    changed: tuple[int, ...] = ()
    """Indices of the tensors and arrays that the call changed."""
    shared: tuple[int, ...] = ()
    """Indices of the tensors and arrays that share memory with the output."""


def decode_effects(encoded: bytes) -> Effects:
    """Return the side effects of a passed case on its arguments."""
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
        None if the text is malformed, so that it can be neither equal nor different.
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
    "N": lambda _tag, dtype, shape, why: Unreadable(
        dtype, None if shape is None else tuple(shape), why
    ),
    "L": _sequence,
    "M": _mapping,
    "E": lambda _tag, _changed, _shared, output: _decode(output),
    **dict.fromkeys(("i", "f", "z", "o", "s", "b", "O"), _scalar),
}
