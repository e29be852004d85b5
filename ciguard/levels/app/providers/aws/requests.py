"""Requests to Rekognition and Comprehend: what they ask is taken out, or they are refused."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.aws.in_target.messages import OF_IMAGES
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.reading import invalid, read_json

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart

_UNREADABLE = "SerializationException"
_IN_NO_LANGUAGE = "DetectDominantLanguage"
_MAX_SURE = 100


def read_request(name: str, body: bytes) -> Json:
    """Return what a request asks, as `aws_messages` takes it.

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
