"""Preconditions of functions, kept to be asked, and handed to a library of contracts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Condition: TypeAlias = Callable[..., Any]

_CONDITIONS: dict[str, list[Condition]] = {}
"""Of each function, innermost first."""
_DECORATORS: list[Callable[[Condition], Callable[[Any], Any]]] = []


def decorate_with(decorator: Callable[[Condition], Callable[[Any], Any]]) -> None:
    """Have functions that are defined from now on decorated by a library of contracts too."""
    _DECORATORS.append(decorator)


def require(condition: Condition) -> Callable[[F], F]:
    """State a precondition, in the form that icontract finds in the source."""
    decorators = [decorator(condition) for decorator in _DECORATORS]

    def decorate(function: F) -> F:
        _CONDITIONS.setdefault(function.__name__, []).append(condition)
        decorated: Any = function
        for decorator in decorators:
            decorated = decorator(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def is_valid(function: str, arguments: dict[str, Any]) -> bool:
    """Return whether arguments conform to all conditions of a function.

    Raises:
        KeyError: if none are stated: `function_sets.contracts` is not imported.
    """
    return all(
        condition(**{name: arguments[name] for name in inspect.signature(condition).parameters})
        for condition in reversed(_CONDITIONS[function])
    )
