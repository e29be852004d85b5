"""Arguments of an application's functions, built from the forms that `exploration/` sends.

A form is a dictionary with one key, the kind of the argument: `{"path": "/tmp/1.png"}`. Standard
library only, Python 3.9 and later.
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
from ciguard.levels.app.in_target.workspace import application_folder

Json = Any
EVENT = "event"
"""Name of the parameter with the event of a cloud function."""
CALLER_FORMS = frozenset({"client", "made_up", "stored", "stub"})
"""Forms of arguments that cannot be made up if the real service is called."""
_CHUNK = 2**16


def forms_in(argument: Json) -> Iterator[str]:
    """Yield the names of an argument's form and of the forms that are nested in it."""
    for form, value in argument.items():
        yield form
        nested = value if form == "several" else value.values() if form == "fields" else ()
        for nested_form in nested:
            yield from forms_in(nested_form)


def argument(argument_form: Json) -> Any:
    """Return the argument that a form describes, such as a client, a file or a text.

    A client comes from the package that the application has imported.
    """
    ((form, value),) = argument_form.items()
    return _CONSTRUCTORS[form](value)


def _upload(value: Json) -> Any:
    """Return an uploaded file, with asynchronous methods if the application awaits them."""
    kind = Awaited if value["is_awaited"] else Upload
    return kind(base64.b64decode(value["base64"]), value["name"])


class Invocation:
    """The context object of a call by AWS Lambda."""

    def __init__(self, number: str) -> None:
        self.aws_request_id = number
        self.function_name, self.function_version = "function", "$LATEST"
        self.invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:function"
        self.memory_limit_in_mb = "128"
        self.log_group_name = self.log_stream_name = "log"

    def get_remaining_time_in_millis(self) -> int:
        """Return the time that the function has left, in milliseconds: a constant."""
        return 60_000


_CONSTRUCTORS: Dict[str, Callable[[Json], Any]] = {
    "base64": base64.b64decode,
    "client": lambda value: CLIENTS[value["provider"]].client(value["name"]),
    "fields": lambda value: {name: argument(form) for name, form in value.items()},
    "guess": lambda value: value,
    "invocation": Invocation,
    "made_up": lambda value: value,
    "path": pathlib.Path,
    "several": lambda value: [argument(form) for form in value],
    "stored": lambda value: stored(value["name"], base64.b64decode(value["base64"])),
    "upload": _upload,
    "value": lambda value: value,
}
"""Name of a form → function from its value to the argument."""


def answering(function: Any, parts: Dict[str, Dict[str, Any]], *, is_passed: bool) -> Any:
    """Return a function that calls a view inside a Flask request.

    Args:
        function: the view of the application.
        parts: the fields of each part of the request: `files`, `form`, `args` and `json`; for
            `data`, the body under the key "".
        is_passed: True if the view gets the request as its argument `request`.
    """

    def in_request(*positional: Any, **keywords: Any) -> Any:
        flask = importlib.import_module("flask")
        app = _web_application(flask)
        with app.test_request_context("/", method="POST", **_request_arguments(parts)):
            request = {"request": flask.request} if is_passed else {}
            result = function(*positional, **request, **keywords)
            return asyncio.run(result) if inspect.iscoroutine(result) else result

    return in_request


def _web_application(flask: Any) -> Any:
    """Return the Flask object of the user's application; a new one if it has none."""
    folder = f"{application_folder()}{os.sep}"
    own_modules = [
        value for value in list(sys.modules.values()) if _file_of(value).startswith(folder)
    ]
    for module in own_modules:
        for value in list(vars(module).values()):
            if isinstance(value, flask.Flask):
                return value
    app = flask.Flask("ciguard")
    app.config = NotAll(app.config)
    return app


def _file_of(module: Any) -> str:
    """Return the file of a module; empty for an object without one."""
    return str(getattr(module, "__file__", None) or "")


class NotGivenError(KeyError, IndexError):
    """A function reads an item that ciguard does not pass, although real callers may."""


class NotAll(Dict[str, Any]):
    """A dictionary that lacks items of real callers; reading one raises `NotGivenError`."""

    def __missing__(self, name: str) -> Any:
        raise NotGivenError(name)


class ProgramArguments(List[str]):
    """Command-line arguments; a missing one raises `NotGivenError`."""

    def __getitem__(self, index: Any) -> Any:
        try:
            return super().__getitem__(index)
        except IndexError:
            raise NotGivenError(index) from None


def event(content: Any) -> Any:
    """Return an event whose dictionaries, nested ones too, raise `NotGivenError` for other keys."""
    if isinstance(content, dict):
        return NotAll({name: event(item) for name, item in content.items()})
    return [event(item) for item in content] if isinstance(content, list) else content


def _request_arguments(parts: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """Return the keyword arguments of Flask's test request; JSON excludes form fields and files."""
    arguments: Dict[str, Any] = {"query_string": parts.get("args", {})}
    if parts.get("json"):
        return {**arguments, "json": parts["json"]}
    if "data" in parts:
        return {**arguments, "data": parts["data"].get("", b"")}
    files = {
        name: (io.BytesIO(upload.getvalue()), upload.name, upload.content_type)
        for name, upload in parts.get("files", {}).items()
    }
    return {**arguments, "data": {**parts.get("form", {}), **files}}


class Upload(io.BytesIO):
    """An uploaded file with the attributes and methods of Flask's and Django's."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = self.filename = name
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.content_type = self.mimetype = kind
        self.size = self.content_length = len(content)
        self.file = self.stream = self

    def save(self, destination: Any) -> None:
        """Write the content to a path or to an open binary file."""
        if hasattr(destination, "write"):
            destination.write(self.read())
        else:
            pathlib.Path(destination).write_bytes(self.read())

    def chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Yield the content in parts of up to `size` bytes."""
        return iter(lambda: self.read(size), b"")


class Awaited:
    """An uploaded file with the asynchronous interface of FastAPI."""

    def __init__(self, content: bytes, name: str) -> None:
        self.file = Upload(content, name)
        self.filename = name
        self.content_type = self.file.content_type
        self.size = self.file.size

    async def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; all bytes for -1."""
        return self.file.read(size)

    async def seek(self, offset: int) -> None:
        """Set the position of the next read."""
        self.file.seek(offset)

    async def close(self) -> None:
        """Close the file."""
        self.file.close()
