"""Nested annotated functions, which exist only after a call of the function that defines them.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from types import CodeType
from typing import Any, Callable

from ciguard.functions.in_target.describing.notes import NOTES

_ANNOTATION_NAMES = frozenset(("arg", "require", "ensure", "raises", "timeout", "include"))
_NESTED_MARK = "<locals>"


def defines_annotated(function: Any) -> bool:
    """Return whether a function defines annotated functions, according to its source text."""
    code = getattr(function, "__code__", None)
    if code is None or not any(isinstance(constant, CodeType) for constant in code.co_consts):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return False
    nested = [node for node in ast.walk(tree) if isinstance(node, _FUNCTION_NODES)][1:]
    return any(_is_annotation(decorator) for node in nested for decorator in node.decorator_list)


_FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_annotation(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _ANNOTATION_NAMES


class Capture:
    """Context manager that records the functions that are annotated in its body.

    The annotations call the functions in their list `LISTENERS`. There may be several such lists,
    because a program may contain a copy of the annotations.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._listener_lists: list[list[Callable[[Any], None]]] = []
        self.functions: dict[str, Any] = {}
        """Recorded functions by qualified name; of several functions with a name, the last."""

    def __enter__(self) -> Capture:  # noqa: PYI034 - Python 3.9 has no `Self`
        self._listener_lists = [
            module.LISTENERS
            for module in list(sys.modules.values())
            if isinstance(getattr(module, "LISTENERS", None), list) and hasattr(module, "notes_of")
        ]
        for listeners in self._listener_lists:
            listeners.append(self._record)
        return self

    def __exit__(self, *exception: object) -> None:
        for listeners in self._listener_lists:
            listeners.remove(self._record)

    def _record(self, function: Any) -> None:
        code = getattr(function, "__code__", None)
        name = str(getattr(function, "__qualname__", ""))
        outer = name.rpartition(".")[0]
        if code is not None and code.co_filename == self._file and outer.endswith(_NESTED_MARK):
            self.functions[name] = function
            # Conditions may use every outer variable, but the closure has only those of the body.
            vars(function).get(NOTES, {}).setdefault("scope", self._outer_variables())

    def _outer_variables(self) -> dict[str, Any]:
        """Return the variables of the outer function by name."""
        frame = sys._getframe(1)  # noqa: SLF001 - the outer function is one of the callers
        while frame.f_back is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return dict(frame.f_locals)
