"""Type constraints: each function returns a description of the valid values of an argument."""

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
    """Accept only the values of a non-empty list: `froms([0, 0.0, None, zero()])`."""
    choices = list(values)
    if not choices:
        msg = "froms: the list of values is empty; add at least one value"
        raise AnnotationError(msg)
    return Values("froms", values=choices)


def bools() -> Values:
    """Accept True and False."""
    return Values("bools")


def ints(
    min: int | Ref | None = None,  # noqa: A002 - the names in the aNNoTest paper
    max: int | Ref | None = None,  # noqa: A002
    *,
    min_value: int | Ref | None = None,
    max_value: int | Ref | None = None,
) -> Values:
    """Accept the integers from `min` to `max`, both inclusive; None for no bound.

    `min_value` and `max_value` are aliases of `min` and `max`.
    """
    low, high = first_given(min, min_value), first_given(max, max_value)
    check_numbers("ints", int, min=low, max=high)
    check_order("ints", low, high)
    return values_with("ints", min=low, max=high)


def floats(  # noqa: PLR0913 - all options in the aNNoTest paper
    min: float | Ref | None = None,  # noqa: A002 - the names in the aNNoTest paper
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
        min: smallest valid number; None for no lower bound.
        max: largest valid number; None for no upper bound.
        exclude_min: whether `min` itself is invalid.
        exclude_max: whether `max` itself is invalid.
        nan: whether NaN is valid; None means False.
        inf: whether infinities are valid; None means False.
        width: precision of the numbers in bits: 16, 32 or 64.
        min_value: alias of `min`.
        max_value: alias of `max`.
        allow_nan: alias of `nan`.
        allow_infinity: alias of `inf`.

    Raises:
        AnnotationError: if an option is malformed, or no number is valid.
    """
    low, high = first_given(min, min_value), first_given(max, max_value)
    check_numbers("floats", (int, float), min=low, max=high)
    check_order("floats", low, high)
    if (exclude_min and low is None) or (exclude_max and high is None):
        msg = "floats: exclude_min requires min, and exclude_max requires max"
        raise AnnotationError(msg)
    if low == high and low is not None and (exclude_min or exclude_max):
        msg = f"floats: the range from {low} to {high} contains no number with its ends excluded"
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
        width=width if width != 64 else None,  # noqa: PLR2004 - bits of Python's float, the default
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
        alphabet: all characters that may occur; None for any characters.
        pattern: regular expression that the whole string must match; None for any string.
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
    """Accept lists whose items the constraint `items` accepts.

    Args:
        items: a constraint, or the only valid item.
        min_len: minimum number of items.
        max_len: maximum number of items.
        min_size: alias of `min_len`.
        max_size: alias of `max_len`.
    """
    low, high = first_given(min_len, min_size), first_given(max_len, max_size)
    check_lengths("lists", low, high)
    return values_with("lists", items=constraint_on(items), min_len=low, max_len=high)


def tuples(
    *items: Any,
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
) -> Values:
    """Accept tuples whose items match one constraint each, in order.

    With `min_len` or `max_len`, accept tuples of such a length whose items match one constraint.

    Raises:
        AnnotationError: if a length is given, but not exactly one constraint.
    """
    if min_len is None and max_len is None:
        return Values("tuples", items=[constraint_on(item) for item in items])
    if len(items) != 1:
        msg = f"tuples: min_len and max_len require exactly one constraint, not {len(items)}"
        raise AnnotationError(msg)
    check_lengths("tuples", min_len, max_len)
    return values_with("tuples", item=constraint_on(items[0]), min_len=min_len, max_len=max_len)


def int_lists(
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    min: int | Ref | None = None,  # noqa: A002 - the names in the aNNoTest paper
    max: int | Ref | None = None,  # noqa: A002
) -> Values:
    """Accept lists of integers from `min` to `max`, both inclusive."""
    return lists(ints(min, max), min_len, max_len)


def np_shapes(
    min_dims: int | Ref | None = None,
    max_dims: int | Ref | None = None,
    *,
    min_side: int | None = None,
    max_side: int | None = None,
) -> Values:
    """Accept shapes as tuples of integers, by default 1 to 4 dimensions of size 1 to 8.

    Args:
        min_dims: minimum number of dimensions.
        max_dims: maximum number of dimensions.
        min_side: minimum size of each dimension.
        max_side: maximum size of each dimension.
    """
    check_lengths("np_shapes", min_dims, max_dims)
    check_order("np_shapes", min_side, max_side)
    return values_with(
        "np_shapes", min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )


def np_arrays(  # noqa: PLR0913 - all options in the aNNoTest paper, and bounds of the elements
    np_type: Any = None,
    shape: Any = None,
    *,
    min: float | None = None,  # noqa: A002 - the names of bounds in all constraints
    max: float | None = None,  # noqa: A002
    nan: bool = False,
    dtype: Any = None,
) -> Values:
    """Accept NumPy arrays.

    Args:
        np_type: a dtype, a list of dtypes, or a reference to another argument's dtype; None for the
            common dtypes.
        shape: a tuple, `np_shapes(…)`, or a reference to another argument's shape; None for any.
        min: smallest value that an element may have; None for no lower bound.
        max: largest value that an element may have; None for no upper bound.
        nan: whether elements may be NaN or infinite.
        dtype: alias of `np_type`.
    """
    return _arrays("np_arrays", first_given(np_type, dtype), shape, min, max, nan=nan)


def tensors(  # noqa: PLR0913 - the options of `np_arrays`, and a library
    dtype: Any = None,
    shape: Any = None,
    *,
    min: float | None = None,  # noqa: A002 - the names of bounds in all constraints
    max: float | None = None,  # noqa: A002
    nan: bool = False,
    library: str = "",
) -> Values:
    """Accept tensors of torch, tensorflow, jittor or jax.

    Args:
        dtype: a dtype, a list of dtypes, or a reference to another argument's dtype; None for the
            common dtypes.
        shape: a tuple, `np_shapes(…)`, or a reference to another argument's shape; None for any.
        min: smallest value that an element may have; None for no lower bound.
        max: largest value that an element may have; None for no upper bound.
        nan: whether elements may be NaN or infinite.
        library: name of the library; if empty, the library that the annotated module imports.
    """
    values = _arrays("tensors", dtype, shape, min, max, nan=nan)
    if library:
        values.options["library"] = library
    return values


def dtypes(*names: str, library: str = "") -> Values:
    """Accept dtype objects.

    Args:
        names: names of the valid dtypes, such as `float32`; none for all common dtypes.
        library: name of the library, or `numpy`; if empty, the library that the module imports.
    """
    return values_with("dtypes", names=list(names) or None, library=library or None)


def dicts(
    keys: Any, values: Any, min_size: int | None = None, max_size: int | None = None
) -> Values:
    """Accept dictionaries.

    Args:
        keys: constraint that each key must match.
        values: constraint that each value must match.
        min_size: minimum number of items.
        max_size: maximum number of items.
    """
    check_lengths("dicts", min_size, max_size)
    return values_with(
        "dicts",
        keys=constraint_on(keys),
        values=constraint_on(values),
        min_size=min_size,
        max_size=max_size,
    )


def anys(*options: Any) -> Values:
    """Accept all values that at least one of the options accepts.

    Args:
        options: constraints; any other object is itself a valid value.

    Raises:
        AnnotationError: if there are no options.
    """
    if not options:
        msg = "anys: there are no options; add at least one constraint or value"
        raise AnnotationError(msg)
    return Values("anys", options=[constraint_on(option) for option in options])


def objs(generator: Any) -> Values:
    """Accept the return values of a generator function.

    Args:
        generator: the function, or its name: `objs(models)` or `objs("models")`.
    """
    if not callable(generator) and not isinstance(generator, str):
        msg = f"objs: {generator!r} is neither a function nor the name of a function"
        raise AnnotationError(msg)
    return Values("objs", generator=generator)


def ref(expression: str) -> Any:
    """Refer to other arguments: `ints(max=ref("n"))`, `shape=ref("x.shape")`.

    Args:
        expression: source text that may contain arguments, numbers, `+ - * // %`, `len(x)`,
            `x.shape`, `x.ndim`, `x.dtype`, `min`, `max`, `abs` and indices.
    """
    return Ref(expression)


def _arrays(  # noqa: PLR0913 - the common options of `np_arrays` and `tensors`
    kind: str, dtype: Any, shape: Any, low: Any, high: Any, *, nan: bool
) -> Values:
    """Return the constraint for arrays or tensors after checks of its bounds."""
    check_numbers(kind, (int, float), min=low, max=high)
    check_order(kind, low, high)
    if isinstance(shape, list):
        shape = tuple(shape)
    if isinstance(shape, int):
        shape = (shape,)
    return values_with(kind, dtype=dtype, shape=shape, min=low, max=high, nan=nan or None)
