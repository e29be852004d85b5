"""Elements of an array from its fill, which are equal on every machine and numpy version.

A fuzzing case defines the content of an array by a seed, so that it stays small. Seeding a
generator for each array would cost more than the call under test. Instead, a fixed table of random
numbers is computed once, and a fill reads it from the offset that its seed selects.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

TABLE_SIZE = 65536
_UNIT = np.random.RandomState(0).random_sample(TABLE_SIZE)
_TABLE = np.concatenate([_UNIT, _UNIT])

_STORED_AS = {"bfloat16": "float32", "float8_e4m3fn": "float32", "float8_e5m2": "float32"}
"""Storage types of dtypes that numpy lacks; the adapter casts."""


_STORAGE: dict[str, Any] = {"string": np.dtype(object)}
_LIMITS: dict[Any, tuple[int, int]] = {}

_PREPARED: dict[tuple[str, float, float], Any] = {}
"""Elements of every seed, by dtype and range: a dozen ranges serve most of a campaign's arrays."""
_USES: dict[tuple[str, float, float], int] = {}
_OFTEN = 64
"""Uses of a range after which preparing it pays."""
_MAX_RANGES = 32
_MAX_COUNTED = 1024
_MAX_PREPARED = 1024
"""Maximum length of an array that is copied from prepared elements."""
_MAX_WIDTH = 2**31
"""Integers of wider ranges are computed one by one."""
_SPECIAL: dict[str, Any] = {}


def storage_dtype(dtype: str) -> Any:
    """Return the numpy dtype that holds elements of a common dtype.

    Raises:
        TypeError: if numpy has no suitable dtype.
    """
    storage = _STORAGE.get(dtype)
    if storage is None:
        storage = _STORAGE[dtype] = np.dtype(_STORED_AS.get(dtype, dtype))
    return storage


def _limits(array_dtype: Any) -> tuple[int, int]:
    limits = _LIMITS.get(array_dtype)
    if limits is None:
        info = np.iinfo(array_dtype)
        limits = _LIMITS[array_dtype] = (int(info.min), int(info.max))
    return limits


def elements(fill: Sequence[Any], dtype: str, shape: Sequence[int]) -> Any:
    """Return the array that a fill describes.

    Args:
        fill: JSON form of a `ciguard.domain.values.Fill`: `["k", value]`, `["u", seed, low, high]`,
            `["s", seed]` or `["x", [values…]]`.
        dtype: common name of the dtype; `string` gives an object array of bytes.
        shape: length of each axis, >= 0.

    Returns:
        A numpy array of `storage_dtype(dtype)`, C-contiguous, writable.

    Raises:
        ValueError: if an explicit fill does not have as many elements as the shape.
    """
    count = 1
    for size in shape:
        count *= size
    return _FILLS[fill[0]](fill, dtype, count).reshape(shape)


def _uniform_numbers(seed: int, count: int) -> Any:
    start = seed % TABLE_SIZE
    if count <= TABLE_SIZE:
        return _TABLE[start : start + count]
    return np.resize(np.roll(_UNIT, -start), count)


def _constant(fill: Sequence[Any], dtype: str, count: int) -> Any:
    if dtype == "string":
        return np.array([str(fill[1]).encode()] * count, dtype=object)
    value = float(fill[1]) if isinstance(fill[1], str) else fill[1]
    return np.full(count, _converted(np.array(value), dtype))


def _converted(array: Any, dtype: str) -> Any:
    """Return the numbers in a dtype; integers beyond its range wrap around in every numpy."""
    array_dtype = storage_dtype(dtype)
    if array_dtype.kind in "iu" and array.dtype.kind in "iu":
        return array.astype(array_dtype)
    return np.array(array.tolist(), dtype=array_dtype)


def _uniform(fill: Sequence[Any], dtype: str, count: int) -> Any:
    _, seed, low, high = fill
    if count <= _MAX_PREPARED:
        prepared = _prepared(dtype, low, high)
        if prepared is not None:
            start = seed % TABLE_SIZE
            return prepared[start : start + count].copy()
    return _drawn(seed, low, high, dtype, count)


