"""Encoding of live outputs as JSON: small ones whole, large ones as a comparable digest.

The forms, which `ciguard.execution.outputs` decodes:

    ["T", dtype, shape, base64 of the elements]       a tensor or array with all elements
    ["D", dtype, shape, digest]                       a large tensor or array
    ["N", dtype, shape or null, reason]               a tensor that cannot be read
    ["L", class name, [items…], length]               list, tuple; the first 64 items
    ["M", class name, [[key, value]…], length]        dictionary
    ["i", digits] ["f", repr] ["z", repr] ["o", 0|1] ["s", text] ["b", latin-1]   scalars
    ["O", class name]                                 anything else
    null                                              None
    ["E", [indices…], [indices…], output]             an output, with the arguments that the call
                                                      changed, or that share memory with the output
"""

from __future__ import annotations

import binascii
import hashlib
import json
from typing import Any, Callable

import numpy as np

WHOLE_BYTES = 8192
"""Maximum size of an array that is returned whole, in bytes."""
SAMPLE = 64
"""Number of evenly spaced elements that are returned of a larger array."""
MAX_ITEMS = 64
MAX_TEXT = 2000
MAX_DEPTH = 6
_MAX_BITS = 4096
_MAX_BYTES_DIGESTED = 64 * 1024 * 1024

COMPACT = json.JSONEncoder(separators=(",", ":"))
"""Encoder without spaces, shared because `json.dumps` with separators makes one per call."""

_DTYPE_NAMES: dict[Any, str] = {}


class Summariser:
    """Encodes outputs with the adapter of one library."""

    def __init__(
        self, adapter: Any, *, max_items: int = MAX_ITEMS, whole_bytes: int = WHOLE_BYTES
    ) -> None:
        """Limit the items of each container, and the size of arrays that are returned whole."""
        self._read = adapter.read
        self._max_items = max_items
        self._whole_bytes = whole_bytes
        self._scalars: dict[type, Callable[[Any], Any]] = {
            type(None): lambda _: None,
            bool: lambda value: ["o", int(value)],
            int: lambda value: ["i", _digits(value)],
            float: lambda value: ["f", repr(value)],
            complex: lambda value: ["z", repr(value)],
            str: lambda value: ["s", _visible(value)],
            bytes: lambda value: ["b", value[:MAX_TEXT].decode("latin-1")],
        }

    def encode(self, output: Any) -> bytes:
        """Return the JSON text of an output."""
        read = self._read(output)
        if read is not None and "note" not in read:
            return _tensor_text(read["dtype"], read["array"], self._whole_bytes).encode("ascii")
        return COMPACT.encode(self.tree(output, 0)).encode("ascii")

    def encode_pair(self, output: Any, twin: list[Any]) -> bytes:
        """Return the JSON text of an output, and of the result of its related computation."""
        twin_tree = ["L", "list", [self.tree(item, 0) for item in twin], len(twin)]
        return COMPACT.encode(["L", "list", [self.tree(output, 0), twin_tree], 2]).encode("ascii")

    def tree(self, output: Any, depth: int) -> Any:
        """Return the JSON tree of an output."""
        scalar = self._scalars.get(type(output))
        if scalar is not None:
            return scalar(output)
        read = self._read(output)
        if read is not None:
            return self._tensor_tree(read)
        if isinstance(output, (np.ndarray, np.generic)):
            array = np.asarray(output)
            return _tensor_tree(_dtype_name(array.dtype), array, self._whole_bytes)
        if depth < MAX_DEPTH:
            return self._container(output, depth + 1)
        return ["O", type(output).__name__]

    def _container(self, output: Any, depth: int) -> Any:
        name = type(output).__name__
        if isinstance(output, (list, tuple)):
            items = [self.tree(item, depth) for item in output[: self._max_items]]
            return ["L", name, items, len(output)]
        if isinstance(output, dict):
            pairs: list[tuple[str, Any]] = [
                (_visible(str(key)), self.tree(output[key], depth))
                for key in list(output)[: self._max_items]
            ]
            return ["M", name, pairs, len(output)]
        if isinstance(output, (int, float, complex, str, bytes)):
            base = next(kind for kind in self._scalars if isinstance(output, kind))
            return self._scalars[base](base(output))
        return ["O", name]

    def _tensor_tree(self, read: dict[str, Any]) -> Any:
        if "note" in read:
            shape = read.get("shape")
            return ["N", read["dtype"], None if shape is None else list(shape), read["note"]]
        return _tensor_tree(read["dtype"], read["array"], self._whole_bytes)


def _tensor_text(dtype: str, array: Any, whole_bytes: int) -> str:
    shape = str(list(array.shape))
    if array.dtype.kind == "O":
        items = [_visible(str(item)) for item in array.ravel()[:MAX_ITEMS].tolist()]
        return f'["N","{dtype}",{shape},{json.dumps(json.dumps(items))}]'
    if array.nbytes > whole_bytes:
        return f'["D","{dtype}",{shape},{json.dumps(_digest(array))}]'
    return f'["T","{dtype}",{shape},"{_whole(array)}"]'


def _tensor_tree(dtype: str, array: Any, whole_bytes: int) -> Any:
    if array.dtype.kind == "O" or array.nbytes > whole_bytes:
        return json.loads(_tensor_text(dtype, array, whole_bytes))
    return ["T", dtype, list(array.shape), _whole(array)]


def _whole(array: Any) -> str:
    return binascii.b2a_base64(array.tobytes(), newline=False).decode("ascii")


def _digest(array: Any) -> dict[str, Any]:
    """Return a digest of a large array; two digests can be compared within a tolerance."""
    flat = array.reshape(-1)
    step = max(1, flat.size // SAMPLE)
    digest: dict[str, Any] = {
        "sample": binascii.b2a_base64(flat[::step][:SAMPLE].tobytes(), newline=False).decode()
    }
    if array.nbytes <= _MAX_BYTES_DIGESTED:
        digest["sha256"] = hashlib.sha256(flat.tobytes()).hexdigest()[:16]
        if array.dtype.kind in "fc":
            digest["nan"] = int(np.isnan(flat).sum())
            digest["inf"] = int(np.isinf(flat).sum())
    return digest


def _dtype_name(dtype: Any) -> str:
    name = _DTYPE_NAMES.get(dtype)
    if name is None:
        name = _DTYPE_NAMES[dtype] = "string" if dtype.kind in "OSU" else str(dtype)
    return name


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < _MAX_BITS else f"{value.bit_length()} bits"


def _visible(text: str) -> str:
    return text[:MAX_TEXT].encode("ascii", "backslashreplace").decode("ascii")
