"""What requests to Azure's Face ask, and which parts of a face they are told, as plain JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:
    from ciguard.levels.app.in_target.asking import Json

_DETECT = re.compile(r".*/face/(?P<version>v1\.\d[\w.-]*)/detect")
_FIRST = "v1.0"
"""What `azure-cognitiveservices-vision-face` speaks; `azure-ai-vision-face` speaks later ones."""
_OLDEST_MODEL = "recognition_01"
_CAPITALS = re.compile(r"(?<=[a-z0-9])([A-Z])")


def operation_of(path: str, *, is_stream: bool) -> str:
    """Return what a path asks, as the method of a client is called; empty of anything else.

    Args:
        path: of the request.
        is_stream: whether it holds the image, and does not name its place.
    """
    found = _DETECT.fullmatch(path)
    if found is None:
        return ""
    if found["version"] == _FIRST:
        return "detect_with_stream" if is_stream else "detect_with_url"
    return "detect" if is_stream else "detect_from_url"


def are_faces(path: str) -> bool:
    """Return whether an answer is a list of faces."""
    return _DETECT.fullmatch(path) is not None


def faces_asked_for(
    faces: List[Json],
    asked: Dict[str, List[str]],
) -> List[Json]:
    """Leave out of faces what a request does not ask for.

    Args:
        faces: with the names that clients have.
        asked: in the query of the request.
    """
    attributes = {_snake_name(one) for one in _last(asked, "returnFaceAttributes").split(",")}
    return [_face(one, asked, attributes) for one in faces]


def _face(face: Json, asked: Dict[str, List[str]], attributes: Any) -> Json:
    told = dict(face)
    is_known = _last(asked, "returnFaceId", "true").lower() == "true"
    if not is_known:
        told.pop("face_id", None)
    elif _last(asked, "returnRecognitionModel").lower() == "true":
        told["recognition_model"] = _last(asked, "recognitionModel", _OLDEST_MODEL)
    if _last(asked, "returnFaceLandmarks").lower() != "true":
        told.pop("face_landmarks", None)
    all_of_them = told.pop("face_attributes", {})
    kept = {name: one for name, one in all_of_them.items() if name in attributes}
    return {**told, "face_attributes": kept} if kept else told


def _last(asked: Dict[str, List[str]], name: str, otherwise: str = "") -> str:
    return asked.get(name, [otherwise])[-1]


def _snake_name(name: str) -> str:
    return _CAPITALS.sub(lambda found: f"_{found[1].lower()}", name.strip())
