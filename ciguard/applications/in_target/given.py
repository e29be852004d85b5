"""Makes what an application's function is called with, of what `exploring/` says.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import inspect
import io
import pathlib
from typing import Any, Dict, Iterator  # noqa: UP035 - Python 3.9 in the target

from ciguard.applications.in_target import aws_clients, azure_clients, google_clients

Json = Any
CLIENTS = {"google": google_clients, "aws": aws_clients, "azure": azure_clients}
"""By provider, what stands between the application and its clients."""
ITS_CALLERS = frozenset({"client", "made_up"})
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
    """Return an argument, of one form: a client, a file, a text and so on.

    A client is one of whichever package the application has imported.
    """
    ((form, value),) = given.items()
    if form == "several":
        return [argument(one) for one in value]
    if form == "fields":  # a message of the client, which takes dictionaries for it
        return {name: argument(one) for name, one in value.items()}
    if form == "client":
        return CLIENTS[value["provider"]].client(value["name"])
    if form == "upload":
        kind = Awaited if value["is_awaited"] else Upload
        return kind(base64.b64decode(value["base64"]), value["name"])
    if form == "path":
        return pathlib.Path(value)
    return base64.b64decode(value) if form == "base64" else value


def answering(function: Any, parts: Dict[str, Dict[str, Any]], *, is_passed: bool) -> Any:  # noqa: UP006
    """Return a function that is called as if Flask had it answer a request.

    Args:
        function: of the application.
        parts: `files`, `form`, `args` and `json` with their fields, `data` with nothing's value.
        is_passed: whether the request is its argument `request`.
    """

    def called(*positional: Any, **named: Any) -> Any:
        flask = importlib.import_module("flask")
        around = getattr(inspect.unwrap(function), "__globals__", {}).values()
        own = (one for one in list(around) if isinstance(one, flask.Flask))
        app = next(own, None) or flask.Flask("ciguard")
        with app.test_request_context("/", method="POST", **_sent(parts)):
            given = {"request": flask.request} if is_passed else {}
            result = function(*positional, **given, **named)
            return asyncio.run(result) if inspect.iscoroutine(result) else result

    return called


def _sent(parts: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:  # noqa: UP006
    """Return what makes a request with these parts; one of JSON has no others in its body."""
    sent: Dict[str, Any] = {"query_string": parts.get("args", {})}  # noqa: UP006
    if parts.get("json"):
        return {**sent, "json": parts["json"]}
    if "data" in parts:
        return {**sent, "data": parts["data"][""]}
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
        kind = "audio/wav" if name.endswith(".wav") else f"image/{pathlib.Path(name).suffix[1:]}"
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
