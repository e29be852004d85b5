"""Forms of a parameter that holds the input of a service: a file, bytes or an upload."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.contract import StoredFile
from ciguard.levels.app.providers.description import MediaKind, media_kind
from ciguard.levels.app.providers.registered import conventions_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.contents import Contents
    from ciguard.levels.app.providers.description import Operation

_OPENING_STEP = re.compile(r"(^|\.|\b)(open|imread|read_file|fromfile|Path)\(")
_FILE_NAME = re.compile(r"(path|file|file_?name|fname|uri|url)s?$", re.IGNORECASE)
FOLDER = re.compile(r"(folder|dir|directory)$", re.IGNORECASE)
_BUCKET = re.compile(r"bucket(_?name)?$", re.IGNORECASE)
PATH_TYPES = frozenset({"Path", "pathlib.Path"})
_OTHER_SUFFIX = {".png": ".jpg", ".jpg": ".png"}
"""The other suffix of an image file; readers go by the content, not the suffix."""
_UPLOAD_TYPE = re.compile(r"(^|\.)(UploadFile|FileStorage|UploadedFile)$")
_READING_STEP = re.compile(r"\.(read|file|stream|save|chunks)\b")
"""First step by which a web application reads an uploaded file."""


def service_input_forms(  # noqa: PLR0913, PLR0917 - the parameter, its use and contents
    name: str, annotation: str, operation: Operation, steps: str, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a parameter that a service gets as input, the likeliest first.

    Args:
        name: the name of the parameter.
        annotation: its annotation as text.
        operation: the operation that gets the input.
        steps: the steps from the parameter to the call.
        contents: the contents to use.
        folder: the folder for files with the contents.
    """
    kind, is_path = media_kind(operation.task), annotation in PATH_TYPES
    if _BUCKET.search(name):
        yield {"made_up": "bucket"}
    elif FOLDER.search(name) and annotation != "bytes":
        file = content_file(kind, contents[kind], folder / "files")
        if kind is MediaKind.IMAGE:  # the application may search for either suffix
            file.with_suffix(_OTHER_SUFFIX[file.suffix]).write_bytes(contents[kind])
        yield {"path" if is_path else "value": str(folder / "files")}
    else:
        is_opened = (
            bool(_OPENING_STEP.search(steps) or _FILE_NAME.search(name)) and annotation != "bytes"
        )
        file = content_file(kind, contents[kind], folder)
        paths: list[Json] = [{"path" if is_path else "value": str(file)}]
        messages = [] if is_path else _message_forms(operation, kind, contents[kind])
        uploads = [] if annotation in {"str", "bytes", *PATH_TYPES} else upload_forms(file)
        stored = stored_forms(operation, file) if annotation not in {"bytes", *PATH_TYPES} else []
        form_groups = (
            [paths, messages, stored, uploads] if is_opened else [messages, stored, paths, uploads]
        )
        if _UPLOAD_TYPE.search(annotation) or _READING_STEP.match(steps):
            form_groups.insert(0, form_groups.pop())
        for forms in form_groups:
            yield from forms


def stored_forms(operation: Operation, file: Path) -> list[Json]:
    """Return the form of a file in the provider's storage; empty if the provider has no storage."""
    has_storage = conventions_of(operation.provider).has_storage
    if not has_storage or media_kind(operation.task) is MediaKind.TEXT:
        return []
    return [StoredFile(file.name, file.read_bytes(), str(file)).form]


def upload_forms(file: Path) -> list[Json]:
    """Return the forms of a file that is uploaded to a web application."""
    upload = {**bytes_form(file.read_bytes()), "name": file.name}
    return [{"upload": {**upload, "is_awaited": is_awaited}} for is_awaited in (False, True)]


def content_file(kind: MediaKind, content: bytes, folder: Path) -> Path:
    """Write a content to a file in a folder, and return the file's path."""
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / f"{kind}{_suffix(kind, content)}"
    file.write_bytes(content)
    return file


def _message_forms(operation: Operation, kind: MediaKind, content: bytes) -> list[Json]:
    """Return the forms of a content: as it is, and as a message of the provider's client."""
    convention = conventions_of(operation.provider)
    if kind is MediaKind.TEXT:
        text = content.decode("utf-8", "replace")
        document = {"value": {"content": text, "type": "PLAIN_TEXT"}}
        return [{"value": text}, *([document] if convention.has_documents else [])]
    return [bytes_form(content), {"fields": {convention.content_field: bytes_form(content)}}]


def _suffix(kind: MediaKind, content: bytes) -> str:
    if kind is MediaKind.IMAGE:
        return ".jpg" if content.startswith(b"\xff\xd8\xff") else ".png"
    return ".txt" if kind is MediaKind.TEXT else ".wav"


def bytes_form(content: bytes) -> Json:
    """Return the form of a `bytes` argument."""
    return {"base64": base64.b64encode(content).decode()}
