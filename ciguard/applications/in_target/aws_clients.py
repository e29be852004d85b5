"""Clients of boto3 ask ciguard: what they would send is not sent, and its answer is made here.

They check what they are given, write the request, read the response and raise their exceptions as
always; credentials and a region are not needed.
"""

from __future__ import annotations

import inspect
import json
import os
from typing import Any

from ciguard.applications.in_target.asking import (
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
    refuse_addresses,
)
from ciguard.applications.in_target.aws_messages import answered, heard, is_known, method_of

_SERVICES = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_REGION = "us-east-1"


def intercept(answering: Answering) -> None:
    """Have every client ask `answering`, whenever it was made."""
    from botocore import session  # noqa: PLC0415 - the application's
    from botocore.credentials import Credentials  # noqa: PLC0415
    from botocore.endpoint import Endpoint  # noqa: PLC0415

    def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
        if inspect.iscoroutinefunction(endpoint._send_request):  # noqa: SLF001 - it is not said elsewhere
            msg = "an asynchronous client"
            raise UnknownOperationError(msg)
        return _answered(operation, request, answering)

    Endpoint.make_request = make_request
    session.Session.get_credentials = lambda *_, **__: Credentials("ciguard", "ciguard")
    os.environ.setdefault("AWS_DEFAULT_REGION", _REGION)
    refuse_addresses(_SERVICES, "something of AWS, without boto3")


def observe(hearing: Hearing) -> None:
    """Have every client ask its service, and `hearing` told the answers.

    Asynchronous clients ask theirs too; nothing is told of those.
    """
    from botocore.endpoint import Endpoint  # noqa: PLC0415 - the application's

    send = Endpoint.make_request

    def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
        sent = send(endpoint, operation, request)
        if is_known(operation.name) and not inspect.isawaitable(sent):
            heard(operation.name, _request(operation, request), _said(sent[1]), hearing)
        return sent

    Endpoint.make_request = make_request


def _request(operation: Any, sent: Json) -> Json:
    """Return what a request says, by reading it as the service would."""
    model = operation.service_model
    protocol = getattr(model, "resolved_protocol", None) or model.metadata["protocol"]
    return _read(sent["body"], 200, protocol, operation.input_shape)


def _answered(operation: Any, sent: Json, answering: Answering) -> Any:
    """Return the response to a request, and what the client reads in it: JSON, as it may be."""
    from botocore.awsrequest import AWSResponse  # noqa: PLC0415 - the application's

    if not is_known(operation.name):
        msg = f"{operation.service_model.service_name} {method_of(operation.name)}"
        raise UnknownOperationError(msg)
    status, content = answered(operation.name, _request(operation, sent), answering)
    body = json.dumps(content).encode()
    return AWSResponse("", status, {}, None), _read(body, status, "json", operation.output_shape)


def _read(body: bytes, status: int, protocol: str, shape: Any) -> Json:
    from botocore.parsers import create_parser  # noqa: PLC0415 - the application's

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
