"""Converts marks of `pytest.mark` on functions, classes and modules to JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import json
from typing import Any

Json = Any


def marks_of(module: Any, name: str) -> list[Json]:
    """Return the marks of a function and of the classes that contain it.

    Nested functions have no marks of their own, because pytest does not collect them.

    Args:
        module: module of the function.
        name: name of the function in the module, such as `Tokenizer.fit`.
    """
    marks: list[Json] = []
    marked: Any = module
    for part in name.split("."):
        marked = getattr(marked, part, None)
        if marked is not None:
            marks += marks_on(marked)
    return marks


def marks_on(marked: Any) -> list[Json]:
    """Return the marks of one object; for a property, those of its getter."""
    inner = getattr(marked, "fget", None) or getattr(marked, "__func__", None) or marked
    marks = getattr(inner, "__dict__", {}).get("pytestmark", [])
    listed = marks if isinstance(marks, list) else [marks]
    return [_mark(getattr(mark, "mark", mark)) for mark in listed]


def _mark(mark: Any) -> Json:
    return {
        "name": mark.name,
        "args": [_mark_argument(item) for item in mark.args],
        "kwargs": {name: _mark_argument(item) for name, item in mark.kwargs.items()},
    }


def _mark_argument(item: Any) -> Json:
    """Return the JSON form of a mark's argument.

    An exception's class becomes its name, and an object without a JSON form its `repr`.
    """
    if isinstance(item, type) and issubclass(item, BaseException):
        return {"exception": item.__name__}
    if isinstance(item, (list, tuple)):
        return [_mark_argument(element) for element in item]
    try:
        json.dumps(item)
    except (TypeError, ValueError):
        return bool(item) if type(item).__name__ == "bool_" else repr(item)
    return item
