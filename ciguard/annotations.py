"""Annotations of neural-network functions: which inputs are valid, and what must hold.

The language of aNNoTest (section 3), under its names. This file needs the standard library alone,
and no other file of ciguard: a program that does not want the package may carry a copy of it.
Decorators note what they are told on the function and return the function itself.

    @arg("size", ints(min=1, max=8))
    @arg("sizes", int_lists(min_len=1, max_len=4, min=1, max=8))
    @require("len(sizes) <= size")
    def build(size, sizes=()): ...
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterable, Sequence, TypeVar  # noqa: UP035 - Python 3.9 in targets

__all__ = [
    "AnnotationError",
    "Range",
    "Ref",
    "Values",
    "anys",
    "arg",
    "bools",
    "cc_example",
    "dicts",
    "dtypes",
    "ensure",
    "exclude",
    "floats",
    "froms",
    "generator",
    "int_lists",
    "ints",
    "lists",
    "module_test",
    "np_arrays",
    "np_shapes",
    "objs",
    "raises",
    "ref",
    "require",
    "strings",
    "tensors",
    "timeout",
    "tuples",
]
# A program that imports all of them must not lose a name of its own, such as `functional as F`.

F = TypeVar("F")

NOTES = "__ciguard__"
"""Attribute of annotated functions, classes and modules; see `notes_of`."""


class AnnotationError(ValueError):
    """An annotation that cannot be meant: an impossible range, a value where values are needed."""


class Values:
    """A type constraint: the values that an argument may take."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        """Name of the function that made it."""
        self.options = options
        """What it was given, less what was not."""

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind}({given})"


class Ref:
    """A number, shape or dtype that follows from other arguments."""

    def __init__(self, expression: str) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return f"ref({self.expression!r})"


class Range:
    """Bounds of a number in a type hint: `Annotated[int, Range(1, 5)]`."""

    def __init__(self, min: float | None = None, max: float | None = None) -> None:  # noqa: A002
        _ordered("Range", min, max)
        self.min = min
        self.max = max


# --- values -------------------------------------------------------------------------------------


def froms(values: Iterable[Any]) -> Values:
    """Return the values of a list: `froms([0, 0.0, None, zero()])`."""
    found = list(values)
    if not found:
        msg = "froms: the list is empty"
        raise AnnotationError(msg)
    return Values("froms", values=found)


def bools() -> Values:
    """Return True and False."""
    return Values("bools")


def ints(
    min: int | Ref | None = None,  # noqa: A002 - the paper's names
    max: int | Ref | None = None,  # noqa: A002
    *,
    min_value: int | Ref | None = None,
    max_value: int | Ref | None = None,
) -> Values:
    """Return the integers of a closed range."""
    low, high = _either(min, min_value), _either(max, max_value)
    _numbers("ints", int, min=low, max=high)
    _ordered("ints", low, high)
    return _given("ints", min=low, max=high)


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
    """Return the floating-point numbers of a range.

    Args:
        min: of the range; by default there is none.
        max: likewise.
        exclude_min: whether the range is open there.
        exclude_max: likewise.
        nan: whether NaN is valid too; by default not.
        inf: whether infinities are valid too; by default not.
        width: bits of their precision: 16, 32 or 64.
        min_value: another name of `min`.
        max_value: another name of `max`.
        allow_nan: another name of `nan`.
        allow_infinity: another name of `inf`.
    """
    low, high = _either(min, min_value), _either(max, max_value)
    _numbers("floats", (int, float), min=low, max=high)
    _ordered("floats", low, high)
    if (exclude_min and low is None) or (exclude_max and high is None):
        msg = "floats: an end is excluded of a range that has none"
        raise AnnotationError(msg)
    if low == high and low is not None and (exclude_min or exclude_max):
        msg = f"floats: the range from {low} to {high} is empty without its ends"
        raise AnnotationError(msg)
    if width not in (16, 32, 64):
        msg = f"floats: width={width!r}; it is 16, 32 or 64"
        raise AnnotationError(msg)
    return _given(
        "floats",
        min=low,
        max=high,
        exclude_min=exclude_min or None,
        exclude_max=exclude_max or None,
        nan=_either(nan, allow_nan) or None,
        inf=_either(inf, allow_infinity) or None,
        width=width if width != 64 else None,  # noqa: PLR2004 - that of Python's float
    )


def strings(
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    *,
    alphabet: str | None = None,
    pattern: str | None = None,
) -> Values:
    """Return texts, of some characters or of a form.

    Args:
        min_len: fewest characters.
        max_len: most characters.
        alphabet: of which they are made; by default any.
        pattern: regular expression that the whole text matches.
    """
    _lengths("strings", min_len, max_len)
    return _given("strings", min_len=min_len, max_len=max_len, alphabet=alphabet, pattern=pattern)


def lists(
    items: Any,
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    *,
    min_size: int | Ref | None = None,
    max_size: int | Ref | None = None,
) -> Values:
    """Return lists whose items are such values."""
    low, high = _either(min_len, min_size), _either(max_len, max_size)
    _lengths("lists", low, high)
    return _given("lists", items=_constant(items), min_len=low, max_len=high)


def tuples(
    *items: Any,
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
) -> Values:
    """Return tuples: of one item for each argument; with lengths, of any number of the only one."""
    if min_len is None and max_len is None:
        return Values("tuples", items=[_constant(item) for item in items])
    if len(items) != 1:
        msg = f"tuples: lengths go with one kind of items, and there are {len(items)}"
        raise AnnotationError(msg)
    _lengths("tuples", min_len, max_len)
    return _given("tuples", item=_constant(items[0]), min_len=min_len, max_len=max_len)


def int_lists(
    min_len: int | Ref | None = None,
    max_len: int | Ref | None = None,
    min: int | Ref | None = None,  # noqa: A002 - the paper's names
    max: int | Ref | None = None,  # noqa: A002
) -> Values:
    """Return lists of integers of a range."""
    return lists(ints(min, max), min_len, max_len)


def np_shapes(
    min_dims: int | Ref | None = None,
    max_dims: int | Ref | None = None,
    *,
    min_side: int | None = None,
    max_side: int | None = None,
) -> Values:
    """Return shapes: tuples of positive integers, by default of one to four of 1 to 8 each."""
    _lengths("np_shapes", min_dims, max_dims)
    _ordered("np_shapes", min_side, max_side)
    return _given(
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
    """Return arrays of NumPy.

    Args:
        np_type: their dtype, several, or one of another argument; by default any of the usual ones.
        shape: a tuple, `np_shapes(…)`, or one of another argument; by default any.
        min: least element.
        max: largest element.
        nan: whether elements may be NaN or infinite.
        dtype: another name of `np_type`.
    """
    return _arrays("np_arrays", _either(np_type, dtype), shape, min, max, nan=nan)


def tensors(  # noqa: PLR0913 - as `np_arrays`
    dtype: Any = None,
    shape: Any = None,
    *,
    min: float | None = None,  # noqa: A002 - as in `ints`
    max: float | None = None,  # noqa: A002
    nan: bool = False,
    library: str = "",
) -> Values:
    """Return tensors of a library: torch, tensorflow, jittor, jax.

    Args:
        dtype: see `np_arrays`.
        shape: see `np_arrays`.
        min: see `np_arrays`.
        max: see `np_arrays`.
        nan: see `np_arrays`.
        library: by default the one that the annotated module has imported.
    """
    made = _arrays("tensors", dtype, shape, min, max, nan=nan)
    if library:
        made.options["library"] = library
    return made


def dtypes(*names: str, library: str = "") -> Values:
    """Return dtype objects: of a library, or of NumPy with `library="numpy"`."""
    return _given("dtypes", names=list(names) or None, library=library or None)


def dicts(
    keys: Any, values: Any, min_size: int | None = None, max_size: int | None = None
) -> Values:
    """Return dictionaries with such keys and values."""
    _lengths("dicts", min_size, max_size)
    return _given(
        "dicts",
        keys=_constant(keys),
        values=_constant(values),
        min_size=min_size,
        max_size=max_size,
    )


def anys(*options: Any) -> Values:
    """Return what any of its arguments allows; one that is no constraint stands for itself."""
    if not options:
        msg = "anys: there is nothing to choose from"
        raise AnnotationError(msg)
    return Values("anys", options=[_constant(option) for option in options])


def objs(generator: Any) -> Values:
    """Return what an annotated function makes, given or named: `objs(models)`, `objs("models")`."""
    if not callable(generator) and not isinstance(generator, str):
        msg = f"objs: {generator!r} is no function"
        raise AnnotationError(msg)
    return Values("objs", generator=generator)


def ref(expression: str) -> Any:
    """Return what follows from other arguments: `ints(max=ref("n"))`, `shape=ref("x.shape")`.

    Args:
        expression: of arguments, numbers, `+ - * // %`, `len(x)`, `x.shape`, `x.ndim`, `x.dtype`,
            `min`, `max`, `abs` and indices.
    """
    return Ref(expression)


# --- annotations --------------------------------------------------------------------------------


def arg(*names: Any, **constraints: Any) -> Callable[[F], F]:
    """Annotate an argument: `@arg("size", ints(min=1))`, or several: `@arg(size=ints(min=1))`."""
    if names:
        if len(names) != 2 or not isinstance(names[0], str):  # noqa: PLR2004 - name and values
            msg = 'arg: write @arg("name", values) or @arg(name=values)'
            raise AnnotationError(msg)
        constraints = {names[0]: names[1], **constraints}
    checked = {name: _constant(values) for name, values in constraints.items()}
    line = _line()

    def annotate(function: F) -> F:
        notes = notes_of(function, line)
        for name, values in checked.items():
            notes["args"].append((name, values, line))
        return function

    return annotate


def require(condition: Any) -> Callable[[F], F]:
    """State a precondition: an expression of the arguments, as text or as a function of them."""
    return _with("requires", condition, _line())


def ensure(condition: Any) -> Callable[[F], F]:
    """State a postcondition: like a precondition, and of `result` too."""
    return _with("ensures", condition, _line())


def raises(*exceptions: type[BaseException]) -> Callable[[F], F]:
    """Declare exceptions that callers must expect: they are no failures."""
    line = _line()

    def annotate(function: F) -> F:
        notes_of(function, line)["raises"] += exceptions
        return function

    return annotate


def generator(function: F) -> F:
    """Mark a function that makes values for `objs`."""
    notes_of(function, _line())["generator"] = True
    return function


def exclude(function: F) -> F:
    """Mark what is not tested."""
    notes_of(function, _line())["exclude"] = True
    return function


def timeout(seconds: Any) -> Callable[[F], F]:
    """Let a call of the function fail that takes longer."""
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        msg = f"timeout: {seconds!r} is no positive number of seconds"
        raise AnnotationError(msg)
    line = _line()

    def annotate(function: F) -> F:
        notes_of(function, line)["timeout"] = float(seconds)
        return function

    return annotate


def cc_example(arguments: Sequence[Any]) -> Callable[[F], F]:
    """Give a constructor the arguments that it is called with where its methods are tested."""
    given = list(arguments)
    line = _line()

    def annotate(function: F) -> F:
        notes_of(function, line)["examples"].append(given)
        return function

    return annotate


def module_test(function: Any = None, *, args: Any = None, timeout: float | None = None) -> Any:
    """Have the calling module's main environment tested: it is run as a script.

    Called in a module, `module_test()`; as a decorator it marks the module of what it decorates.

    Args:
        function: what is decorated.
        args: of the command line: a list of texts or values, or `lists(…)`.
        timeout: in seconds.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the module that calls
    made = {"args": args, "timeout": timeout, "line": frame.f_lineno}
    frame.f_globals[NOTES] = made
    return function


