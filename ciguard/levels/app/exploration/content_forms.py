"""Forms in which a parameter may hold what a service is asked about: a file, bytes, an upload."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.contract import StoredFile
from ciguard.levels.app.providers.description import MediaKind, kind_of
from ciguard.levels.app.providers.registered import conventions_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.contents import Contents
    from ciguard.levels.app.providers.description import Operation

_OPENS = re.compile(r"(^|\.|\b)(open|imread|read_file|fromfile|Path)\(")
_NAMED = re.compile(r"(path|file|file_?name|fname|uri|url)s?$", re.IGNORECASE)
FOLDER = re.compile(r"(folder|dir|directory)$", re.IGNORECASE)
_BUCKET = re.compile(r"bucket(_?name)?$", re.IGNORECASE)
PATHS = frozenset({"Path", "pathlib.Path"})
_OTHER = {".png": ".jpg", ".jpg": ".png"}
"""How else the file of an image may be called: what reads it looks at what is in it."""
_UPLOADED = re.compile(r"(^|\.)(UploadFile|FileStorage|UploadedFile)$")
_READ = re.compile(r"\.(read|file|stream|save|chunks)\b")
"""What is done first to what somebody has sent to a web application."""


def asked_about_forms(  # noqa: PLR0913, PLR0917 - all that is known of one
    name: str, written: str, operation: Operation, steps: str, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a parameter that a service is asked about, after some steps."""
    kind, is_path = kind_of(operation.task), written in PATHS
    if _BUCKET.search(name):
        yield {"made_up": "bucket"}
    elif FOLDER.search(name) and written != "bytes":
        file = content_file(kind, contents[kind], folder / "files")
        if kind is MediaKind.IMAGE:  # an application may look for the one or the other
            file.with_suffix(_OTHER[file.suffix]).write_bytes(contents[kind])
        yield {"path" if is_path else "value": str(folder / "files")}
    else:
        is_opened = bool(_OPENS.search(steps) or _NAMED.search(name)) and written != "bytes"
        file = content_file(kind, contents[kind], folder)
        paths: list[Json] = [{"path" if is_path else "value": str(file)}]
        others = [] if is_path else _message_forms(operation, kind, contents[kind])
        uploads = [] if written in {"str", "bytes", *PATHS} else upload_forms(file)
        kept = stored_forms(operation, file) if written not in {"bytes", *PATHS} else []
        several = [paths, others, kept, uploads] if is_opened else [others, kept, paths, uploads]
        if _UPLOADED.search(written) or _READ.match(steps):
            several.insert(0, several.pop())
        for one in several:
            yield from one


def stored_forms(operation: Operation, file: Path) -> list[Json]:
    """Return the name that a file has in a storage of the provider."""
    has_storage = conventions_of(operation.provider).has_storage
    if not has_storage or kind_of(operation.task) is MediaKind.TEXT:
        return []
    return [StoredFile(file.name, file.read_bytes(), str(file)).form]


def upload_forms(file: Path) -> list[Json]:
    """Return a file as web applications get it."""
    one = {**bytes_form(file.read_bytes()), "name": file.name}
    return [{"upload": {**one, "is_awaited": is_awaited}} for is_awaited in (False, True)]


def content_file(kind: MediaKind, content: bytes, folder: Path) -> Path:
    """Write a content to a file in a folder, and return the file."""
    folder.mkdir(exist_ok=True, parents=True)
    file = folder / f"{kind}{_suffix(kind, content)}"
    file.write_bytes(content)
    return file


def _message_forms(operation: Operation, kind: MediaKind, content: bytes) -> list[Json]:
    """Return what becomes what a service is asked about: contents, a message of the client."""
    called = conventions_of(operation.provider)
    if kind is MediaKind.TEXT:
        text = content.decode("utf-8", "replace")
        document = {"value": {"content": text, "type": "PLAIN_TEXT"}}
        return [{"value": text}, *([document] if called.has_documents else [])]
    return [bytes_form(content), {"fields": {called.content_field: bytes_form(content)}}]


def _suffix(kind: MediaKind, content: bytes) -> str:
    if kind is MediaKind.IMAGE:
        return ".jpg" if content.startswith(b"\xff\xd8\xff") else ".png"
    return ".txt" if kind is MediaKind.TEXT else ".wav"


def bytes_form(content: bytes) -> Json:
    """Return the form of bytes."""
    return {"base64": base64.b64encode(content).decode()}
