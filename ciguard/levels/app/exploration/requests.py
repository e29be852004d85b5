"""Web requests and cloud events, as arguments of the functions that handle them."""

from __future__ import annotations

import base64
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.contract import StoredFile
from ciguard.levels.app.providers.description import MediaKind
from ciguard.levels.app.providers.registered import conventions
from ciguard.levels.app.static_analysis.request_reads import (
    ARGUMENTS,
    BODY,
    EVENT,
    JSON,
    RAW,
    REQUEST,
    Field,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.application import Routine

_QUERY = "queryStringParameters"
_MAX_VALUES = 1000
"""Maximum number of values in the fields of a request."""
_WEB_ONLY_FIELDS = frozenset({BODY, _QUERY, "httpMethod", "isBase64Encoded", "pathParameters"})


@dataclass(frozen=True, slots=True)
class RequestContent:
    """The content that a client sends in a request or event."""

    kind: MediaKind
    content: bytes
    file: str
    """Path of a file with the content."""
    upload: Json
    """Form of the content as an uploaded file."""
    setting: Callable[[str], Json]
    """Returns a value for a field that is a setting, by its name; None for any other field."""

    def texts(self) -> list[str]:
        """Return the content as strings, in the encodings that applications commonly accept."""
        if self.kind is MediaKind.TEXT:
            return [self.content.decode("utf-8", "replace")]
        encoded = base64.b64encode(self.content).decode()
        kind = mimetypes.guess_type(self.file)[0]
        return [encoded, f"data:{kind};base64,{encoded}", self.file]

    def fields(self, paths: Sequence[Field], text: str) -> dict[str, Json]:
        """Return fields with their values: settings, or the content as `text`.

        All items of a list are equal. Fields in lists that would be too long are left out.
        """
        fields: dict[str, Json] = {}
        for path in paths:
            value = self.setting(str(path[-1]))
            indices = [key for key in path if isinstance(key, int)]
            if all(-_MAX_VALUES <= index < _MAX_VALUES for index in indices):
                merged = _merged(fields, path, text if value is None else value)
                fields = merged if _value_count(merged) <= _MAX_VALUES else fields
        return fields


def _merged(content: Json, path: Field, value: Json) -> Json:
    """Return JSON content with one more value, at the place that the path describes."""
    if not path:
        return value
    key, *rest = path
    if isinstance(key, str):
        fields = content if isinstance(content, dict) else {}
        return {**fields, key: _merged(fields.get(key), tuple(rest), value)}
    items = content if isinstance(content, list) else [None]
    length = max(len(items), key + 1, -key)
    return [_merged(items[0], tuple(rest), value)] * length


def _value_count(content: Json) -> int:
    """Return the number of values in JSON content in which all items of a list are equal."""
    if isinstance(content, dict):
        return sum(map(_value_count, content.values()))
    return len(content) * _value_count(content[0]) if isinstance(content, list) else 1


def web_requests(routine: Routine, sent: RequestContent) -> Iterator[Json]:
    """Yield alternative forms of a web request with the parts that a function reads.

    Args:
        routine: the function.
        sent: the content that the client sends.
    """
    for text in sent.texts():
        parts: dict[str, Json] = {}
        for part, paths in routine.request.items():
            if part == RAW:
                parts[part] = {"": {"base64": base64.b64encode(sent.content).decode()}}
            elif part == "files":
                parts[part] = {str(name): sent.upload for name, *_ in paths}
            else:
                fields = sent.fields(paths, text)
                parts[part] = {name: {"guess": value} for name, value in fields.items()}
        yield {
            "request": {
                "is_passed": REQUEST in routine.parameters(),
                "is_of_django": routine.is_of_django,
                "parts": parts,
            }
        }


def events(parts_read: Mapping[str, tuple[Field, ...]], sent: RequestContent) -> Iterator[Json]:
    """Yield alternative forms of a cloud event: storage upload, queue message or web request.

    Args:
        parts_read: part of the event → fields of the part that the function reads.
        sent: the content that the client sends.
    """
    fields_read = {name for name, *_ in parts_read.get(EVENT, ())}
    web_fields = {
        name: value for convention in conventions() for name, value in convention.web_event.items()
    }
    # A field `path` may be a file path if no other field belongs to the web.
    excluded = {BODY, _QUERY, *web_fields} if fields_read & _WEB_ONLY_FIELDS else set()
    own_fields = [
        path for path in parts_read.get(EVENT, ()) if path[0] not in {"Records", *excluded}
    ]
    for text in sent.texts():
        stored = StoredFile(Path(sent.file).name, sent.content, text)
        storage_fields = {
            name: form
            for convention in conventions()
            for name, form in convention.event_fields(stored).items()
        }
        fields = sent.fields(own_fields, text)
        yield {
            "fields": {
                **storage_fields,
                **{name: {"value": value} for name, value in fields.items()},
            }
        }
        if excluded:
            query = sent.fields(parts_read.get(ARGUMENTS, ()), text)
            body = json.dumps(sent.fields(parts_read[JSON], text)) if JSON in parts_read else text
            yield {"value": {**web_fields, **fields, BODY: body, _QUERY: query}}
