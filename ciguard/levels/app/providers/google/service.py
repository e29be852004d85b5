"""Answers REST requests to Google's services; the gRPC server forwards its requests as REST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.google.in_target.messages import RefusedError, answer_request
from ciguard.levels.app.providers.google.routes import find_route
from ciguard.levels.app.providers.reading import camel_case, invalid, read_json
from ciguard.levels.app.providers.request import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.reading import RequestPart
    from ciguard.levels.app.providers.request import ServiceRequest

_MAX_IMAGES = 16
"""Maximum number of images in a request, as in the service."""
_FEATURES = (
    "TYPE_UNSPECIFIED", "FACE_DETECTION", "LANDMARK_DETECTION", "LOGO_DETECTION",
    "LABEL_DETECTION", "TEXT_DETECTION", "SAFE_SEARCH_DETECTION", "IMAGE_PROPERTIES", "",
    "CROP_HINTS", "WEB_DETECTION", "DOCUMENT_TEXT_DETECTION", "PRODUCT_SEARCH", "", "", "", "", "",
    "", "OBJECT_LOCALIZATION",
)  # fmt: skip
"""Names of features by their numbers, which REST clients may send instead of names."""
_DOCUMENTS = ("TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML")
_HEADERS = {"Content-Type": "application/json; charset=UTF-8"}


class GoogleServices:
    """Vision, Natural Language and Speech-to-Text. These services refuse all unknown requests."""

    provider = "google"

    def accepts(self, request: ServiceRequest) -> bool:
        """Return True: requests that no other provider serves are refused as Google does."""
        del request
        return True

    def title(self, request: ServiceRequest) -> str:
        """Return the title of a request in logs: its path."""
        return request.path

    def reply(self, request: ServiceRequest, get_answer: Callable[[str, bytes], Json]) -> Reply:
        """Return the reply to a request; see `Services`."""
        if request.method != "POST":
            msg = f"{request.method} is not supported here."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
        route, method = find_route(request.target)
        message_request = read_request(route.service, request.body)
        try:
            answer = answer_request(method, message_request, get_answer)
        except RefusedError as error:
            raise ServiceError(error.code, error.message) from error
        except UnknownOperationError as error:  # requests write operations in capitals
            raise UnknownOperationError(str(error).upper()) from error
        errors = (
            response["error"] for response in answer.get("responses", []) if "error" in response
        )
        message = " ".join(dict.fromkeys(error["message"] for error in errors))
        return Reply(content=_in_camel_case(answer), headers=_HEADERS, message=message)

    def refusal(self, request: ServiceRequest, error: ServiceError) -> Reply:
        """Return the refusal of a request."""
        del request
        code = Code(error.code)
        error_fields = {"code": code.http_status, "message": error.message, "status": str(code)}
        return Reply(
            content={"error": error_fields},
            status=code.http_status,
            headers=_HEADERS,
            code=code,
            message=error.message,
        )


def _in_camel_case(content: Json) -> Json:
    """Return a message with the keys of REST, which are in camel case."""
    if isinstance(content, dict):
        return {camel_case(key): _in_camel_case(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_in_camel_case(item) for item in content]
    return content


def read_request(service: str, body: bytes) -> Json:
    """Return a request with the field names of the service's messages.

    Args:
        service: `vision`, `language` or `speech`.
        body: JSON whose keys are in camel case, as in REST, or in snake case, as in messages.

    Raises:
        ServiceError: if the request is invalid.
    """
    return _READERS[service](read_json(body))


def _images(request: RequestPart) -> Json:
    parts = request.parts("requests")
    if len(parts) > _MAX_IMAGES:
        msg = f"{len(parts)} images in a request are too many. The limit is {_MAX_IMAGES}."
        raise invalid(msg)
    return {"requests": [_image(part) for part in parts]}


def _image(request: RequestPart) -> Json:
    image = request.part("image")
    source = image.part("source")
    parsed: Json = {"source": {name: source.text(name) for name in ("image_uri", "gcs_image_uri")}}
    if image.text("content"):
        parsed = {"content": image.base64("content")}
    features = [
        {"type": part.member("type", _FEATURES), "max_results": part.count("max_results")}
        for part in request.parts("features")
    ]
    return {"image": parsed, "features": features}


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
