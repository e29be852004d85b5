"""Rekognition and Comprehend of AWS, in their JSON."""

from __future__ import annotations

import base64
import re
import uuid
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.aws.in_target.messages import (
    OF_IMAGES,
    OF_TEXTS,
    answered,
    refused,
)
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.reading import invalid, read_json
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

_UNREADABLE = "SerializationException"
_IN_NO_LANGUAGE = "DetectDominantLanguage"
_MAX_SURE = 100
_OPERATIONS = {"RekognitionService": OF_IMAGES, "Comprehend_20171127": OF_TEXTS}
_TARGET_HEADER = "x-amz-target"
_TARGET = re.compile(r"(?P<service>\w+)\.(?P<name>\w+)", re.ASCII)
_TYPE = "application/x-amz-json-1.1"


class AwsServices:
    """What boto3 asks at another address. Signatures are not looked at."""

    provider = "aws"

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for them: it says so in a header."""
        return _TARGET_HEADER in request.headers

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request: as it names what it asks."""
        return request.headers[_TARGET_HEADER]

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request; see `Services`."""
        name = _name(request)
        if not name:
            known = ", ".join(f"{service}.*" for service in _OPERATIONS)
            msg = f"Not answered here. Known are some of {known}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        return _reply(*answered(name, read_request(name, request.body), answering))

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how they refuse a request."""
        return _reply(*refused(_name(request), {"code": error.code, "message": error.message}))


def _name(request: ServiceRequest) -> str:
    """Return the operation that is asked; empty where none of them is."""
    found = _TARGET.fullmatch(request.headers[_TARGET_HEADER])
    if found is None or request.method != "POST":
        return ""
    return found["name"] if found["name"] in _OPERATIONS.get(found["service"], ()) else ""


def _reply(status: int, content: Json) -> Reply:
    headers = {"Content-Type": _TYPE, "x-amzn-RequestId": str(uuid.uuid4())}
    if "__type" in content:
        code, message = content["__type"], content["message"]
        headers["x-amzn-ErrorType"] = code
        return Reply(content=content, status=status, headers=headers, code=code, message=message)
    errors = dict.fromkeys(one["ErrorMessage"] for one in content.get("ErrorList", []))
    return Reply(content=content, status=status, headers=headers, message=" ".join(errors))


def read_request(name: str, body: bytes) -> Json:
    """Return what a request asks, as `answered` takes it.

    Args:
        name: of a known operation, `DetectLabels`.
        body: JSON.

    Raises:
        ServiceError: if it is no such request.
    """
    try:
        request = read_json(body)
        return _image(request) if name in OF_IMAGES else _text(name, request)
    except ServiceError as error:
        raise ServiceError(_UNREADABLE, error.message) from error


def _image(request: RequestPart) -> Json:
    asked: dict[str, Json] = {"Image": _content(request.part("Image"))}
    attributes = request.texts("Attributes")
    if attributes:
        asked["Attributes"] = attributes
    least = request.number("MinConfidence")
    if least is not None:
        if not 0 <= least <= _MAX_SURE:
            msg = "Invalid value at 'MinConfidence': is to be from 0 to 100."
            raise invalid(msg)
        asked["MinConfidence"] = least
    if request.has("MaxLabels"):
        asked["MaxLabels"] = request.count("MaxLabels")
    return asked


def _content(image: RequestPart) -> Json:
    if image.has("S3Object"):
        place = image.part("S3Object")
        return {"S3Object": {name: place.text(name) for name in ("Bucket", "Name")}}
    return {"Bytes": base64.b64decode(image.base64("Bytes"))}


def _text(name: str, request: RequestPart) -> Json:
    if name != _IN_NO_LANGUAGE and not request.text("LanguageCode"):
        msg = "Value null at 'languageCode' failed to satisfy constraint: Member must not be null."
        raise invalid(msg)
    if name.startswith("Batch"):
        return {"TextList": request.texts("TextList")}
    return {"Text": request.text("Text")}
