"""Type constraints and references as data, and the checks of their options."""

from __future__ import annotations

from typing import Any


class AnnotationError(ValueError):
    """Error for an annotation that is contradictory or malformed, such as an empty range."""


class Values:
    """A type constraint: the values that an argument may take."""

    def __init__(self, kind: str, **options: Any) -> None:
        self.kind = kind
        """Name of the function that returned this constraint, such as `ints`."""
        self.options = options
        """Values of the options by name, without defaults."""

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind}({options})"


class Ref:
    """An expression that computes a number, shape or dtype from other arguments."""

    def __init__(self, expression: str) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return f"ref({self.expression!r})"


class Range:
    """Bounds of a number in a type hint, both inclusive: `Annotated[int, Range(1, 5)]`."""

    def __init__(self, min: float | None = None, max: float | None = None) -> None:  # noqa: A002
        check_order("Range", min, max)
        self.min = min
        self.max = max


def is_values_annotation(item: Any) -> bool:
    """Return whether an object is a constraint of this package, or of a copy of this package."""
    return type(item).__name__ == "Values" and hasattr(item, "kind") and hasattr(item, "options")


def is_ref(item: Any) -> bool:
    """Return whether an object is a `Ref` of this package, or of a copy of this package."""
    return type(item).__name__ == "Ref" and hasattr(item, "expression")


def constraint_on(item: Any) -> Any:
    """Return a constraint or reference unchanged, and for another object one that accepts only it.

    Raises:
        AnnotationError: if `item` is a function of this package, such as `ints` instead of
            `ints()`.
    """
    if callable(item) and getattr(item, "__module__", "").rpartition(".")[0] == __package__:
        name = getattr(item, "__name__", item)
        msg = f"{name} is a function, not a constraint; write {name}()"
        raise AnnotationError(msg)
    if is_ref(item) or is_values_annotation(item):
        return item
    return Values("froms", values=[item])


def values_with(kind: str, **options: Any) -> Values:
    """Return a constraint of a kind with those of the options that are not None."""
    return Values(kind, **{name: value for name, value in options.items() if value is not None})


def first_given(value: Any, alias: Any) -> Any:
    """Return an option's value, or the value of its alias if the option's value is None."""
    return alias if value is None else value


def check_numbers(kind: str, types: Any, **bounds: Any) -> None:
    """Check that each bound is None, a reference or an instance of `types`.

    Args:
        kind: name of the constraint's function, for messages.
        types: `int`, or a tuple of number types.
        bounds: the bounds by option name.

    Raises:
        AnnotationError: if a bound has another type.
    """
    for name, bound in bounds.items():
        if bound is None or isinstance(bound, Ref):
            continue
        if isinstance(bound, bool) or not isinstance(bound, types):
            expected = "an integer" if types is int else "a number"
            msg = f"{kind}: {name}={bound!r} is not {expected}"
            raise AnnotationError(msg)


def check_order(kind: str, low: Any, high: Any) -> None:
    """Raise an AnnotationError if `low` exceeds `high`; None and references are not checked."""
    if isinstance(low, Ref) or isinstance(high, Ref) or low is None or high is None:
        return
    if low > high:
        msg = f"{kind}: the minimum {low!r} exceeds the maximum {high!r}"
        raise AnnotationError(msg)


def check_lengths(kind: str, low: Any, high: Any) -> None:
    """Raise an AnnotationError if bounds of a length are contradictory, negative or no integers."""
    check_numbers(kind, int, min_length=low, max_length=high)
    check_order(kind, low, high)
    for bound in (low, high):
        if isinstance(bound, int) and bound < 0:
            msg = f"{kind}: a length cannot be {bound}; use 0 or more"
            raise AnnotationError(msg)
