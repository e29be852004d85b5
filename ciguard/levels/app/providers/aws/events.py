"""What AWS Lambda tells a function: something was put into a bucket or a queue, or is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import StoredFile

_BUCKET = "bucket"
_WHEN = "2024-01-01T00:00:00.000Z"
_OF_STORAGE: Json = {
    "eventVersion": "2.1",
    "eventSource": "aws:s3",
    "eventName": "ObjectCreated:Put",
    "eventTime": _WHEN,
    "awsRegion": "us-east-1",
}
_OF_QUEUE: Json = {"messageId": "1", "receiptHandle": "1", "attributes": {}}
OF_GATEWAY: Mapping[str, Json] = {
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


def records(stored: StoredFile) -> Mapping[str, Json]:
    """Return the form of a record that is of a bucket, a queue and a topic at once."""
    text = stored.text
    sns = {"Message": text, "MessageId": "1", "Subject": "subject", "Timestamp": _WHEN}
    plain = {**_OF_STORAGE, **_OF_QUEUE, "body": text, "Sns": sns}
    size, tag = {"value": len(stored.content)}, {"value": "0" * 32}
    lies = {"fields": {"key": stored.form, "size": size, "eTag": tag}}
    bucket = {"name": _BUCKET, "arn": f"arn:aws:s3:::{_BUCKET}"}
    place = {"bucket": {"value": bucket}, "object": lies}
    record = {"fields": {**{n: {"value": v} for n, v in plain.items()}, "s3": {"fields": place}}}
    return {"Records": {"several": [record]}}
