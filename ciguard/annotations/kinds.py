"""The kinds of type constraints: functions that return the valid values of an argument."""

from __future__ import annotations

from typing import Any, Iterable  # noqa: UP035 - Python 3.9 in targets

from .values import (
    AnnotationError,
    Ref,
    Values,
    check_lengths,
    check_numbers,
    check_order,
    constraint_on,
    first_given,
    values_with,
)


def froms(values: Iterable[Any]) -> Values:
    """Accept the values of a list: `froms([0, 0.0, None, zero()])`."""
    choices = list(values)
    if not choices:
        msg = "froms: the list of values is empty"
        raise AnnotationError(msg)
    return Values("froms", values=choices)


def bools() -> Values:
    """Accept True and False."""
    return Values("bools")


def ints(
    min: int | Ref | None = None,  # noqa: A002 - the paper's names
    max: int | Ref | None = None,  # noqa: A002
    *,
    min_value: int | Ref | None = None,
    max_value: int | Ref | None = None,
) -> Values:
    """Accept the integers of a closed range."""
    low, high = first_given(min, min_value), first_given(max, max_value)
    check_numbers("ints", int, min=low, max=high)
    check_order("ints", low, high)
    return values_with("ints", min=low, max=high)


def floats(  # noqa: PLR0913 - the paper's options
    min: float | Ref | None = None,  # noqa: A002 - the paper's names
    max: float | Ref | None = None,  # noqa: A002
    *,
    exclude_min: bool = False,
    exclude_max: bool = False,
    nan: bool | None = None,
    inf: bool | None = None,
    width: int = 64,
    min_value: float | Ref | None = None,
    max_value: float | Ref | None = None,
    allow_nan: bool | None = None,
    allow_infinity: bool | None = None,
) -> Values:
    """Accept the floating-point numbers of a range.

    Args:
        min: the least number; unbounded by default.
        max: the largest number; unbounded by default.
        exclude_min: whether `min` itself is invalid.
        exclude_max: whether `max` itself is invalid.
        nan: whether NaN is valid; False by default.
        inf: whether infinities are valid; False by default.
        width: precision of the numbers in bits: 16, 32 or 64.
        min_value: another name of `min`.
        max_value: another name of `max`.
        allow_nan: another name of `nan`.
        allow_infinity: another name of `inf`.
    """
    low, high = first_given(min, min_value), first_given(max, max_value)
    check_numbers("floats", (int, float), min=low, max=high)
    check_order("floats", low, high)
    if (exclude_min and low is None) or (exclude_max and high is None):
        msg = "floats: exclude_min needs min, and exclude_max needs max"
        raise AnnotationError(msg)
    if low == high and low is not None and (exclude_min or exclude_max):
        msg = f"floats: the open range from {low} to {high} is empty"
        raise AnnotationError(msg)
    if width not in (16, 32, 64):
        msg = f"floats: width={width!r} is not 16, 32 or 64"
        raise AnnotationError(msg)
    return values_with(
        "floats",
        min=low,
        max=high,
        exclude_min=exclude_min or None,
        exclude_max=exclude_max or None,
        nan=first_given(nan, allow_nan) or None,
        inf=first_given(inf, allow_infinity) or None,
        width=width if width != 64 else None,  # noqa: PLR2004 - Python's float
    )


def strings(
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    *,
    alphabet: str | None = None,
    pattern: str | None = None,
) -> Values:
    """Accept strings over an alphabet, or strings that match a pattern.

    Args:
        min_len: minimum number of characters.
        max_len: maximum number of characters.
        alphabet: the characters that may occur; any by default.
        pattern: regular expression that the whole string matches.
    """
    check_lengths("strings", min_len, max_len)
    return values_with(
        "strings", min_len=min_len, max_len=max_len, alphabet=alphabet, pattern=pattern
    )


def lists(
    items: Any,
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    *,
    min_size: int | Ref | None = None,
    max_size: int | Ref | None = None,
) -> Values:
    """Accept lists whose items are valid for the constraint `items`."""
    low, high = first_given(min_len, min_size), first_given(max_len, max_size)
    check_lengths("lists", low, high)
    return values_with("lists", items=constraint_on(items), min_len=low, max_len=high)


def tuples(
    *items: Any,
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
) -> Values:
    """Accept tuples with one item per constraint.

    With lengths, accept tuples of any such length whose items are valid for the only constraint.
    """
    if min_len is None and max_len is None:
        return Values("tuples", items=[constraint_on(item) for item in items])
    if len(items) != 1:
        msg = f"tuples: min_len and max_len need exactly one constraint, got {len(items)}"
        raise AnnotationError(msg)
    check_lengths("tuples", min_len, max_len)
    return values_with("tuples", item=constraint_on(items[0]), min_len=min_len, max_len=max_len)


