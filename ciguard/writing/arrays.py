"""Arrays as Python source text: explicit elements of small arrays, formulas for large ones.

The formulas repeat those of `ciguard.execution.worker.fills`, so that scripts do not need ciguard.
A test checks that they return the same elements as `fills`.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain.values import Constant, Explicit, Special, Uniform, value_to_json
from ciguard.execution.worker.fills import elements, special_values, storage_dtype
from ciguard.writing.literals import element, nested_lists, scalar, shape_text

if TYPE_CHECKING:
    from ciguard.domain.values import ArrayValue, TensorValue

MAX_EXPLICIT_ELEMENTS = 64
"""Maximum number of elements that a script writes explicitly."""

UNIT_FUNCTION = '''
UNIT = np.random.RandomState(0).random_sample(65536)


def unit(seed, count):
    """Return pseudo-random numbers in [0, 1), the same on every machine."""
    return np.resize(np.roll(UNIT, -(seed % 65536)), count)
'''.strip()
"""Source text of the function `unit`, for scripts whose formulas call it."""


def has_explicit_elements(value: ArrayValue | TensorValue) -> bool:
    """Return whether scripts write the array's elements explicitly: few, or without a formula."""
    return prod(value.shape) <= MAX_EXPLICIT_ELEMENTS or isinstance(value.fill, Explicit)


def content(value: ArrayValue | TensorValue) -> Any:
    """Return the array that a value describes, in numpy's storage dtype.

    Raises:
        ValueError: if the array cannot be built; no target can build it either.
    """
    return _elements(value, value.shape)


def constant_element(value: ArrayValue | TensorValue) -> str | None:
    """Return the source text of the element that fills an array; None without such an element."""
    return element(_elements(value, (1,))[0]) if isinstance(value.fill, Constant) else None


def _elements(value: ArrayValue | TensorValue, shape: tuple[int, ...]) -> Any:
    try:
        return elements(value_to_json(value)[3], value.dtype, shape)
    except (TypeError, OverflowError) as error:
        msg = f"cannot build an array of {value.dtype} with shape {shape}: {error}"
        raise ValueError(msg) from error


def numpy_array(value: ArrayValue | TensorValue) -> str:
    """Return an expression for the array; it uses `np`, and `unit` if the array is large."""
    stored = storage_dtype(value.dtype)
    dtype = "object" if stored.kind == "O" else f'"{stored}"'
    shape = shape_text(value.shape)
    constant = constant_element(value)
    if 0 in value.shape:
        return f"np.zeros({shape}, dtype={dtype})"
    if constant is not None and value.shape:
        return f"np.full({shape}, {constant}, dtype={dtype})"
    if has_explicit_elements(value):
        return f"np.array({nested_lists(content(value))}, dtype={dtype})"
    return f"{_formula(value, prod(value.shape))}.reshape({shape})"


def _formula(value: ArrayValue | TensorValue, count: int) -> str:
    """Return an expression for a flat array of `count` elements.

    Raises:
        TypeError: if the value's fill has no formula.
    """
    match value.fill:
        case Uniform(seed, low, high):
            return _uniform(value.dtype, f"unit({seed}, {count})", fill=(seed, low, high, count))
        case Special(seed):
            choices = special_values(value.dtype)
            dtype = "object" if choices.dtype.kind == "O" else f'"{choices.dtype}"'
            elements = ", ".join(element(choice) for choice in choices)
            index = f'(unit({seed}, {count}) * {len(choices)}).astype("int64")'
            return f"np.array([{elements}], dtype={dtype})[{index}]"
        case _:
            msg = f"no formula for {type(value.fill).__name__}"
            raise TypeError(msg)


def _uniform(dtype: str, unit: str, *, fill: tuple[int, float, float, int]) -> str:
    """Return an expression for uniformly distributed elements.

    Args:
        dtype: dtype of the elements.
        unit: expression for numbers in [0, 1).
        fill: seed, lower and upper bound, and number of elements.
    """
    seed, low, high, count = fill
    stored = storage_dtype(dtype)
    match stored.kind:
        case "f":
            return f'({unit} * {scalar(high - low)} + {scalar(low)}).astype("{stored}")'
        case "b":
            return f"({unit} >= 0.5)"
        case "i" | "u":
            return _integers(unit, stored, low=low, high=high)
        case "c":
            plane = f"({unit} + 1j * unit({seed + 7919}, {count}))"
            return (
                f'({plane} * {scalar(high - low)} + {scalar(complex(low, low))}).astype("{stored}")'
            )
        case _:
            return f'np.array([b"s%d" % int(x * 10) for x in {unit}], dtype=object)'


def _integers(unit: str, stored: Any, *, low: float, high: float) -> str:
    """Return an expression for integers of the dtype `stored` between two bounds."""
    limits = np.iinfo(stored)
    minimum, maximum = max(int(low), int(limits.min)), min(int(high), int(limits.max))
    if maximum < minimum:
        minimum = maximum = int(limits.min) if high < limits.min else int(limits.max)
    span = maximum - minimum + 1
    if span < 2**31 and minimum < 2**63:
        return f'(({unit} * {span}).astype("int64") + {minimum}).astype("{stored}")'
    items = f"min({minimum} + int(x * {span}), {maximum}) for x in {unit}.tolist()"
    return f'np.array([{items}], dtype="{stored}")'
