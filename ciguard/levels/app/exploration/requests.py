"""What functions are handed that answer requests: of the web, or an event of a cloud."""

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
from ciguard.levels.app.static_analysis.requested import ARGUMENTS, BODY, EVENT, JSON, PASSED, RAW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.application import Routine

_QUERY = "queryStringParameters"
_ONLY_OF_WEB = frozenset({BODY, _QUERY, "httpMethod", "isBase64Encoded", "pathParameters"})


@dataclass(frozen=True, slots=True)
class Sent:
    """What somebody sends."""

    kind: MediaKind
    content: bytes
    file: str
    """That holds it."""
    upload: Json
    """The form of it as a file."""
    setting: Callable[[str], Json]
    """Says what a field takes that is none of that; None of others."""

    def texts(self) -> list[str]:
        """Return it as people put it into a text."""
        if self.kind is MediaKind.TEXT:
            return [self.content.decode("utf-8", "replace")]
        encoded = base64.b64encode(self.content).decode()
        kind = mimetypes.guess_type(self.file)[0]
        return [encoded, f"data:{kind};base64,{encoded}", self.file]

    def fields(self, names: tuple[str, ...], text: str) -> dict[str, Json]:
        """Return fields with what they take."""
        found = {name: self.setting(name) for name in names}
        return {name: text if value is None else value for name, value in found.items()}


def web_requests(routine: Routine, sent: Sent) -> Iterator[Json]:
    """Yield the forms of a web request with what a function reads of it.

    Args:
        routine: the function.
        sent: what services are to be asked about.
    """
    for text in sent.texts():
        parts: dict[str, Json] = {}
        for part, names in routine.request.items():
            if part == RAW:
                parts[part] = {"": {"base64": base64.b64encode(sent.content).decode()}}
            elif part == "files":
                parts[part] = dict.fromkeys(names, sent.upload)
            else:
                fields = sent.fields(names, text)
                parts[part] = {name: {"guess": value} for name, value in fields.items()}
        yield {"request": {"is_passed": PASSED in routine.parameters(), "parts": parts}}


def events(read: Mapping[str, tuple[str, ...]], sent: Sent) -> Iterator[Json]:
    """Yield the forms of an event: something was put into a storage, sent by a queue or the web.

    Args:
        read: parts of it that a function reads, and which fields of each.
        sent: what services are to be asked about.
    """
    fields_read = set(read.get(EVENT, ()))
    of_web = {name: value for one in conventions() for name, value in one.web_event.items()}
    # A path may be one of a file, where nothing else is of the web.
    passed_over = {BODY, _QUERY, *of_web} if fields_read & _ONLY_OF_WEB else set()
    own = tuple(one for one in read.get(EVENT, ()) if one not in {"Records", *passed_over})
    for text in sent.texts():
        stored = StoredFile(Path(sent.file).name, sent.content, text)
        told = {
            name: form for one in conventions() for name, form in one.event_fields(stored).items()
        }
        fields = sent.fields(own, text)
        yield {"fields": {**told, **{name: {"value": value} for name, value in fields.items()}}}
        if passed_over:
            query = sent.fields(read.get(ARGUMENTS, ()), text)
            said = json.dumps(sent.fields(read[JSON], text)) if JSON in read else text
            yield {"value": {**of_web, **fields, BODY: said, _QUERY: query}}