def notes_of(function: Any, line: int = 0) -> dict[str, Any]:
    """Return the notes of a function, a new set of them if it has none."""
    inner = getattr(function, "__func__", None) or getattr(function, "fget", None) or function
    notes: dict[str, Any] | None = vars(inner).get(NOTES)
    if notes is None:
        notes = {
            "line": line,
            "args": [],
            "requires": [],
            "ensures": [],
            "raises": (),
            "examples": [],
        }
        setattr(inner, NOTES, notes)
        for listener in LISTENERS:
            listener(inner)
    return notes


LISTENERS: list[Callable[[Any], None]] = []
"""Called with each function that is annotated, as soon as it is: nested ones have no other name."""


def _with(key: str, condition: Any, line: int) -> Callable[[Any], Any]:
    if isinstance(condition, bool) or not (callable(condition) or isinstance(condition, str)):
        msg = f"{key[:-1]}: {condition!r} is neither text nor a function; write it in quotes"
        raise AnnotationError(msg)

    def annotate(function: Any) -> Any:
        notes_of(function, line)[key].append((condition, line))
        return function

    return annotate


def _line() -> int:
    return sys._getframe(2).f_lineno  # noqa: SLF001 - where the annotation stands


# --- checks -------------------------------------------------------------------------------------


def is_values(item: Any) -> bool:
    """Return whether something is a constraint, of this file or of a copy of it."""
    return type(item).__name__ == "Values" and hasattr(item, "kind") and hasattr(item, "options")


