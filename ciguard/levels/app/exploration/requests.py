"""What functions are handed that answer requests: of the web, of AWS Lambda, of a storage."""

from __future__ import annotations

import base64
import json
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import MediaKind
from ciguard.levels.app.static_analysis.requested import ARGUMENTS, BODY, EVENT, JSON, PASSED, RAW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.application import Routine

_BUCKET = "bucket"
_WHEN = "2024-01-01T00:00:00.000Z"
_OF_STORAGE: Json = {
    "eventVersion": "2.1",
    "eventSource": "aws:s3",
    "eventName": "ObjectCreated:Put",
    "eventTime": _WHEN,
    "awsRegion": "us-east-1",
}
"""What AWS Lambda says of something that is put into a bucket."""
_OF_QUEUE: Json = {"messageId": "1", "receiptHandle": "1", "attributes": {}}
"""What it says of something that waits in a queue."""
_OF_GATEWAY: Json = {
    "httpMethod": "POST",
    "path": "/",
    "headers": {"Content-Type": "application/json", "content-type": "application/json"},
    "pathParameters": {},
    "requestContext": {
        "requestId": "1",
        "httpMethod": "POST",
        "http": {"method": "POST", "path": "/"},
        "identity": {"sourceIp": "127.0.0.1"},
    },
    "isBase64Encoded": False,
}
"""What AWS Lambda hands over when somebody asks it over HTTP, beside the body and the query."""
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

    def stored(self) -> Json:
        """Return the form of its key in a storage of AWS, where it lies."""
        encoded = base64.b64encode(self.content).decode()
        return {"stored": {"name": Path(self.file).name, "base64": encoded}}

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
    # A path may be one of a file, where nothing else is of the web.
    of_web = {BODY, _QUERY, *_OF_GATEWAY} if fields_read & _ONLY_OF_WEB else set()
    own = tuple(one for one in read.get(EVENT, ()) if one not in {"Records", *of_web})
    plain = {"bucket": _BUCKET, "name": Path(sent.file).name}  # of a storage of Google
    for text in sent.texts():
        fields = {**plain, **sent.fields(own, text)}
        named = {name: {"value": value} for name, value in fields.items()}
        yield {"fields": {**named, "Records": {"several": [_record(sent, text)]}}}
        if of_web:
            query = sent.fields(read.get(ARGUMENTS, ()), text)
            said = json.dumps(sent.fields(read[JSON], text)) if JSON in read else text
            yield {"value": {**_OF_GATEWAY, **fields, BODY: said, _QUERY: query}}


def _record(sent: Sent, text: str) -> Json:
    """Return the form of a record of what was put into a bucket of AWS, or into a queue."""
    sns = {"Message": text, "MessageId": "1", "Subject": "subject", "Timestamp": _WHEN}
    plain = {**_OF_STORAGE, **_OF_QUEUE, BODY: text, "Sns": sns}
    size, tag = {"value": len(sent.content)}, {"value": "0" * 32}
    lies = {"fields": {"key": sent.stored(), "size": size, "eTag": tag}}
    bucket = {"name": _BUCKET, "arn": f"arn:aws:s3:::{_BUCKET}"}
    place = {"bucket": {"value": bucket}, "object": lies}
    return {"fields": {**{n: {"value": v} for n, v in plain.items()}, "s3": {"fields": place}}}
