"""Makes what an application's function is called with, of what `exploration/` says.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import inspect
import io
import mimetypes
import os
import pathlib
import sys
from typing import Any, Callable, Dict, Iterator, List

from ciguard.levels.app.in_target.hooks import CLIENTS
from ciguard.levels.app.in_target.stored import stored

Json = Any
EVENT = "event"
"""The parameter of a cloud function that gets an event."""
ITS_CALLERS = frozenset({"client", "made_up", "stored"})
"""Forms of what only a function's caller has, where the service itself is asked."""
_CHUNK = 2**16


def forms_in(given: Json) -> Iterator[str]:
    """Yield the forms of an argument, and of those in it."""
    for form, value in given.items():
        yield form
        inner = value if form == "several" else value.values() if form == "fields" else ()
        for one in inner:
            yield from forms_in(one)


def argument(given: Json) -> Any:
    """Return an argument, of one form: a client, a file, a text, what lies in a storage and so on.

    A client is one of whichever package the application has imported.
    """
    ((form, value),) = given.items()
    return _MAKING[form](value)


def _upload(value: Json) -> Any:
    kind = Awaited if value["is_awaited"] else Upload
    return kind(base64.b64decode(value["base64"]), value["name"])


class Invocation:
    """What AWS Lambda says of a call, beside the event."""

    def __init__(self, number: str) -> None:
        self.aws_request_id = number
        self.function_name, self.function_version = "function", "$LATEST"
        self.invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:function"
        self.memory_limit_in_mb = "128"
        self.log_group_name = self.log_stream_name = "log"

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the function may go on."""
        return 60_000


_MAKING: Dict[str, Callable[[Json], Any]] = {
    "base64": base64.b64decode,
    "client": lambda value: CLIENTS[value["provider"]].client(value["name"]),
    "fields": lambda value: {name: argument(one) for name, one in value.items()},
    "guess": lambda value: value,
    "invocation": Invocation,
    "made_up": lambda value: value,
    "path": pathlib.Path,
    "several": lambda value: [argument(one) for one in value],
    "stored": lambda value: stored(value["name"], base64.b64decode(value["base64"])),
    "upload": _upload,
    "value": lambda value: value,
}
"""What makes an argument of each form."""


def answering(function: Any, parts: Dict[str, Dict[str, Any]], *, is_passed: bool) -> Any:
    """Return a function that is called as if Flask had it answer a request.

    Args:
        function: of the application.
        parts: `files`, `form`, `args` and `json` with their fields, `data` with nothing's value.
        is_passed: whether the request is its argument `request`.
    """

    def called(*positional: Any, **named: Any) -> Any:
        flask = importlib.import_module("flask")
        app = _web_application(flask)
        with app.test_request_context("/", method="POST", **_sent(parts)):
            given = {"request": flask.request} if is_passed else {}
            result = function(*positional, **given, **named)
            return asyncio.run(result) if inspect.iscoroutine(result) else result

    return called


def _web_application(flask: Any) -> Any:
    """Return the application that a view belongs to, or one of which nothing is known."""
    here = f"{os.getcwd()}{os.sep}"
    own = [one for one in list(sys.modules.values()) if _file_of(one).startswith(here)]
    for module in own:
        for one in list(vars(module).values()):
            if isinstance(one, flask.Flask):
                return one
    app = flask.Flask("ciguard")
    app.config = NotAll(app.config)
    return app


def _file_of(module: Any) -> str:
    return str(getattr(module, "__file__", None) or "")


class NotGivenError(KeyError, IndexError):
    """A function looks for what it would have been given by others, and not by ciguard."""


class NotAll(Dict[str, Any]):
    """What would have more in it."""

    def __missing__(self, name: str) -> Any:
        raise NotGivenError(name)


class ProgramArguments(List[str]):
    """Those that a program is started with."""

    def __getitem__(self, at: Any) -> Any:
        try:
            return super().__getitem__(at)
        except IndexError:
            raise NotGivenError(at) from None


def event(given: Any) -> Any:
    """Return an event of which others would have said more."""
    if isinstance(given, dict):
        return NotAll({name: event(one) for name, one in given.items()})
    return [event(one) for one in given] if isinstance(given, list) else given


def _sent(parts: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """Return what makes a request with these parts; one of JSON has no others in its body."""
    sent: Dict[str, Any] = {"query_string": parts.get("args", {})}
    if parts.get("json"):
        return {**sent, "json": parts["json"]}
    if "data" in parts:
        return {**sent, "data": parts["data"].get("", b"")}
    files = {
        name: (io.BytesIO(one.getvalue()), one.name, one.content_type)
        for name, one in parts.get("files", {}).items()
    }
    return {**sent, "data": {**parts.get("form", {}), **files}}


class Upload(io.BytesIO):
    """A file that somebody has sent to a web application, as Flask and Django hand it on."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = self.filename = name
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.content_type = self.mimetype = kind
        self.size = self.content_length = len(content)
        self.file = self.stream = self

    def save(self, place: Any) -> None:
        """Write it to a path, or to something that takes bytes."""
        if hasattr(place, "write"):
            place.write(self.read())
        else:
            pathlib.Path(place).write_bytes(self.read())

    def chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Yield it in parts."""
        return iter(lambda: self.read(size), b"")


class Awaited:
    """One that is read by `await`, as FastAPI hands it on."""

    def __init__(self, content: bytes, name: str) -> None:
        self.file = Upload(content, name)
        self.filename = name
        self.content_type = self.file.content_type
        self.size = self.file.size

    async def read(self, size: int = -1) -> bytes:
        """Read it, as long as nothing is said."""
        return self.file.read(size)

    async def seek(self, offset: int) -> None:
        """Go on reading from there."""
        self.file.seek(offset)

    async def close(self) -> None:
        """Read it no more."""
        self.file.close()
