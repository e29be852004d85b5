"""Functions that return iterators or collections which compute, and fail, only when they are read.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

_LAZY_FUNCTIONS = frozenset(("map", "filter", "zip", "enumerate", "reversed", "iter"))
_LAZY_MODULES = ("itertools", "dask")


def returns_lazily(function: Any) -> bool:
    """Return whether a function may return a lazy result, according to its source text.

    A generator function is no such function: its call is known to be lazy.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return False
    scope = getattr(function, "__globals__", {})
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return any(map(_is_lazy, returned)) or any(_is_of_lazy_module(scope.get(n)) for n in used)


def _is_lazy(returned: ast.expr | None) -> bool:
    """Return whether an expression is an iterator."""
    if isinstance(returned, ast.GeneratorExp):
        return True
    called = returned.func if isinstance(returned, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in _LAZY_FUNCTIONS


def _is_of_lazy_module(item: Any) -> bool:
    name = (
        getattr(item, "__name__", "") if inspect.ismodule(item) else getattr(item, "__module__", "")
    )
    return str(name).partition(".")[0] in _LAZY_MODULES
