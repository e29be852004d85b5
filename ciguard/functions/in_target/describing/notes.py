"""A function's annotations (notes), line number and documented exceptions.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

NOTES = "__ciguard__"
"""Attribute with the notes, as in `ciguard.annotations` and in copies of that package."""


def notes_on(function: Any) -> dict[str, Any] | None:
    """Return the notes of a function or class, or of a function that it wraps; else None."""
    depth = 0
    while function is not None and depth < _MAX_WRAPPERS:
        notes = getattr(function, "__dict__", {}).get(NOTES)
        if isinstance(notes, dict) and "requires" in notes:
            return notes
        depth += 1
        function = next(
            filter(None, (_inner(function, name) for name in _WRAPPED_ATTRIBUTES)), None
        )
    return None


_WRAPPED_ATTRIBUTES = ("__wrapped__", "__func__", "python_function", "fget")
_MAX_WRAPPERS = 20


def _inner(function: Any, name: str) -> Any:
    # `getattr` on a class would return attributes of its bases too.
    if inspect.isclass(function):
        return vars(function).get(name)
    return getattr(function, name, None)


def line_of(function: Any, notes: dict[str, Any]) -> int:
    """Return the line number of a function's `def`; for a class, that of its first annotation."""
    code = getattr(function, "__code__", None)
    if code is None:
        return int(notes.get("line", 0)) or _class_line(function)
    return _def_line(function, code.co_firstlineno)


def _class_line(function: Any) -> int:
    try:
        return inspect.getsourcelines(function)[1]
    except (OSError, TypeError):
        return 0


def _def_line(function: Any, first: int) -> int:
    """Return the line number of `def` below the decorators.

    Args:
        function: the function.
        first: line number of the first decorator, returned if the source is missing.
    """
    try:
        lines, start = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return first
    for offset, line in enumerate(lines):
        if re.match(r"\s*(async\s+)?def\s", line):
            return (start or 1) + offset
    return first


_SECTION = re.compile(r"^\s*(raises|exceptions)\s*:?\s*$", re.IGNORECASE)
_ENTRY = re.compile(r"^\s+:?([A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt))\b")
_FIELD = re.compile(r":raises?\s+([A-Za-z_][\w.]*)")


def documented_exceptions(function: Any) -> list[str]:
    """Return the names of the exceptions in a docstring in the style of Google, numpy or Sphinx."""
    text = inspect.getdoc(function) or ""
    names = [name.rpartition(".")[2] for name in _FIELD.findall(text)]
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if _SECTION.match(line):
            names += _section_entries(lines[index + 1 :])
    return list(dict.fromkeys(names))


def _section_entries(lines: list[str]) -> list[str]:
    """Return the names of exceptions in the entries of a docstring's section."""
    names = []
    for line in lines:
        if not line.strip() or set(line.strip()) == {"-"}:
            continue
        entry = _ENTRY.match(f" {line}")
        if entry is not None:
            names.append(entry.group(1).rpartition(".")[2])
        elif not line.startswith(" "):
            break  # the next section begins
    return names
