"""Decorators that store annotations on functions."""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence, TypeVar  # noqa: UP035 - Python 3.9 in targets

from .values import AnnotationError, constraint_on

F = TypeVar("F")

NOTES = "__ciguard__"
"""Attribute that holds the annotations of a function, class or module; see `notes_of`."""
LISTENERS: list[Callable[[Any], None]] = []
"""Functions to call with each newly annotated function; nested functions are found only so."""


def arg(*names: Any, **constraints: Any) -> Callable[[F], F]:
    """Annotate arguments by position, `@arg("size", ints(min=1))`, or by `@arg(size=ints(min=1))`.

    Raises:
        AnnotationError: if the positional arguments are not one name and its valid values.
    """
    if names:
        if len(names) != 2 or not isinstance(names[0], str):  # noqa: PLR2004 - name and values
            msg = (
                'arg needs a name and valid values; write @arg("name", values) or @arg(name=values)'
            )
            raise AnnotationError(msg)
        constraints = {names[0]: names[1], **constraints}
    checked = {name: constraint_on(values) for name, values in constraints.items()}
    line = _caller_line()

    def annotate(function: F) -> F:
        notes = notes_of(function, line)
        for name, values in checked.items():
            notes["args"].append((name, values, line))
        return function

    return annotate


def require(condition: Any) -> Callable[[F], F]:
    """Add a precondition: a string with an expression of the arguments, or a function of them."""
    return _condition("requires", condition, _caller_line())


def ensure(condition: Any) -> Callable[[F], F]:
    """Add a postcondition: as in `require`, but the condition may also use `result`."""
    return _condition("ensures", condition, _caller_line())


def raises(*exceptions: type[BaseException]) -> Callable[[F], F]:
    """Declare exceptions that the function may raise for valid inputs; they are not failures."""
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["raises"] += exceptions
        return function

    return annotate


def generator(function: F) -> F:
    """Mark a function whose return values are the valid values of an `objs` constraint."""
    notes_of(function, _caller_line())["generator"] = True
    return function


def include(function: F) -> F:
    """Mark a function that ciguard must test although none of its arguments is annotated."""
    notes_of(function, _caller_line())
    return function


def exclude(function: F) -> F:
    """Mark a function that ciguard must not test."""
    notes_of(function, _caller_line())["exclude"] = True
    return function


def timeout(seconds: Any) -> Callable[[F], F]:
    """Set the timeout of one call of the function, in seconds. A call that takes longer fails.

    Raises:
        AnnotationError: if `seconds` is not a positive number.
    """
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        msg = f"timeout: {seconds!r} is not a positive number of seconds"
        raise AnnotationError(msg)
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["timeout"] = float(seconds)
        return function

    return annotate


def cc_example(arguments: Sequence[Any]) -> Callable[[F], F]:
    """Add positional arguments of a constructor, to build the objects whose methods are tested."""
    example = list(arguments)
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["examples"].append(example)
        return function

    return annotate


def module_test(function: Any = None, *, args: Any = None, timeout: float | None = None) -> Any:
    """Mark the calling module for tests that run it as a script, with its `__main__` block.

    Call `module_test()` in the module, or decorate any function of the module with it.

    Args:
        function: the decorated function; None if `module_test` is called.
        args: command-line arguments: a list of strings or constraints, or `lists(…)`; None for no
            arguments.
        timeout: timeout of one run, in seconds; None for the default.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the only access to the caller's globals
    notes = {"args": args, "timeout": timeout, "line": frame.f_lineno}
    frame.f_globals[NOTES] = notes
    return function


def notes_of(function: Any, line: int = 0) -> dict[str, Any]:
    """Return the annotations stored on a function by key; store empty ones if it has none.

    Args:
        function: a function, method, property or class.
        line: line of the first annotation, stored with new annotations.
    """
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


def _condition(key: str, condition: Any, line: int) -> Callable[[Any], Any]:
    """Return a decorator that stores a condition.

    Args:
        key: `requires` or `ensures`.
        condition: the condition, as a string or a function.
        line: line of the annotation.
    """
    if isinstance(condition, bool) or not (callable(condition) or isinstance(condition, str)):
        msg = f"{key[:-1]}: {condition!r} is neither a string nor a function; put it in quotes"
        raise AnnotationError(msg)

    def annotate(function: Any) -> Any:
        notes_of(function, line)[key].append((condition, line))
        return function

    return annotate


def _caller_line() -> int:
    """Return the line where the caller of this function was called: that of the annotation."""
    return sys._getframe(2).f_lineno  # noqa: SLF001 - frames have no public access
