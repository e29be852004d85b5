"""Parses requests to Azure's Face service, and removes parts of faces that are not requested."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:
    from ciguard.levels.app.in_target.asking import Json

_DETECT = re.compile(r".*/face/(?P<version>v1\.\d[\w.-]*)/detect")
_FIRST_VERSION = "v1.0"
"""API version of `azure-cognitiveservices-vision-face`; `azure-ai-vision-face` uses later ones."""
_OLDEST_MODEL = "recognition_01"
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")


def operation_of(path: str, *, is_stream: bool) -> str:
    """Return the name of the client's method that requests a path; empty if none does.

    Args:
        path: path of the request.
        is_stream: True if the request contains the image; False if it contains its address.
    """
    match = _DETECT.fullmatch(path)
    if match is None:
        return ""
    if match["version"] == _FIRST_VERSION:
        return "detect_with_stream" if is_stream else "detect_with_url"
    return "detect" if is_stream else "detect_from_url"


def are_faces(path: str) -> bool:
    """Return whether requests to a path detect faces."""
    return _DETECT.fullmatch(path) is not None


def requested_faces(
    faces: List[Json],
    query: Dict[str, List[str]],
) -> List[Json]:
    """Return faces without the parts that the request excludes.

    Args:
        faces: faces with the field names of clients.
        query: values of each parameter in the query of the request.
    """
    attributes = {_snake_name(name) for name in _last(query, "returnFaceAttributes").split(",")}
    return [_face(face, query, attributes) for face in faces]


def _face(face: Json, query: Dict[str, List[str]], attributes: Any) -> Json:
    """Return one face without the parts that the request excludes."""
    filtered = dict(face)
    has_id = _last(query, "returnFaceId", "true").lower() == "true"
    if not has_id:
        filtered.pop("face_id", None)
    elif _last(query, "returnRecognitionModel").lower() == "true":
        filtered["recognition_model"] = _last(query, "recognitionModel", _OLDEST_MODEL)
    if _last(query, "returnFaceLandmarks").lower() != "true":
        filtered.pop("face_landmarks", None)
    all_attributes = filtered.pop("face_attributes", {})
    requested_attributes = {
        name: value for name, value in all_attributes.items() if name in attributes
    }
    return (
        {**filtered, "face_attributes": requested_attributes} if requested_attributes else filtered
    )


def _last(query: Dict[str, List[str]], name: str, default: str = "") -> str:
    """Return the last value of a parameter in a query."""
    return query.get(name, [default])[-1]


def _snake_name(name: str) -> str:
    return _CAPITALS.sub(lambda match: f"_{match[1].lower()}", name.strip())
