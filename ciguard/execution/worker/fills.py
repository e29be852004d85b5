"""The elements of an array from its fill: the same numbers on every machine and numpy version.

A fuzzing case names its array's content by a seed, so that it stays small. Seeding a generator per
array would cost more than the call under test; instead one fixed table of random numbers is made
once, and a fill reads it from the place that its seed names.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

TABLE_SIZE = 65536
_UNIT = np.random.RandomState(0).random_sample(TABLE_SIZE)
_TABLE = np.concatenate([_UNIT, _UNIT])

_STORED_AS = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}
"""Types that numpy lacks travel as float32; the adapter casts."""


_STORAGE: dict[str, Any] = {"string": np.dtype(object)}
_LIMITS: dict[Any, tuple[int, int]] = {}


def storage_dtype(dtype: str) -> Any:
    """Return the numpy dtype that holds elements of a common dtype.

    Raises:
        TypeError: if numpy has no dtype that could.
    """
    found = _STORAGE.get(dtype)
    if found is None:
        found = _STORAGE[dtype] = np.dtype(_STORED_AS.get(dtype, dtype))
    return found


def _limits(kind: Any) -> tuple[int, int]:
    found = _LIMITS.get(kind)
    if found is None:
        limits = np.iinfo(kind)
        found = _LIMITS[kind] = (int(limits.min), int(limits.max))
    return found


def elements(fill: Sequence[Any], dtype: str, shape: Sequence[int]) -> Any:
    """Return the array that a fill describes.

    Args:
        fill: JSON form of a `ciguard.domain.values.Fill`: `["k", value]`, `["u", seed, low, high]`,
            `["s", seed]` or `["x", [values…]]`.
        dtype: common name; `string` gives an object array of bytes.
        shape: sizes, each >= 0.

    Returns:
        A numpy array of `storage_dtype(dtype)`, C-contiguous, writable.

    Raises:
        ValueError: if the fill does not fit the shape, or is none of the four.
    """
    count = 1
    for size in shape:
        count *= size
    return _FILLS[fill[0]](fill, dtype, count).reshape(shape)


def _unit(seed: int, count: int) -> Any:
    start = seed % TABLE_SIZE
    if count <= TABLE_SIZE:
        return _TABLE[start : start + count]
    return np.resize(np.roll(_UNIT, -start), count)


def _constant(fill: Sequence[Any], dtype: str, count: int) -> Any:
    if dtype == "string":
        return np.array([str(fill[1]).encode()] * count, dtype=object)
    value = float(fill[1]) if isinstance(fill[1], str) else fill[1]
    return np.full(count, value, storage_dtype(dtype))


def _uniform(fill: Sequence[Any], dtype: str, count: int) -> Any:
    _, seed, low, high = fill
    unit = _unit(seed, count)
    kind = storage_dtype(dtype)
    if kind.kind == "f":
        return (unit * (high - low) + low).astype(kind)
    if kind.kind == "b":
        return unit >= 0.5  # noqa: PLR2004 - a fair coin
    if kind.kind in "iu":
        return _integers(unit, kind, low, high)
    if kind.kind == "c":
        imaginary = _unit(seed + 7919, count)
        return ((unit + 1j * imaginary) * (high - low) + (low + 1j * low)).astype(kind)
    return np.array([b"s%d" % int(x * 10) for x in unit], dtype=object)


def _integers(unit: Any, kind: Any, low: float, high: float) -> Any:
    smallest, largest = _limits(kind)
    least, most = max(int(low), smallest), min(int(high), largest)
    if most < least:
        least = most = smallest if high < smallest else largest
    span = most - least + 1
    if span < 2**31 and -(2**63) <= least < 2**63:
        return ((unit * span).astype(np.int64) + least).astype(kind)
    exact: list[int] = [least + int(x * span) for x in unit.tolist()]
    return np.array([min(value, most) for value in exact], dtype=kind)


def special_values(dtype: str) -> Any:
    """Return the special values of a dtype, as a numpy array of its storage dtype."""
    kind = storage_dtype(dtype)
    if kind.kind in "fc":
        limits = np.finfo(kind)
        values = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]
        values += [float(limits.max), float(limits.min), float(limits.tiny), float(limits.eps)]
        return np.array(values, dtype=kind)
    if kind.kind in "iu":
        integer = np.iinfo(kind)
        signed = [-1] if integer.min < 0 else []
        return np.array([0, 1, integer.min, integer.max, *signed], dtype=kind)
    if kind.kind == "b":
        return np.array([False, True])
    return np.array([b"", b"\xff\xfe", b"a" * 100, b"nan", b"-1"], dtype=object)


def _special(fill: Sequence[Any], dtype: str, count: int) -> Any:
    choices = special_values(dtype)
    return choices[(_unit(fill[1], count) * len(choices)).astype(np.int64)]


def _explicit(fill: Sequence[Any], dtype: str, count: int) -> Any:
    data = fill[1]
    if len(data) != count:
        message = f"explicit fill has {len(data)} elements, the shape needs {count}"
        raise ValueError(message)
    if dtype == "string":
        return np.array([str(value).encode() for value in data], dtype=object)
    numbers = [float(value) if isinstance(value, str) else value for value in data]
    return np.array(numbers, dtype=storage_dtype(dtype))


_FILLS = {"k": _constant, "u": _uniform, "s": _special, "x": _explicit}
