"""Google's services, in REST; what comes by gRPC is handed on in the same form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.google.in_target.messages import RefusedError, answered
from ciguard.levels.app.providers.google.routes import routed
from ciguard.levels.app.providers.reading import camel_case, invalid, read_json
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

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
_HEADERS = {"Content-Type": "application/json; charset=UTF-8"}


class GoogleServices:
    """Vision, Natural Language and Speech-to-Text; and whatever nobody else knows."""

    provider = "google"

    def are_asked(self, request: ServiceRequest) -> bool:
        """Return whether a request is for them: any is that comes so far."""
        del request
        return True

    def title(self, request: ServiceRequest) -> str:
        """Return how a log calls a request: by its path."""
        return request.path

    def reply(self, request: ServiceRequest, answering: Callable[[str, bytes], Json]) -> Reply:
        """Answer a request; see `Services`."""
        if request.method != "POST":
            msg = f"{request.method} is not answered here."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        route, method = routed(request.target)
        asked = read_request(route.service, request.body)
        try:
            answer = answered(method, asked, answering)
        except RefusedError as error:
            raise ServiceError(error.code, error.message) from error
        except UnknownOperationError as error:  # as requests name it
            raise UnknownOperationError(str(error).upper()) from error
        errors = (one["error"] for one in answer.get("responses", []) if "error" in one)
        message = " ".join(dict.fromkeys(one["message"] for one in errors))
        return Reply(content=_in_camel_case(answer), headers=_HEADERS, message=message)

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return how they refuse a request."""
        del request
        code = Code(error.code)
        told = {"code": code.http_status, "message": error.message, "status": str(code)}
        return Reply(
            content={"error": told},
            status=code.http_status,
            headers=_HEADERS,
            code=code,
            message=error.message,
        )


def _in_camel_case(content: Json) -> Json:
    """Return a message as REST writes it: its keys, that is."""
    if isinstance(content, dict):
        return {camel_case(key): _in_camel_case(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_in_camel_case(one) for one in content]
    return content


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
