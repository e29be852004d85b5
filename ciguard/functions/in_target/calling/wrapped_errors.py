"""Reads what AutoGraph and Keras wrap into messages: the stack, and the message that was raised.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import re
import textwrap

GENERATED_FILE = "__autograph_generated_file"
"""Beginning of the names of the files that AutoGraph generates from functions."""
_STACK = "in user code:"
"""Line in front of the stack in AutoGraph's messages."""
_FRAME = re.compile(
    r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<name>\S+).*$', re.MULTILINE
)
_LAYER = re.compile(r"^Exception encountered when calling .*$", re.MULTILINE)
_INPUTS = re.compile(r"^ *(?:Call a|A)rguments received by .*", re.MULTILINE | re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def original_frames(message: str) -> list[tuple[str, int, str]]:
    """Return the frames (file, line, function) in a message of AutoGraph, outermost first."""
    if _STACK not in message:
        return []
    found = _FRAME.finditer(message)
    return [(match["file"], int(match["line"]), match["name"]) for match in found]


def original_message(error: BaseException) -> str:
    """Return the message of an exception without what AutoGraph and Keras add to it."""
    message = str(error)
    if _STACK in message:
        frames = list(_FRAME.finditer(message))
        message = message[frames[-1].end() if frames else message.rindex(_STACK) + len(_STACK) :]
        # The text of the frame's line comes first, then an empty line.
        message = textwrap.dedent(message.partition("\n\n")[2] or message).strip()
        message = message.removeprefix(f"{type(error).__name__}: ")
    elif not _LAYER.match(message):
        return message
    return _COLOUR.sub("", _INPUTS.sub("", _LAYER.sub("", message))).strip() or str(error)
