"""Answers HTTP requests to Rekognition and Comprehend, in their JSON."""

from __future__ import annotations

import base64
import re
import uuid
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.aws.in_target.messages import (
    IMAGE_OPERATIONS,
    TEXT_OPERATIONS,
    answer_request,
    refusal_reply,
)
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.reading import invalid, read_json
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

_UNREADABLE_CODE = "SerializationException"
_WITHOUT_LANGUAGE = "DetectDominantLanguage"
_MAX_CONFIDENCE = 100
_OPERATIONS = {"RekognitionService": IMAGE_OPERATIONS, "Comprehend_20171127": TEXT_OPERATIONS}
_TARGET_HEADER = "x-amz-target"
_TARGET = re.compile(r"(?P<service>\w+)\.(?P<name>\w+)", re.ASCII)
_CONTENT_TYPE = "application/x-amz-json-1.1"


class AwsServices:
    """Rekognition and Comprehend, for a boto3 whose endpoint is ciguard; signatures are ignored."""

    provider = "aws"

    def accepts(self, request: ServiceRequest) -> bool:
        """Return whether a request has the header that only clients of AWS send."""
        return _TARGET_HEADER in request.headers

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs: the header that names service and operation."""
        return request.headers[_TARGET_HEADER]

    def reply(self, request: ServiceRequest, get_answer: Callable[[str, bytes], Json]) -> Reply:
        """Return the reply to a request; see `Services`."""
        name = _name(request)
        if not name:
            known = ", ".join(f"{service}.*" for service in _OPERATIONS)
            msg = f"Not supported here. Supported are some operations of {known}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        return _reply(*answer_request(name, read_request(name, request.body), get_answer))

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the refusal of a request."""
        return _reply(
            *refusal_reply(_name(request), {"code": error.code, "message": error.message})
        )


def _name(request: ServiceRequest) -> str:
    """Return the name of the requested operation; empty if it is not supported."""
    target = _TARGET.fullmatch(request.headers[_TARGET_HEADER])
    if target is None or request.method != "POST":
        return ""
    return target["name"] if target["name"] in _OPERATIONS.get(target["service"], ()) else ""


def _reply(status: int, content: Json) -> Reply:
    """Return a reply whose code and message are those in its content."""
    headers = {"Content-Type": _CONTENT_TYPE, "x-amzn-RequestId": str(uuid.uuid4())}
    if "__type" in content:
        code, message = content["__type"], content["message"]
        headers["x-amzn-ErrorType"] = code
        return Reply(content=content, status=status, headers=headers, code=code, message=message)
    errors = dict.fromkeys(item["ErrorMessage"] for item in content.get("ErrorList", []))
    return Reply(content=content, status=status, headers=headers, message=" ".join(errors))


def read_request(name: str, body: bytes) -> Json:
    """Return the parameters of a request, in the form of `answer_request`'s argument.

    Args:
        name: name of a supported operation, such as `DetectLabels`.
        body: body of the request, in JSON.

    Raises:
        ServiceError: if the request is invalid.
    """
    try:
        request = read_json(body)
        return _image(request) if name in IMAGE_OPERATIONS else _text(name, request)
    except ServiceError as error:
        raise ServiceError(_UNREADABLE_CODE, error.message) from error


def _image(request: RequestPart) -> Json:
    """Return the parameters of a request about an image."""
    parameters: dict[str, Json] = {"Image": _content(request.part("Image"))}
    attributes = request.texts("Attributes")
    if attributes:
        parameters["Attributes"] = attributes
    min_confidence = request.number("MinConfidence")
    if min_confidence is not None:
        if not 0 <= min_confidence <= _MAX_CONFIDENCE:
            msg = "Invalid value at 'MinConfidence': has to be from 0 to 100."
            raise invalid(msg)
        parameters["MinConfidence"] = min_confidence
    if request.has("MaxLabels"):
        parameters["MaxLabels"] = request.count("MaxLabels")
    return parameters


def _content(image: RequestPart) -> Json:
    """Return the content of an image, or its address in S3."""
    if image.has("S3Object"):
        location = image.part("S3Object")
        return {"S3Object": {name: location.text(name) for name in ("Bucket", "Name")}}
    return {"Bytes": base64.b64decode(image.base64("Bytes"))}


def _text(name: str, request: RequestPart) -> Json:
    """Return the parameters of a request about one text or several texts."""
    if name != _WITHOUT_LANGUAGE and not request.text("LanguageCode"):
        msg = "Value null at 'languageCode' failed to satisfy constraint: Member must not be null."
        raise invalid(msg)
    if name.startswith("Batch"):
        return {"TextList": request.texts("TextList")}
    return {"Text": request.text("Text")}
