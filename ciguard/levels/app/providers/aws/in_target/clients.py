"""Clients of boto3 ask ciguard: what they would send is not sent, and its answer is made here.

They check what they are given, write the request, read the response and raise their exceptions as
always; credentials and a region are not needed.
"""

from __future__ import annotations

import inspect
import io
import json
import os
from typing import Any, Dict

from ciguard.levels.app.in_target.asking import (
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
    refuse_addresses,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.aws.in_target.jobs import Jobs
from ciguard.levels.app.providers.aws.in_target.messages import (
    answered,
    heard,
    is_known,
    method_of,
)
from ciguard.levels.app.providers.aws.in_target.storage import REGION, Storage

_ANSWERED = frozenset({"comprehend", "rekognition", "s3", "transcribe"})
_WRITES = ("BatchWrite", "Delete", "Publish", "Put", "Send", "Update")
"""What the operations of other services begin with that only write: they are taken to succeed."""
_SERVICES = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


class AwsHook(Hook):
    """Stands between an application and boto3."""

    def intercept(self, answering: Answering) -> None:
        """Have every client ask `answering`, whenever it was made."""
        from botocore import session
        from botocore.credentials import Credentials
        from botocore.endpoint import Endpoint

        services = _Services(answering)

        def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
            if inspect.iscoroutinefunction(endpoint._send_request):  # noqa: SLF001 - it is not said elsewhere
                msg = "an asynchronous client"
                raise UnknownOperationError(msg)
            return services.answered(operation, request)

        Endpoint.make_request = make_request
        session.Session.get_credentials = lambda *_, **__: Credentials("ciguard", "ciguard")
        os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
        refuse_addresses(_SERVICES, "something of AWS, without boto3")

    def observe(self, hearing: Hearing) -> None:
        """Have every client ask its service, and `hearing` told the answers.

        Asynchronous clients ask theirs too; nothing is told of those.
        """
        from botocore.endpoint import Endpoint

        send = Endpoint.make_request

        def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
            sent = send(endpoint, operation, request)
            if is_known(operation.name) and not inspect.isawaitable(sent):
                heard(operation.name, _request(operation, request), _said(sent[1]), hearing)
            return sent

        Endpoint.make_request = make_request

    def client(self, name: str) -> Any:
        """Return a new client of a service."""
        import boto3

        return boto3.client(name)


HOOK = AwsHook()


def _request(operation: Any, sent: Json) -> Json:
    """Return what a request says, by reading it as the service would."""
    model = operation.service_model
    protocol = getattr(model, "resolved_protocol", None) or model.metadata["protocol"]
    return _read(sent["body"], 200, protocol, operation.input_shape)


class _Services:
    """What boto3 asks, with what an application keeps there."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._storage = Storage()
        self._jobs = Jobs(self._storage)

    def answered(self, operation: Any, sent: Json) -> Any:
        """Return the response to a request, and what the client reads in it.

        Raises:
            UnknownOperationError: if no answers are made for it.
        """
        service, name = operation.service_model.service_name, operation.name
        if service == "s3" and "s3_redirect" in sent["context"]:  # with what the client was given
            asked = sent["context"]["s3_redirect"]["params"]
            return _response(operation, *self._storage.answered(name, asked))
        if service == "transcribe":
            asked = _request(operation, sent)
            return _in_json(operation, *self._jobs.answered(name, asked, self._answering))
        if service not in _ANSWERED and name.startswith(_WRITES):
            return _written()
        if not is_known(name):
            msg = f"{service} {method_of(name)}"
            raise UnknownOperationError(msg)
        asked = self._with_image(_request(operation, sent))
        return _in_json(operation, *answered(name, asked, self._answering))

    def _with_image(self, asked: Json) -> Json:
        """Return a request with the image itself, if it was put where the request says it is."""
        place = asked.get("Image", {}).get("S3Object", {})
        content = self._storage.at(f"s3://{place.get('Bucket')}/{place.get('Name')}")
        return asked if content is None else {**asked, "Image": {"Bytes": content}}


def _written() -> Any:
    """Return a response that tells nothing but that something was written."""
    from botocore.awsrequest import AWSResponse

    return AWSResponse("", 200, {}, None), {"ResponseMetadata": {"HTTPStatusCode": 200}}


def _in_json(operation: Any, status: int, content: Json) -> Any:
    """Return a response of a service that answers in JSON, and what the client reads in it."""
    from botocore.awsrequest import AWSResponse

    body = json.dumps(content).encode()
    return AWSResponse("", status, {}, None), _read(body, status, "json", operation.output_shape)


def _response(operation: Any, status: int, headers: Dict[str, str], content: bytes) -> Any:
    """Return a response of S3, and what the client reads in it."""
    from botocore.awsrequest import AWSResponse, HeadersDict
    from botocore.parsers import create_parser
    from botocore.response import StreamingBody

    is_read_later = operation.has_streaming_output and status == 200  # noqa: PLR2004 - of HTTP
    body = StreamingBody(io.BytesIO(content), len(content)) if is_read_later else content
    told = HeadersDict({"x-amz-request-id": "ciguard", **headers})
    said = {"headers": told, "body": body, "status_code": status}
    read = create_parser("rest-xml").parse(said, operation.output_shape)
    return AWSResponse("", status, told, None), read


def _read(body: bytes, status: int, protocol: str, shape: Any) -> Json:
    from botocore.parsers import create_parser

    headers = {"x-amzn-requestid": "ciguard"}
    return create_parser(protocol).parse(
        {"headers": headers, "body": body, "status_code": status}, shape
    )


def _said(parsed: Json) -> Json:
    """Return what a client has read in a response."""
    error = parsed.get("Error")
    if error:
        return {"error": {"code": error.get("Code", ""), "message": error.get("Message", "")}}
    return {"answer": {key: value for key, value in parsed.items() if key != "ResponseMetadata"}}