def int_lists(
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    min: int | Ref | None = None,  # noqa: A002 - the paper's names
    max: int | Ref | None = None,  # noqa: A002
) -> Values:
    """Accept lists of integers of a range."""
    return lists(ints(min, max), min_len, max_len)


def np_shapes(
    min_dims: int | Ref | None = None,
    max_dims: int | Ref | None = None,
    *,
    min_side: int | None = None,
    max_side: int | None = None,
) -> Values:
    """Accept shapes: by default tuples of one to four dimensions of size 1 to 8."""
    check_lengths("np_shapes", min_dims, max_dims)
    check_order("np_shapes", min_side, max_side)
    return values_with(
        "np_shapes", min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )


def np_arrays(  # noqa: PLR0913 - the paper's options, and bounds
    np_type: Any = None,
    shape: Any = None,
    *,
    min: float | None = None,  # noqa: A002 - as in `ints`
    max: float | None = None,  # noqa: A002
    nan: bool = False,
    dtype: Any = None,
) -> Values:
    """Accept NumPy arrays.

    Args:
        np_type: a dtype, a list of dtypes, or a reference; the common dtypes by default.
        shape: a tuple, `np_shapes(…)`, or a reference; any shape by default.
        min: the least element.
        max: the largest element.
        nan: whether elements may be NaN or infinite.
        dtype: another name of `np_type`.
    """
    return _arrays("np_arrays", first_given(np_type, dtype), shape, min, max, nan=nan)


def tensors(  # noqa: PLR0913 - as `np_arrays`
    dtype: Any = None,
    shape: Any = None,
    *,
    min: float | None = None,  # noqa: A002 - as in `ints`
    max: float | None = None,  # noqa: A002
    nan: bool = False,
    library: str = "",
) -> Values:
    """Accept tensors of torch, tensorflow, jittor or jax.

    Args:
        dtype: see `np_arrays`.
        shape: see `np_arrays`.
        min: see `np_arrays`.
        max: see `np_arrays`.
        nan: see `np_arrays`.
        library: name of the library; by default the one that the annotated module imports.
    """
    values = _arrays("tensors", dtype, shape, min, max, nan=nan)
    if library:
        values.options["library"] = library
    return values


def dtypes(*names: str, library: str = "") -> Values:
    """Accept dtype objects of a library, or of NumPy with `library="numpy"`."""
    return values_with("dtypes", names=list(names) or None, library=library or None)


def dicts(
    keys: Any, values: Any, min_size: int | None = None, max_size: int | None = None
) -> Values:
    """Accept dictionaries whose keys and values are valid for these constraints."""
    check_lengths("dicts", min_size, max_size)
    return values_with(
        "dicts",
        keys=constraint_on(keys),
        values=constraint_on(values),
        min_size=min_size,
        max_size=max_size,
    )


def anys(*options: Any) -> Values:
    """Accept what any of the constraints accepts; any other object is a valid value itself."""
    if not options:
        msg = "anys: at least one constraint or value is needed"
        raise AnnotationError(msg)
    return Values("anys", options=[constraint_on(option) for option in options])


def objs(generator: Any) -> Values:
    """Accept what a generator function returns: `objs(models)`, or by name `objs("models")`."""
    if not callable(generator) and not isinstance(generator, str):
        msg = f"objs: {generator!r} is neither a function nor the name of one"
        raise AnnotationError(msg)
    return Values("objs", generator=generator)


def ref(expression: str) -> Any:
    """Refer to other arguments: `ints(max=ref("n"))`, `shape=ref("x.shape")`.

    Args:
        expression: may hold arguments, numbers, `+ - * // %`, `len(x)`, `x.shape`, `x.ndim`,
            `x.dtype`, `min`, `max`, `abs` and indices.
    """
    return Ref(expression)


def _arrays(  # noqa: PLR0913 - the options of both
    kind: str, dtype: Any, shape: Any, low: Any, high: Any, *, nan: bool
) -> Values:
    check_numbers(kind, (int, float), min=low, max=high)
    check_order(kind, low, high)
    if isinstance(shape, list):
        shape = tuple(shape)
    if isinstance(shape, int):
        shape = (shape,)
    return values_with(kind, dtype=dtype, shape=shape, min=low, max=high, nan=nan or None)
