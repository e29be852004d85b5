"""Events of AWS Lambda: a new object in a bucket, a message in a queue, or a web request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import StoredFile

_BUCKET = "bucket"
_WHEN = "2024-01-01T00:00:00.000Z"
_BUCKET_EVENT: Json = {
    "eventVersion": "2.1",
    "eventSource": "aws:s3",
    "eventName": "ObjectCreated:Put",
    "eventTime": _WHEN,
    "awsRegion": "us-east-1",
}
_QUEUE_EVENT: Json = {"messageId": "1", "receiptHandle": "1", "attributes": {}}
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
    """Return the form of a record that fits a bucket, a queue and a topic at once."""
    text = stored.text
    sns = {"Message": text, "MessageId": "1", "Subject": "subject", "Timestamp": _WHEN}
    plain = {**_BUCKET_EVENT, **_QUEUE_EVENT, "body": text, "Sns": sns}
    size, tag = {"value": len(stored.content)}, {"value": "0" * 32}
    stored_object = {"fields": {"key": stored.form, "size": size, "eTag": tag}}
    bucket = {"name": _BUCKET, "arn": f"arn:aws:s3:::{_BUCKET}"}
    place = {"bucket": {"value": bucket}, "object": stored_object}
    record = {"fields": {**{n: {"value": v} for n, v in plain.items()}, "s3": {"fields": place}}}
    return {"Records": {"several": [record]}}
