"""The marks that `pytest.mark` has put on functions, classes and modules, as JSON.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import json
from typing import Any

Json = Any


def marks_of(module: Any, name: str) -> list[Json]:
    """Return the marks of a function and of the classes it lies in, by its qualified name.

    Functions inside functions have none of their own: pytest does not see them.
    """
    found: list[Json] = []
    owner: Any = module
    for part in name.split("."):
        owner = getattr(owner, part, None)
        if owner is not None:
            found += own_marks(owner)
    return found


def own_marks(marked: Any) -> list[Json]:
    """Return the marks of one object; those of a property are its getter's."""
    inner = getattr(marked, "fget", None) or getattr(marked, "__func__", None) or marked
    marks = getattr(inner, "__dict__", {}).get("pytestmark", [])
    listed = marks if isinstance(marks, list) else [marks]
    return [_mark(getattr(mark, "mark", mark)) for mark in listed]


def _mark(mark: Any) -> Json:
    return {
        "name": mark.name,
        "args": [_plain(item) for item in mark.args],
        "kwargs": {name: _plain(item) for name, item in mark.kwargs.items()},
    }


def _plain(item: Any) -> Json:
    """Return data as it is, exceptions by name, several as a list, anything else as its text."""
    if isinstance(item, type) and issubclass(item, BaseException):
        return {"exception": item.__name__}
    if isinstance(item, (list, tuple)):
        return [_plain(one) for one in item]
    try:
        json.dumps(item)
    except (TypeError, ValueError):
        return bool(item) if type(item).__name__ == "bool_" else repr(item)
    return item
