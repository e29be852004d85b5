"""Decorators that store annotations on functions."""

from __future__ import annotations

import sys
from typing import Any, Callable, Sequence, TypeVar  # noqa: UP035 - Python 3.9 in targets

from .values import AnnotationError, constraint_on

F = TypeVar("F")

NOTES = "__ciguard__"
"""Attribute that holds the annotations of a function, class or module; see `notes_of`."""
LISTENERS: list[Callable[[Any], None]] = []
"""Callbacks for each newly annotated function: nothing else leads to nested functions."""


def arg(*names: Any, **constraints: Any) -> Callable[[F], F]:
    """Annotate an argument: `@arg("size", ints(min=1))`, or several: `@arg(size=ints(min=1))`."""
    if names:
        if len(names) != 2 or not isinstance(names[0], str):  # noqa: PLR2004 - name and values
            msg = 'arg: use @arg("name", values) or @arg(name=values)'
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
    """State a precondition: an expression over the arguments as a string, or a function of them."""
    return _condition("requires", condition, _caller_line())


def ensure(condition: Any) -> Callable[[F], F]:
    """State a postcondition: like a precondition, and it may use `result`."""
    return _condition("ensures", condition, _caller_line())


def raises(*exceptions: type[BaseException]) -> Callable[[F], F]:
    """Declare exceptions that the function may raise for valid inputs: they are not failures."""
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["raises"] += exceptions
        return function

    return annotate


def generator(function: F) -> F:
    """Mark a function as a generator of values for `objs`."""
    notes_of(function, _caller_line())["generator"] = True
    return function


def exclude(function: F) -> F:
    """Exclude a function from testing."""
    notes_of(function, _caller_line())["exclude"] = True
    return function


def timeout(seconds: Any) -> Callable[[F], F]:
    """Set the timeout of one call, in seconds. A call that takes longer fails."""
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        msg = f"timeout: {seconds!r} is not a positive number of seconds"
        raise AnnotationError(msg)
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["timeout"] = float(seconds)
        return function

    return annotate


def cc_example(arguments: Sequence[Any]) -> Callable[[F], F]:
    """Add constructor arguments, with which objects are built to test their methods."""
    example = list(arguments)
    line = _caller_line()

    def annotate(function: F) -> F:
        notes_of(function, line)["examples"].append(example)
        return function

    return annotate


def module_test(function: Any = None, *, args: Any = None, timeout: float | None = None) -> Any:
    """Test the calling module as a script, with its `__main__` block.

    A module calls `module_test()`, or decorates any of its functions with it.

    Args:
        function: the decorated function.
        args: command-line arguments: a list of strings or constraints, or `lists(…)`.
        timeout: limit of one run, in seconds.
    """
    frame = sys._getframe(1)  # noqa: SLF001 - the calling module
    notes = {"args": args, "timeout": timeout, "line": frame.f_lineno}
    frame.f_globals[NOTES] = notes
    return function


def notes_of(function: Any, line: int = 0) -> dict[str, Any]:
    """Return the annotations stored on a function, and attach empty ones if it has none."""
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
    """Return the decorator that stores a condition under `key`."""
    if isinstance(condition, bool) or not (callable(condition) or isinstance(condition, str)):
        msg = f"{key[:-1]}: {condition!r} is neither a string nor a function; put it in quotes"
        raise AnnotationError(msg)

    def annotate(function: Any) -> Any:
        notes_of(function, line)[key].append((condition, line))
        return function

    return annotate


def _caller_line() -> int:
    """Return the line of the annotation: of the caller's caller."""
    return sys._getframe(2).f_lineno  # noqa: SLF001 - frames have no public access
