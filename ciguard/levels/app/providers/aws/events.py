"""Events of AWS Lambda: a new object in a bucket, a message in a queue, or a web request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import StoredFile

_BUCKET = "bucket"
_EVENT_TIME = "2024-01-01T00:00:00.000Z"
_BUCKET_EVENT: Json = {
    "eventVersion": "2.1",
    "eventSource": "aws:s3",
    "eventName": "ObjectCreated:Put",
    "eventTime": _EVENT_TIME,
    "awsRegion": "us-east-1",
}
_QUEUE_EVENT: Json = {"messageId": "1", "receiptHandle": "1", "attributes": {}}
GATEWAY_EVENT: Mapping[str, Json] = {
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


def event_fields(stored: StoredFile) -> Mapping[str, Json]:
    """Return the form of an event's field `Records`: one record, which names a stored file.

    The record has the fields of S3, SQS and SNS, so that a handler of any of them can read it.
    """
    text = stored.text
    sns = {"Message": text, "MessageId": "1", "Subject": "subject", "Timestamp": _EVENT_TIME}
    plain = {**_BUCKET_EVENT, **_QUEUE_EVENT, "body": text, "Sns": sns}
    size, tag = {"value": len(stored.content)}, {"value": "0" * 32}
    stored_object = {"fields": {"key": stored.form, "size": size, "eTag": tag}}
    bucket = {"name": _BUCKET, "arn": f"arn:aws:s3:::{_BUCKET}"}
    place = {"bucket": {"value": bucket}, "object": stored_object}
    record = {"fields": {**{n: {"value": v} for n, v in plain.items()}, "s3": {"fields": place}}}
    return {"Records": {"several": [record]}}