def is_ref(item: Any) -> bool:
    """Return whether something follows from other arguments."""
    return type(item).__name__ == "Ref" and hasattr(item, "expression")


def _constant(item: Any) -> Any:
    if callable(item) and getattr(item, "__module__", "") == __name__:
        name = getattr(item, "__name__", item)
        msg = f"{name} is called where it says what values there are: {name}()"
        raise AnnotationError(msg)
    if is_ref(item) or is_values(item):
        return item
    return Values("froms", values=[item])


def _given(kind: str, **options: Any) -> Values:
    return Values(kind, **{name: value for name, value in options.items() if value is not None})


def _either(one: Any, other: Any) -> Any:
    return other if one is None else one


def _numbers(kind: str, accepted: Any, **bounds: Any) -> None:
    for name, bound in bounds.items():
        if bound is None or isinstance(bound, Ref):
            continue
        if isinstance(bound, bool) or not isinstance(bound, accepted):
            msg = f"{kind}: {name}={bound!r} is no number of that kind"
            raise AnnotationError(msg)


def _ordered(kind: str, low: Any, high: Any) -> None:
    if isinstance(low, Ref) or isinstance(high, Ref) or low is None or high is None:
        return
    if low > high:
        msg = f"{kind}: no value lies between {low!r} and {high!r}"
        raise AnnotationError(msg)


def _lengths(kind: str, low: Any, high: Any) -> None:
    _numbers(kind, int, least=low, most=high)
    _ordered(kind, low, high)
    for bound in (low, high):
        if isinstance(bound, int) and bound < 0:
            msg = f"{kind}: a length of {bound}"
            raise AnnotationError(msg)


def _arrays(  # noqa: PLR0913 - what arrays have
    kind: str, dtype: Any, shape: Any, low: Any, high: Any, *, nan: bool
) -> Values:
    _numbers(kind, (int, float), min=low, max=high)
    _ordered(kind, low, high)
    if isinstance(shape, list):
        shape = tuple(shape)
    if isinstance(shape, int):
        shape = (shape,)
    return _given(kind, dtype=dtype, shape=shape, min=low, max=high, nan=nan or None)
