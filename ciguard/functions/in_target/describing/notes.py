"""What a function says of itself: its notes, its place, the exceptions that it documents.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

NOTES = "__ciguard__"
"""As in `ciguard.annotations`, of which a program may carry a copy."""


def notes_on(function: Any) -> dict[str, Any] | None:
    """Return the notes of a function or class, also behind decorators; None without any."""
    seen = 0
    while function is not None and seen < _MAX_WRAPPERS:
        notes = getattr(function, "__dict__", {}).get(NOTES)
        if isinstance(notes, dict) and "requires" in notes:
            return notes
        seen += 1
        function = next(filter(None, (_own(function, name) for name in _INNER)), None)
    return None


_INNER = ("__wrapped__", "__func__", "python_function", "fget")
_MAX_WRAPPERS = 20


def _own(function: Any, name: str) -> Any:
    # Not `getattr` on classes: they hand out what belongs to their bases.
    if inspect.isclass(function):
        return vars(function).get(name)
    return getattr(function, name, None)


def line_of(function: Any, notes: dict[str, Any]) -> int:
    """Return the line of a function's `def`, else that of its first annotation."""
    code = getattr(function, "__code__", None)
    if code is None:
        return int(notes.get("line", 0)) or _line_of_class(function)
    return _line_of_def(function, code.co_firstlineno)


def _line_of_class(function: Any) -> int:
    try:
        return inspect.getsourcelines(function)[1]
    except (OSError, TypeError):
        return 0


def _line_of_def(function: Any, first: int) -> int:
    """Return the line of `def` below the decorators, which `first` counts in."""
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
    """Return the exceptions that a docstring names in the styles of Google, numpy or Sphinx."""
    text = inspect.getdoc(function) or ""
    found = [name.rpartition(".")[2] for name in _FIELD.findall(text)]
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if _SECTION.match(line):
            found += _entries(lines[place + 1 :])
    return list(dict.fromkeys(found))


def _entries(lines: list[str]) -> list[str]:
    found = []
    for line in lines:
        if not line.strip() or set(line.strip()) == {"-"}:
            continue
        entry = _ENTRY.match(f" {line}")
        if entry is not None:
            found.append(entry.group(1).rpartition(".")[2])
        elif not line.startswith(" "):
            break  # the next section
    return found
