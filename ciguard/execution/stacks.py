"""The stacks that faulthandler writes of a process that dies or hangs."""

from __future__ import annotations

import re
from typing import NamedTuple

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\S+) in (?P<function>.+)$')
_CURRENT = re.compile(r"^(Current thread|Stack) .*:$", re.MULTILINE)
_ESCAPE = re.compile(r"\\x([89a-f][0-9a-f])|\\u([0-9a-f]{4})|\\U(000[0-9a-f]{5}|0010[0-9a-f]{4})")
"""What faulthandler writes for a character beyond ASCII. Source: CPython, `_Py_DumpASCII`."""


class StackLine(NamedTuple):
    """One frame: the file as Python was given it, and the line, 0 where it is unknown."""

    file: str
    line: int
    function: str


def stack_line(text: str) -> StackLine | None:
    """Return the frame that a line of such a stack shows; None for any other line."""
    found = _FRAME.match(text)
    if found is None:
        return None
    line = int(found["line"]) if found["line"].isdecimal() else 0
    return StackLine(_unescaped(found["file"]), line, _unescaped(found["function"]))


def current_stack(text: str) -> tuple[StackLine, ...]:
    """Return the stack of the thread that faulthandler names current, outermost frame first."""
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
    # A surrogate stands for a byte that is no text. It stays escaped: not every writer takes it.
    return character if character.isprintable() else escape[0]
