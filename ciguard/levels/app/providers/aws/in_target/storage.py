"""What an application keeps in S3, held in memory: nothing is sent.

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
_PLACE = re.compile(
    r"s3://(?P<bucket>[^/]+)/(?P<key>.+)"
    r"|https://(?P<host>[^/]+)\.s3[.\w-]*\.amazonaws\.com/(?P<own>.+)"
    r"|https://s3[.\w-]*\.amazonaws\.com/(?P<first>[^/]+)/(?P<rest>.+)"
)
_WHEN = "2024-01-01T00:00:00.000Z"
_MISSING = (
    b"<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
)

Response = Tuple[int, Dict[str, str], bytes]
"""Status, headers and content."""


class Storage:
    """Objects by bucket and key. There is every bucket."""

    def __init__(self) -> None:
        self._objects: Dict[Tuple[str, str], bytes] = {}

    def put(self, bucket: str, key: str, content: bytes) -> str:
        """Keep an object, and return where it lies."""
        self._objects[bucket, key] = content
        return f"https://s3.{REGION}.amazonaws.com/{bucket}/{key}"

    def at(self, place: str) -> Optional[bytes]:
        """Return what lies at an address of S3; None if nothing was put there."""
        found = _PLACE.fullmatch(place)
        if found is None:
            return None
        bucket = found["bucket"] or found["host"] or found["first"]
        return self._at(bucket, found["key"] or found["own"] or found["rest"])

    def _at(self, bucket: str, key: str) -> Optional[bytes]:
        return self._objects.get((bucket, key), OBJECTS.get(key))

    def answered(self, name: str, asked: Json) -> Response:
        """Return the response to a request.

        Args:
            name: of the operation, `PutObject`.
            asked: what the client was given.

        Raises:
            UnknownOperationError: if it is one that is not answered.
        """
        answer = getattr(self, f"_{name}", None)
        if answer is None:
            msg = f"s3 {name}"
            raise UnknownOperationError(msg)
        response: Response = answer(asked)
        return response

    def _PutObject(self, asked: Json) -> Response:  # noqa: N802 - its name there
        content = _content(asked.get("Body", b""))
        self.put(asked["Bucket"], asked["Key"], content)
        return 200, _tag(content), b""

    def _GetObject(self, asked: Json) -> Response:  # noqa: N802
        content = self._at(asked["Bucket"], asked["Key"])
        return (404, {}, _MISSING) if content is None else (200, _tag(content), content)

    def _HeadObject(self, asked: Json) -> Response:  # noqa: N802
        content = self._at(asked["Bucket"], asked["Key"])
        return (404, {}, b"") if content is None else (200, _tag(content), b"")

    def _CopyObject(self, asked: Json) -> Response:  # noqa: N802
        source = asked["CopySource"]
        if isinstance(source, str):
            bucket, _, key = source.partition("?")[0].lstrip("/").partition("/")
            source = {"Bucket": bucket, "Key": unquote(key)}
        content = self._at(source["Bucket"], source["Key"])
        if content is None:
            return 404, {}, _MISSING
        self.put(asked["Bucket"], asked["Key"], content)
        tag = f"<ETag>{escape(_tag(content)['ETag'])}</ETag>"
        return 200, {}, f"<CopyObjectResult>{tag}</CopyObjectResult>".encode()

    def _ListObjectsV2(self, asked: Json) -> Response:  # noqa: N802
        own = {
            key: one for (bucket, key), one in self._objects.items() if bucket == asked["Bucket"]
        }
        prefix = asked.get("Prefix", "")
        found = {key: one for key, one in {**OBJECTS, **own}.items() if key.startswith(prefix)}
        told = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_WHEN}</LastModified>"
            f"<ETag>{escape(_tag(content)['ETag'])}</ETag><Size>{len(content)}</Size>"
            "<StorageClass>STANDARD</StorageClass></Contents>"
            for key, content in sorted(found.items())
        )
        count = f"<KeyCount>{len(found)}</KeyCount><IsTruncated>false</IsTruncated>"
        return 200, {}, f"<ListBucketResult>{count}{told}</ListBucketResult>".encode()

    _ListObjects = _ListObjectsV2

    def _DeleteObject(self, asked: Json) -> Response:  # noqa: N802
        self._objects.pop((asked["Bucket"], asked["Key"]), None)
        return 204, {}, b""

    def _CreateBucket(self, asked: Json) -> Response:  # noqa: N802
        return 200, {"Location": f"/{asked['Bucket']}"}, b""

    def _HeadBucket(self, asked: Json) -> Response:  # noqa: N802
        del asked
        return 200, {}, b""


def _content(body: Json) -> bytes:
    content = body.read() if hasattr(body, "read") else body
    return content.encode() if isinstance(content, str) else bytes(content)


def _tag(content: bytes) -> Dict[str, str]:
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    return {
        "ETag": f'"{digest}"',
        "Content-Length": f"{len(content)}",
        "Content-Type": "binary/octet-stream",
        "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
    }
