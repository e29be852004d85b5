"""Requests that anybody may have sent: what they ask is taken out, or they are refused."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.answering.codes import Code
from ciguard.applications.answering.engine import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain import Json

_MOST_IMAGES = 16
"""In one request, as the service takes."""
_FEATURES = (
    "TYPE_UNSPECIFIED", "FACE_DETECTION", "LANDMARK_DETECTION", "LOGO_DETECTION",
    "LABEL_DETECTION", "TEXT_DETECTION", "SAFE_SEARCH_DETECTION", "IMAGE_PROPERTIES", "",
    "CROP_HINTS", "WEB_DETECTION", "DOCUMENT_TEXT_DETECTION", "PRODUCT_SEARCH", "", "", "", "", "",
    "", "OBJECT_LOCALIZATION",
)  # fmt: skip
"""By their numbers, which clients that speak REST may send instead."""
_DOCUMENTS = ("TYPE_UNSPECIFIED", "PLAIN_TEXT", "HTML")
_STANDARD = str.maketrans("-_", "+/")


def invalid(message: str) -> ServiceError:
    """Return the error of a request that cannot be answered, whenever it comes."""
    return ServiceError(Code.INVALID_ARGUMENT, message)


def read_request(service: str, body: bytes) -> Json:
    """Return what a request asks, with the keys of the service's messages.

    Args:
        service: `vision`, `language` or `speech`.
        body: JSON, keys as REST or as the messages write them.

    Raises:
        ServiceError: if it is no such request.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = "Invalid JSON payload received. It cannot be parsed."
        raise invalid(msg) from error
    return _READERS[service](_Message(content, ""))


@dataclass(frozen=True, slots=True)
class _Message:
    """A part of a request. Every method raises ServiceError, and names the place."""

    content: Json
    place: str

    def __post_init__(self) -> None:
        if not isinstance(self.content, dict):
            raise self._invalid(self.place or "the request", "is no object")

    def part(self, name: str) -> _Message:
        value = self._of(name)
        return _Message({} if value is None else value, self._at(name))

    def parts(self, name: str) -> list[_Message]:
        several = self._of(name)
        if several is None:
            return []
        if not isinstance(several, list):
            raise self._invalid(self._at(name), "is no list")
        return [_Message(one, f"{self._at(name)}[{at}]") for at, one in enumerate(several)]

    def text(self, name: str) -> str:
        value = self._of(name)
        if value is None:
            return ""
        if not isinstance(value, str) or not _is_whole(value):
            raise self._invalid(self._at(name), "is no text")
        return value

    def base64(self, name: str) -> str:
        """Return bytes as the standard alphabet writes them; either one may come."""
        text = self.text(name).translate(_STANDARD).rstrip("=")
        text += "=" * (-len(text) % 4)
        try:
            base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self._invalid(self._at(name), "Base64 decoding failed") from error
        return text

    def member(self, name: str, members: tuple[str, ...]) -> str:
        """Return a member of an enumeration, by its name or number."""
        value = self._of(name)
        if isinstance(value, int) and 0 <= value < len(members):
            value = members[value]
        if value is None:
            return members[0]
        if not isinstance(value, str) or not value or value not in members:
            known = ", ".join(filter(None, members[1:]))
            raise self._invalid(self._at(name), f"is none of {known}")
        return value

    def count(self, name: str) -> int:
        value = self._of(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            value = int(value[:9])
        if value is not None and (not isinstance(value, int) or not 0 <= value < 1 << 31):
            raise self._invalid(self._at(name), "is no count")
        return int(value or 0)

    def _of(self, name: str) -> Json:
        """Return a value by its key, in either spelling; None where there is none."""
        return self.content.get(camel_case(name), self.content.get(name))

    def _at(self, name: str) -> str:
        return f"{self.place}.{camel_case(name)}" if self.place else camel_case(name)

    def _invalid(self, place: str, what: str) -> ServiceError:
        return invalid(f"Invalid value at '{place}': {what}.")


def camel_case(name: str) -> str:
    """Return the key that REST has for a field of a message."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _is_whole(text: str) -> bool:
    """Tell whether a text has no halves of letters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _images(request: _Message) -> Json:
    several = request.parts("requests")
    if len(several) > _MOST_IMAGES:
        msg = f"Too many images per request: {len(several)}, {_MOST_IMAGES} at most."
        raise invalid(msg)
    return {"requests": [_image(one) for one in several]}


def _image(request: _Message) -> Json:
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


def _document(request: _Message) -> Json:
    document = request.part("document")
    if document.member("type", _DOCUMENTS) == _DOCUMENTS[0]:
        msg = f"The document type is not specified. Set it to {' or '.join(_DOCUMENTS[1:])}."
        raise invalid(msg)
    return {"document": {name: document.text(name) for name in ("content", "gcs_content_uri")}}


def _sound(request: _Message) -> Json:
    audio = request.part("audio")
    if audio.text("content"):
        return {"audio": {"content": audio.base64("content")}}
    return {"audio": {"uri": audio.text("uri")}}


_READERS: dict[str, Callable[[_Message], Json]] = {
    "vision": _images,
    "language": _document,
    "speech": _sound,
}
