"""What a function is called with, so that it gets as far as the service it asks."""

from __future__ import annotations

import ast
import base64
import re
import struct
import wave
import zlib
from typing import TYPE_CHECKING

from ciguard.applications.finding.application import MAIN
from ciguard.applications.providers.description import Task

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.applications.finding.application import Routine
    from ciguard.applications.finding.findings import Found
    from ciguard.domain import Json

_TEXT = "This is a text."
_OF_TEXT = frozenset({Task.CATEGORIES, Task.SENTIMENT, Task.ENTITIES})
_OPENS = re.compile(r"(^|\.|\b)(open|imread|read_file|fromfile|Path)\(")
_NAMED = re.compile(r"(path|file|filename|fname|uri|url)s?$", re.IGNORECASE)
_BY_TYPE: dict[str, Json] = {"str": _TEXT, "int": 1, "float": 1.0, "bool": False}


class CannotCallError(Exception):
    """A function that cannot be called alone, and why."""


def arguments_for(found: Found, routine: Routine, folder: Path) -> list[dict[str, Json]]:
    """Return an argument for each parameter that has no default, in all forms that it may take.

    Args:
        found: the function.
        routine: its definition.
        folder: for files that it opens.

    Returns:
        Arguments by name: the likeliest form of what services are asked about first.

    Raises:
        CannotCallError: if it cannot be called from outside.
    """
    if routine.name == MAIN:
        msg = "what a file does itself is done when it is imported"
        raise CannotCallError(msg)
    if "<locals>" in routine.name:
        msg = "stands in another function"
        raise CannotCallError(msg)
    forms = {
        parameter.arg: list(_forms(parameter, found, folder)) for parameter in _required(routine)
    }
    longest = max(map(len, forms.values()), default=1)
    return [
        {name: given[min(at, len(given) - 1)] for name, given in forms.items()}
        for at in range(longest)
    ]


def _required(routine: Routine) -> list[ast.arg]:
    given = routine.arguments
    if given is None:
        return []
    positional = [*given.posonlyargs, *given.args]
    needed = positional[: len(positional) - len(given.defaults)]
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    needed += [one for one, default in pairs if default is None]
    return needed[1:] if routine.is_bound else needed


def _forms(parameter: ast.arg, found: Found, folder: Path) -> Iterator[Json]:
    name = parameter.arg
    tasks = [
        (call.answer.operation.task, " ".join(steps))
        for call in found.calls
        for given, steps in call.inputs
        if given == name
    ]
    written = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
    if tasks:
        task, steps = tasks[0]
        is_path = bool(_OPENS.search(steps) or _NAMED.search(name)) and written != "bytes"
        yield from _for_service(task, folder, is_path=is_path)
    elif written == "bytes":
        yield _bytes(_image())
    elif written in _BY_TYPE:
        yield {"value": _BY_TYPE[written]}
    else:
        msg = f"nobody says what its parameter `{name}` takes; annotate it, or give it a default"
        raise CannotCallError(msg)


def _for_service(task: Task, folder: Path, *, is_path: bool) -> Iterator[Json]:
    """Yield what becomes what a service is asked about: a path, contents, a message of the client.

    Args:
        task: of the service.
        folder: for files.
        is_path: whether it is opened first, as far as the text says.
    """
    path = {"value": str(_file(task, folder))}
    if task in _OF_TEXT:
        contents, message = {"value": _TEXT}, {"value": {"content": _TEXT, "type": "PLAIN_TEXT"}}
    else:
        content = _sound(folder).read_bytes() if task is Task.SPEECH else _image()
        contents, message = _bytes(content), {"content": _bytes(content)["base64"]}
    forms = [contents, message]
    yield from [path, *forms] if is_path else [*forms, path]


def _bytes(content: bytes) -> Json:
    return {"base64": base64.b64encode(content).decode()}


def _file(task: Task, folder: Path) -> Path:
    if task is Task.SPEECH:
        return _sound(folder)
    path = folder / ("text.txt" if task in _OF_TEXT else "image.png")
    path.write_bytes(_TEXT.encode() if task in _OF_TEXT else _image())
    return path


def _image() -> bytes:
    """Return a white PNG image of 32 by 32 pixels."""
    side = 32
    rows = b"".join(b"\0" + b"\xff" * 3 * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _sound(folder: Path) -> Path:
    """Return a file with a tenth of a second of silence."""
    path = folder / "sound.wav"
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(b"\0\0" * 1_600)
    return path
