"""Makes clients of boto3 call ciguard: their requests are answered here, and never sent.

Clients check arguments, write requests, parse responses and raise their exceptions as without
ciguard. They need neither credentials nor a region.
"""

from __future__ import annotations

import inspect
import io
import json
import os
from typing import Any, Dict

from ciguard.levels.app.in_target.asking import (
    AnswerCallback,
    AnswerFunction,
    Json,
    UnknownOperationError,
    refuse_addresses,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.aws.in_target.jobs import Jobs
from ciguard.levels.app.providers.aws.in_target.messages import (
    answer_request,
    is_known,
    method_of,
    report_answers,
)
from ciguard.levels.app.providers.aws.in_target.storage import REGION, Storage

_SUPPORTED = frozenset({"comprehend", "rekognition", "s3", "transcribe"})
_WRITE_PREFIXES = ("BatchWrite", "Delete", "Publish", "Put", "Send", "Update")
"""Prefixes of write operations of other services, which are assumed to succeed."""
_SERVICES = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")


class AwsHook(Hook):
    """Intercepts the requests of boto3."""

    def intercept(self, get_answer: AnswerFunction) -> None:
        """Make all clients, also existing ones, call `get_answer`."""
        from botocore import session
        from botocore.credentials import Credentials
        from botocore.endpoint import Endpoint

        services = _Services(get_answer)

        def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
            if inspect.iscoroutinefunction(endpoint._send_request):  # noqa: SLF001 - no public attribute shows it
                msg = "an asynchronous client"
                raise UnknownOperationError(msg)
            return services.reply(operation, request)

        Endpoint.make_request = make_request
        session.Session.get_credentials = lambda *_, **__: Credentials("ciguard", "ciguard")
        os.environ.setdefault("AWS_DEFAULT_REGION", REGION)
        refuse_addresses(_SERVICES, "a service of AWS, without boto3")

    def observe(self, on_answer: AnswerCallback) -> None:
        """Make all clients report the answers of their services to `on_answer`.

        Answers of asynchronous clients are not reported.
        """
        from botocore.endpoint import Endpoint

        send = Endpoint.make_request

        def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
            response = send(endpoint, operation, request)
            if is_known(operation.name) and not inspect.isawaitable(response):
                report_answers(
                    operation.name, _request(operation, request), _outcome(response[1]), on_answer
                )
            return response

        Endpoint.make_request = make_request

    def client(self, name: str) -> Any:
        """Return a new client of a service."""
        import boto3

        return boto3.client(name)


HOOK = AwsHook()


def _request(operation: Any, sent: Json) -> Json:
    """Return the parameters of a request, parsed as the service parses them."""
    model = operation.service_model
    protocol = getattr(model, "resolved_protocol", None) or model.metadata["protocol"]
    return _parse_response(sent["body"], 200, protocol, operation.input_shape)


class _Services:
    """Answers the requests of boto3, with the objects that the application has stored."""

    def __init__(self, get_answer: AnswerFunction) -> None:
        self._get_answer = get_answer
        self._storage = Storage()
        self._jobs = Jobs(self._storage)

    def reply(self, operation: Any, sent: Json) -> Any:
        """Return a pair, as botocore expects it: the response to a request, and its parsed content.

        Raises:
            UnknownOperationError: if the operation is not supported.
        """
        service, name = operation.service_model.service_name, operation.name
        # In a redirected request, the arguments of the call are in the context.
        if service == "s3" and "s3_redirect" in sent["context"]:
            parameters = sent["context"]["s3_redirect"]["params"]
            return _response(operation, *self._storage.reply(name, parameters))
        if service == "transcribe":
            parameters = _request(operation, sent)
            return _json_response(operation, *self._jobs.reply(name, parameters, self._get_answer))
        if service not in _SUPPORTED and name.startswith(_WRITE_PREFIXES):
            return _write_response()
        if not is_known(name):
            msg = f"{service} {method_of(name)}"
            raise UnknownOperationError(msg)
        parameters = self._with_image(_request(operation, sent))
        return _json_response(operation, *answer_request(name, parameters, self._get_answer))

    def _with_image(self, parameters: Json) -> Json:
        """Return parameters in which the content replaces the address of an image in S3.

        They stay unchanged if the application has not stored the image.
        """
        location = parameters.get("Image", {}).get("S3Object", {})
        content = self._storage.content_at(f"s3://{location.get('Bucket')}/{location.get('Name')}")
        return parameters if content is None else {**parameters, "Image": {"Bytes": content}}


def _write_response() -> Any:
    """Return the empty response of a write operation."""
    from botocore.awsrequest import AWSResponse

    return AWSResponse("", 200, {}, None), {"ResponseMetadata": {"HTTPStatusCode": 200}}


def _json_response(operation: Any, status: int, content: Json) -> Any:
    """Return a response in JSON, and its parsed content."""
    from botocore.awsrequest import AWSResponse

    body = json.dumps(content).encode()
    return AWSResponse("", status, {}, None), _parse_response(
        body, status, "json", operation.output_shape
    )


def _response(operation: Any, status: int, headers: Dict[str, str], content: bytes) -> Any:
    """Return a response of S3, and its parsed content."""
    from botocore.awsrequest import AWSResponse, HeadersDict
    from botocore.parsers import create_parser
    from botocore.response import StreamingBody

    is_read_later = operation.has_streaming_output and status == 200  # noqa: PLR2004 - the HTTP status for success
    body = StreamingBody(io.BytesIO(content), len(content)) if is_read_later else content
    all_headers = HeadersDict({"x-amz-request-id": "ciguard", **headers})
    response = {"headers": all_headers, "body": body, "status_code": status}
    parsed = create_parser("rest-xml").parse(response, operation.output_shape)
    return AWSResponse("", status, all_headers, None), parsed


def _parse_response(body: bytes, status: int, protocol: str, shape: Any) -> Json:
    """Return the content of a response, parsed by botocore's parser for a protocol."""
    from botocore.parsers import create_parser

    headers = {"x-amzn-requestid": "ciguard"}
    return create_parser(protocol).parse(
        {"headers": headers, "body": body, "status_code": status}, shape
    )


def _outcome(parsed: Json) -> Json:
    """Return the parsed content of a response as `{"answer": …}` or `{"error": …}`."""
    error = parsed.get("Error")
    if error:
        return {"error": {"code": error.get("Code", ""), "message": error.get("Message", "")}}
    return {"answer": {key: value for key, value in parsed.items() if key != "ResponseMetadata"}}
