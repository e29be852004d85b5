"""Element types (dtypes), by names that all libraries share."""

from __future__ import annotations

BOOLEAN = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATING = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = SIGNED + UNSIGNED
NUMERIC = INTEGERS + FLOATING + COMPLEX
EVERY = (*BOOLEAN, *NUMERIC, "string")
"""All dtypes that a worker can create from numpy arrays. A library may lack some of them."""
COMMON = ("float32", "float64", "int32", "int64", "bool")
"""Dtypes that nearly every API accepts for one of its parameters. They are drawn most often."""

EPSILON = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
"""Machine epsilon by dtype: distance from 1 to the next representable number."""
TF32_EPSILON = 2.0**-10
"""The same for TF32, to which GPUs round the inputs of products of single precision on request."""


def integer_range(dtype: str) -> tuple[int, int]:
    """Return the minimum and the maximum value of an integer dtype.

    Raises:
        KeyError: if `dtype` is not an integer dtype.
    """
    if dtype not in INTEGERS:
        raise KeyError(dtype)
    is_signed = not dtype.startswith("u")
    bits = int(dtype.removeprefix("u").removeprefix("int"))
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
