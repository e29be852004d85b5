"""Requests to Google's services: what they ask is taken out, or they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.reading import invalid, read_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart

_MAX_IMAGES = 16
"""In one request, as the service takes."""
_FEATURES = (
    "TYPE_UNSPECIFIED", "FACE_DETECTION", "LANDMARK_DETECTION", "LOGO_DETECTION",
    "LABEL_DETECTION", "TEXT_DETECTION", "SAFE_SEARCH_DETECTION", "IMAGE_PROPERTIES", "",
    "CROP_HINTS", "WEB_DETECTION", "DOCUMENT_TEXT_DETECTION", "PRODUCT_SEARCH", "", "", "", "", "",
    "", "OBJECT_LOCALIZATION",
)  # fmt: skip
"""By their numbers, which clients that speak REST may send instead."""
_DOCUMENTS = ("TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML")


def read_request(service: str, body: bytes) -> Json:
    """Return what a request asks, with the keys of the service's messages.

    Args:
        service: `vision`, `language` or `speech`.
        body: JSON, keys as REST or as the messages write them.

    Raises:
        ServiceError: if it is no such request.
    """
    return _READERS[service](read_json(body))


def _images(request: RequestPart) -> Json:
    several = request.parts("requests")
    if len(several) > _MAX_IMAGES:
        msg = f"Too many images per request: {len(several)}, {_MAX_IMAGES} at most."
        raise invalid(msg)
    return {"requests": [_image(one) for one in several]}


def _image(request: RequestPart) -> Json:
    image = request.part("image")
    source = image.part("source")
    asked: Json = {"source": {name: source.text(name) for name in ("image_uri", "gcs_image_uri")}}
    if image.text("content"):
        asked = {"content": image.base64("content")}
    features = [
        {"type": one.member("type", _FEATURES), "max_results": one.count("max_results")}
        for one in request.parts("features")
    ]
    return {"image": asked, "features": features}


def _document(request: RequestPart) -> Json:
    document = request.part("document")
    if document.member("type", _DOCUMENTS) == _DOCUMENTS[0]:
        msg = f"The document type is not specified. Set it to {' or '.join(_DOCUMENTS[1:])}."
        raise invalid(msg)
    return {"document": {name: document.text(name) for name in ("content", "gcs_content_uri")}}


def _sound(request: RequestPart) -> Json:
    audio = request.part("audio")
    if audio.text("content"):
        return {"audio": {"content": audio.base64("content")}}
    return {"audio": {"uri": audio.text("uri")}}


_READERS: dict[str, Callable[[RequestPart], Json]] = {
    "vision": _images,
    "language": _document,
    "speech": _sound,
}
