"""Objects that an application stores in S3, kept in memory: nothing is sent.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import hashlib
import re
from typing import Dict, Optional, Tuple
from urllib.parse import unquote
from xml.sax.saxutils import escape

from ciguard.levels.app.in_target.asking import Json, UnknownOperationError
from ciguard.levels.app.in_target.stored import OBJECTS

REGION = "us-east-1"
_ADDRESS = re.compile(
    r"s3://(?P<bucket>[^/]+)/(?P<key>.+)"
    r"|https://(?P<host>[^/]+)\.s3[.\w-]*\.amazonaws\.com/(?P<own>.+)"
    r"|https://s3[.\w-]*\.amazonaws\.com/(?P<first>[^/]+)/(?P<rest>.+)"
)
_LAST_MODIFIED = "2024-01-01T00:00:00.000Z"
_MISSING = (
    b"<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
)

Response = Tuple[int, Dict[str, str], bytes]
"""HTTP status, headers and body of a response."""


class Storage:
    """Objects by bucket and key. Every bucket exists."""

    def __init__(self) -> None:
        self._objects: Dict[Tuple[str, str], bytes] = {}

    def put(self, bucket: str, key: str, content: bytes) -> str:
        """Store an object, and return its HTTPS address."""
        self._objects[bucket, key] = content
        return f"https://s3.{REGION}.amazonaws.com/{bucket}/{key}"

    def content_at(self, address: str) -> Optional[bytes]:
        """Return the content at an address of S3; None if no object is stored there."""
        match = _ADDRESS.fullmatch(address)
        if match is None:
            return None
        bucket = match["bucket"] or match["host"] or match["first"]
        return self._content_of(bucket, match["key"] or match["own"] or match["rest"])

    def _content_of(self, bucket: str, key: str) -> Optional[bytes]:
        return self._objects.get((bucket, key), OBJECTS.get(key))

    def reply(self, name: str, arguments: Json) -> Response:
        """Return the response of S3 to a request.

        Args:
            name: name of the operation, such as `PutObject`.
            arguments: arguments of the call.

        Raises:
            UnknownOperationError: if the operation is not supported.
        """
        handler = getattr(self, f"_{name}", None)
        if handler is None:
            msg = f"s3 {name}"
            raise UnknownOperationError(msg)
        response: Response = handler(arguments)
        return response

    def _PutObject(self, arguments: Json) -> Response:  # noqa: N802 - `reply` finds it by the operation's name
        content = _content(arguments.get("Body", b""))
        self.put(arguments["Bucket"], arguments["Key"], content)
        return 200, _object_headers(content), b""

    def _GetObject(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        content = self._content_of(arguments["Bucket"], arguments["Key"])
        return (404, {}, _MISSING) if content is None else (200, _object_headers(content), content)

    def _HeadObject(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        content = self._content_of(arguments["Bucket"], arguments["Key"])
        return (404, {}, b"") if content is None else (200, _object_headers(content), b"")

    def _CopyObject(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        source = arguments["CopySource"]
        if isinstance(source, str):
            bucket, _, key = source.partition("?")[0].lstrip("/").partition("/")
            source = {"Bucket": bucket, "Key": unquote(key)}
        content = self._content_of(source["Bucket"], source["Key"])
        if content is None:
            return 404, {}, _MISSING
        self.put(arguments["Bucket"], arguments["Key"], content)
        tag = f"<ETag>{escape(_object_headers(content)['ETag'])}</ETag>"
        return 200, {}, f"<CopyObjectResult>{tag}</CopyObjectResult>".encode()

    def _ListObjectsV2(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        stored = {
            key: content
            for (bucket, key), content in self._objects.items()
            if bucket == arguments["Bucket"]
        }
        prefix = arguments.get("Prefix", "")
        objects = {
            key: content for key, content in {**OBJECTS, **stored}.items() if key.startswith(prefix)
        }
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_LAST_MODIFIED}</LastModified>"
            f"<ETag>{escape(_object_headers(content)['ETag'])}</ETag><Size>{len(content)}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
            for key, content in sorted(objects.items())
        )
        count = f"<KeyCount>{len(objects)}</KeyCount><IsTruncated>false</IsTruncated>"
        return 200, {}, f"<ListBucketResult>{count}{entries}</ListBucketResult>".encode()

    _ListObjects = _ListObjectsV2

    def _DeleteObject(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        self._objects.pop((arguments["Bucket"], arguments["Key"]), None)
        return 204, {}, b""

    def _CreateBucket(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        return 200, {"Location": f"/{arguments['Bucket']}"}, b""

    def _HeadBucket(self, arguments: Json) -> Response:  # noqa: N802 - see `_PutObject`
        del arguments
        return 200, {}, b""


def _content(body: Json) -> bytes:
    """Return the content of an object, given as text, bytes or an open file, as bytes."""
    content = body.read() if hasattr(body, "read") else body
    return content.encode() if isinstance(content, str) else bytes(content)


def _object_headers(content: bytes) -> Dict[str, str]:
    """Return the headers of a response about an object."""
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {
        "ETag": f'"{digest}"',
        "Content-Length": f"{len(content)}",
        "Content-Type": "binary/octet-stream",
        "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    }
