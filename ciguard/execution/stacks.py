"""Stacks that faulthandler writes when a process crashes or hangs."""

from __future__ import annotations

import re
from typing import NamedTuple

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\S+) in (?P<function>.+)$')
_CURRENT = re.compile(r"^(Current thread|Stack) .*:$", re.MULTILINE)
_ESCAPE = re.compile(r"\\x([89a-f][0-9a-f])|\\u([0-9a-f]{4})|\\U(000[0-9a-f]{5}|0010[0-9a-f]{4})")
"""Escape sequence of a non-ASCII character. Source: CPython, `_Py_DumpASCII`."""


class StackLine(NamedTuple):
    """One frame of a stack."""

    file: str
    """Path of the file, as Python knows it."""
    line: int
    """Line number; 0 if it is unknown."""
    function: str
    """Name of the function."""


def stack_line(text: str) -> StackLine | None:
    """Return the frame in a line of a stack; None if the line holds none."""
    match = _FRAME.match(text)
    if match is None:
        return None
    line = int(match["line"]) if match["line"].isdecimal() else 0
    return StackLine(_unescaped(match["file"]), line, _unescaped(match["function"]))


def current_stack(text: str) -> tuple[StackLine, ...]:
    """Return the stack of faulthandler's current thread, outermost frame first."""
    current = _CURRENT.search(text)
    frames: list[StackLine] = []
    for line in text[current.end() :].splitlines()[1:] if current else ():
        frame = stack_line(line)
        if frame is None:
            break
        frames.append(frame)
    return tuple(reversed(frames))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    character = chr(int(escape[1] or escape[2] or escape[3], 16))
    # A surrogate represents an undecodable byte. It stays escaped, as not every writer accepts it.
    return character if character.isprintable() else escape[0]
