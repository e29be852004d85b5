"""Annotated functions that another function defines: they exist only when that one is called.

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

_ANNOTATIONS = frozenset(("arg", "require", "ensure", "raises", "timeout"))
_LOCAL = "<locals>"


def defines_annotated(function: Any) -> bool:
    """Return whether the source of a function annotates functions inside it."""
    code = getattr(function, "__code__", None)
    if code is None or not any(isinstance(constant, CodeType) for constant in code.co_consts):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return False
    inner = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)][1:]
    return any(_is_annotation(one) for node in inner for one in node.decorator_list)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_annotation(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _ANNOTATIONS


class Capture:
    """Hears of the functions that are annotated while it is entered, through `LISTENERS`.

    There may be several lists of listeners: a program may carry a copy of the annotations.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._lists: list[list[Callable[[Any], None]]] = []
        self.functions: dict[str, Any] = {}
        """By qualified name; of several of one name the last."""

    def __enter__(self) -> Capture:  # noqa: PYI034 - Python 3.9 has no `Self`
        self._lists = [
            module.LISTENERS
            for module in list(sys.modules.values())
            if isinstance(getattr(module, "LISTENERS", None), list) and hasattr(module, "notes_of")
        ]
        for listeners in self._lists:
            listeners.append(self._hear)
        return self

    def __exit__(self, *exception: object) -> None:
        for listeners in self._lists:
            listeners.remove(self._hear)

    def _hear(self, function: Any) -> None:
        code = getattr(function, "__code__", None)
        name = str(getattr(function, "__qualname__", ""))
        outer = name.rpartition(".")[0]
        if code is not None and code.co_filename == self._file and outer.endswith(_LOCAL):
            self.functions[name] = function
            # What its conditions may name: its own closure holds only what its body uses.
            vars(function).get(NOTES, {}).setdefault("scope", self._surroundings())

    def _surroundings(self) -> dict[str, Any]:
        """Return the variables of the function that defines the one just heard of."""
        frame = sys._getframe(1)  # noqa: SLF001 - of the caller's callers
        while frame.f_back is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return dict(frame.f_locals)