def _prepared(dtype: str, low: float, high: float) -> Any:
    """Return the elements for all seeds in one range; None if the range is not used often."""
    key = (dtype, low, high)
    prepared = _PREPARED.get(key)
    if prepared is None and len(_PREPARED) < _MAX_RANGES:
        uses = _USES.get(key, 0) + 1
        if uses == _OFTEN and dtype != "string" and high - low < _MAX_WIDTH:
            with np.errstate(all="ignore"):  # the library under test judges what is out of range
                prepared = _drawn(0, low, high, dtype, TABLE_SIZE + _MAX_PREPARED)
            _PREPARED[key] = prepared
        if len(_USES) > _MAX_COUNTED:
            _USES.clear()
        _USES[key] = uses
    return prepared


def _drawn(seed: int, low: float, high: float, dtype: str, count: int) -> Any:
    uniform = _uniform_numbers(seed, count)
    array_dtype = storage_dtype(dtype)
    if array_dtype.kind == "f":
        return (uniform * (high - low) + low).astype(array_dtype)
    if array_dtype.kind == "b":
        return uniform >= 0.5  # noqa: PLR2004 - a fair coin
    if array_dtype.kind in "iu":
        return _integers(uniform, array_dtype, low, high)
    if array_dtype.kind == "c":
        imaginary = _uniform_numbers(seed + 7919, count)
        return ((uniform + 1j * imaginary) * (high - low) + (low + 1j * low)).astype(array_dtype)
    return np.array([b"s%d" % int(number * 10) for number in uniform], dtype=object)


def _integers(uniform: Any, array_dtype: Any, low: float, high: float) -> Any:
    smallest, largest = _limits(array_dtype)
    lower, upper = max(int(low), smallest), min(int(high), largest)
    if upper < lower:
        lower = upper = smallest if high < smallest else largest
    span = upper - lower + 1
    if span < 2**31 and -(2**63) <= lower < 2**63:
        return ((uniform * span).astype(np.int64) + lower).astype(array_dtype)
    exact: list[int] = [lower + int(number * span) for number in uniform.tolist()]
    return np.array([min(value, upper) for value in exact], dtype=array_dtype)


def special_values(dtype: str) -> Any:
    """Return the special values of a dtype, as a numpy array of its storage dtype."""
    array_dtype = storage_dtype(dtype)
    if array_dtype.kind in "fc":
        limits = np.finfo(array_dtype)
        values = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]
        values += [float(limits.max), float(limits.min), float(limits.tiny), float(limits.eps)]
        return np.array(values, dtype=array_dtype)
    if array_dtype.kind in "iu":
        integer = np.iinfo(array_dtype)
        signed = [-1] if integer.min < 0 else []
        return np.array([0, 1, integer.min, integer.max, *signed], dtype=array_dtype)
    if array_dtype.kind == "b":
        return np.array([False, True])
    return np.array([b"", b"\xff\xfe", b"a" * 100, b"nan", b"-1"], dtype=object)


def _special(fill: Sequence[Any], dtype: str, count: int) -> Any:
    choices = _SPECIAL.get(dtype)
    if choices is None:
        choices = _SPECIAL[dtype] = special_values(dtype)
    return choices[(_uniform_numbers(fill[1], count) * len(choices)).astype(np.int64)]


def _explicit(fill: Sequence[Any], dtype: str, count: int) -> Any:
    data = fill[1]
    if len(data) != count:
        message = f"explicit fill has {len(data)} elements, the shape needs {count}"
        raise ValueError(message)
    if dtype == "string":
        return np.array([str(value).encode() for value in data], dtype=object)
    numbers = [float(value) if isinstance(value, str) else value for value in data]
    return _converted(np.array(numbers), dtype)


_FILLS = {"k": _constant, "u": _uniform, "s": _special, "x": _explicit}
